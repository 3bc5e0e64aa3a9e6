"""Modules, their parameters and buffers, containers, optimizers, state, defaults."""

PROGRAMS = {
    "a module": """
        net = nn.Linear(3, 2).AT
        net(torch.ones(1, 3, device=device))
    """,
    "a module moved by a statement": """
        net = nn.Linear(3, 2)
        net.to(device)  # twin
        net(torch.ones(1, 3, device=device))
    """,
    "a module moved later": """
        net = nn.Linear(3, 2)
        net.to(device)  # twin
        net(torch.ones(1, 3, device=device))
        net.to(device)  # clash
    """,
    "a module moved back": """
        net = nn.Linear(3, 2).to(device)
        net(torch.ones(1, 3, device=device))
        net.to("cpu")  # clash
        net(torch.ones(1, 3, device=device))
    """,
    "a module moved back by cpu()": """
        net = nn.Linear(3, 2).to(device)
        net.cpu()
        net.to(device)  # twin
        net(torch.ones(1, 3, device=device))
    """,
    "a module for the host, used there, then moved": """
        net = nn.Linear(3, 2)
        net(torch.ones(1, 3))
        net.to(device)
        net(torch.ones(1, 3, AT))
    """,
    "a module of modules": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
            def forward(self, x):
                return self.layer(x)
        Net().AT(torch.ones(1, 3, device=device))
    """,
    "the input of forward": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
            def forward(self, x):
                return self.layer(x)
        Net().to(device)(torch.ones(1, 3, AT))
    """,
    "a tensor as an attribute": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.scale = torch.ones(3, AT)
            def forward(self, x):
                return self.layer(x * self.scale)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a leaf as an attribute that .to does not move": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.weight = torch.ones(3, requires_grad=True, AT)
            def forward(self, x):
                return self.layer(x * self.weight)
        net = Net()
        net.to(device)
        net(torch.ones(1, 3, device=device))
    """,
    "a parameter moves along": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))
            def forward(self, x):
                return x * self.weight
        net = Net().AT
        net(torch.ones(1, 3, device=device))
    """,
    "a parameter moved is no parameter": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.weight = nn.Parameter(torch.ones(3)) * 2  # clash
                self.weight = nn.Parameter(torch.ones(3) * 2)  # twin
            def forward(self, x):
                return self.layer(x * self.weight)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a buffer moves along": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.scale = torch.ones(3)  # clash
                self.register_buffer("scale", torch.ones(3))  # twin
            def forward(self, x):
                return self.layer(x * self.scale)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a buffer set again": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.register_buffer("scale", torch.ones(3))
            def reset(self):
                self.scale = torch.zeros(3, AT)
            def forward(self, x):
                return self.layer(x * self.scale)
        net = Net().to(device)
        net.reset()
        net(torch.ones(1, 3, device=device))
    """,
    "an attribute set in another method": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
            def start(self):
                self.h = torch.zeros(1, 3, AT)
            def forward(self, x):
                return self.layer(x + self.h)
        net = Net().to(device)
        net.start()
        net(torch.ones(1, 3, device=device))
    """,
    "created in forward": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
            def forward(self, x):
                h = torch.zeros(1, 3, AT)
                return self.layer(x + h)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a layer built in forward": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)
            def forward(self, x):
                return nn.Linear(3, 2).AT(self.layer(x))
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a plain list of modules": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(3, 3)]  # clash
                self.layers = nn.ModuleList([nn.Linear(3, 3)])  # twin
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a plain dict of modules": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = {"x": nn.Linear(3, 3)}  # clash
                self.layers = nn.ModuleDict({"x": nn.Linear(3, 3)})  # twin
            def forward(self, x):
                return self.layers["x"](x)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a plain list of parameters": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = [nn.Parameter(torch.ones(3))]  # clash
                self.weights = nn.ParameterList([nn.Parameter(torch.ones(3))])  # twin
            def forward(self, x):
                return x * self.weights[0]
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "parameters made in a comprehension": """
        weights = [nn.Parameter(torch.ones(3, AT)) for _ in range(2)]
        weights[0] * torch.ones(3, device=device)
    """,
    "ModuleList by subscript": """
        layers = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2)]).AT
        layers[1](torch.ones(1, 3, device=device))
    """,
    "ModuleList set by subscript": """
        layers = nn.ModuleList([nn.Linear(3, 2)]).to(device)
        layers[0] = nn.Linear(3, 2).AT
        layers[0](torch.ones(1, 3, device=device))
    """,
    "ModuleList appended to behind the move": """
        layers = nn.ModuleList([nn.Linear(3, 3)]).to(device)
        layers.append(nn.Linear(3, 3).AT)
        x = torch.ones(1, 3, device=device)
        for layer in layers:
            x = layer(x)
    """,
    "ModuleDict by subscript": """
        layers = nn.ModuleDict({"x": nn.Linear(3, 2)}).AT
        layers["x"](torch.ones(1, 3, device=device))
    """,
    "ModuleDict set by subscript": """
        layers = nn.ModuleDict().to(device)
        layers["x"] = nn.Linear(3, 2).AT
        layers["x"](torch.ones(1, 3, device=device))
    """,
    "Sequential": """
        net = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).AT
        net(torch.ones(1, 3, device=device))
    """,
    "Sequential with a star": """
        layers = [nn.Linear(3, 3) for _ in range(2)]
        net = nn.Sequential(*layers).AT
        net(torch.ones(1, 3, device=device))
    """,
    "Sequential by subscript": """
        net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).AT
        net[1](torch.ones(1, 3, device=device))
    """,
    "Sequential of a slice": """
        net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).AT
        net[:1](torch.ones(1, 3, device=device))
    """,
    "Sequential in a loop": """
        net = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).AT
        x = torch.ones(1, 3, device=device)
        for layer in net:
            x = layer(x)
    """,
    "Sequential changed by subscript": """
        net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to(device)
        net[1] = nn.Linear(3, 2).AT
        net(torch.ones(1, 3, device=device))
    """,
    "add_module": """
        net = nn.Sequential()
        net.add_module("one", nn.Linear(3, 2))
        net.to(device)  # twin
        net(torch.ones(1, 3, device=device))
    """,
    "add_module behind the move": """
        net = nn.Sequential(nn.Linear(3, 3)).to(device)
        net.add_module("two", nn.Linear(3, 2).AT)
        net(torch.ones(1, 3, device=device))
    """,
    "add_module with a computed name": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                for i in range(2):
                    self.add_module(f"layer{i}", nn.Linear(3, 3))
            def forward(self, x):
                for i in range(2):
                    x = getattr(self, f"layer{i}")(x)
                return x
        net = Net()
        net.to(device)  # twin
        net(torch.ones(1, 3, device=device))
    """,
    "register_module": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_module("layer", nn.Linear(3, 2))
            def forward(self, x):
                return self.layer(x)
        Net().AT(torch.ones(1, 3, device=device))
    """,
    "setattr of a layer": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                for i in range(2):
                    setattr(self, f"layer{i}", nn.Linear(3, 3))
            def forward(self, x):
                return self.layer1(x)
        Net().AT(torch.ones(1, 3, device=device))
    """,
    "a layer replaced behind the move": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(3, 3)
                self.head = nn.Linear(3, 2)
            def forward(self, x):
                return self.head(self.body(x))
        net = Net().to(device)
        net.head = nn.Linear(3, 5).AT
        net(torch.ones(1, 3, device=device))
    """,
    "a module that becomes a part later": """
        class Net(nn.Module):
            def __init__(self, layer):
                super().__init__()
                self.layer = layer
            def forward(self, x):
                return self.layer(x)
        layer = nn.Linear(3, 2)
        net = Net(layer)
        net.to(device)  # twin
        layer(torch.ones(1, 3, device=device))
    """,
    "a module in a plain class": """
        class Trainer:
            def __init__(self):
                self.net = nn.Linear(3, 2).AT
            def step(self, x):
                return self.net(x)
        Trainer().step(torch.ones(1, 3, device=device))
    """,
    "a plain class with a method to": """
        class Trainer:
            def __init__(self):
                self.net = nn.Linear(3, 2)
            def to(self, where):
                self.net.to(where)
                return self
        trainer = Trainer().AT
        trainer.net(torch.ones(1, 3, device=device))
    """,
    "a module's own method to": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.scale = torch.ones(3)
            def to(self, where):
                super().to(where)
                self.scale = self.scale.to(where)  # twin
                return self
            def forward(self, x):
                return self.layer(x * self.scale)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a module's _apply": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.scale = torch.ones(3)
            def _apply(self, fn):
                super()._apply(fn)
                self.scale = fn(self.scale)  # twin
                return self
            def forward(self, x):
                return self.layer(x * self.scale)
        Net().to(device)(torch.ones(1, 3, device=device))
    """,
    "a copy of a module": """
        import copy
        net = copy.deepcopy(nn.Linear(3, 2).AT)
        net(torch.ones(1, 3, device=device))
    """,
    "a copy made before the move": """
        import copy
        net = nn.Linear(3, 2)
        net.to(device)  # twin
        other = copy.deepcopy(net)
        net.to(device)  # clash
        other(torch.ones(1, 3, device=device))
    """,
    "a model returned by a function": """
        def build():
            return nn.Linear(3, 2)
        build().AT(torch.ones(1, 3, device=device))
    """,
    "a model moved in a function": """
        def prepare(net):
            net.to(device)  # twin
            return net
        prepare(nn.Linear(3, 2))(torch.ones(1, 3, device=device))
    """,
    "models in a list": """
        nets = [nn.Linear(3, 2).AT for _ in range(2)]
        for net in nets:
            net(torch.ones(1, 3, device=device))
    """,
    "models in a dict": """
        nets = {"x": nn.Linear(3, 2).AT}
        nets["x"](torch.ones(1, 3, device=device))
    """,
    "models in a dict moved in a loop": """
        nets = {"x": nn.Linear(3, 2)}
        for net in nets.values():
            net.to(device)  # twin
            net.train()
        nets["x"](torch.ones(1, 3, device=device))
    """,
    "weights": """
        net = nn.Linear(3, 2)
        net.weight @ torch.ones(3, 1)  # twin
        net.weight @ torch.ones(3, 1, device=device)  # clash
    """,
    "weights of a model on the device": """
        model.weight @ torch.ones(3, 1, AT)
    """,
    "parameters()": """
        for p in model.parameters():
            p.data.mul_(torch.ones(p.shape, AT))
    """,
    "named_parameters()": """
        for name, p in model.named_parameters():
            p.data + torch.ones(p.shape, AT)
    """,
    "next(parameters())": """
        next(model.parameters()) + torch.ones(2, 3, AT)
    """,
    "state_dict()": """
        for name, value in model.state_dict().items():
            value + torch.ones(value.shape, AT)
    """,
    "state_dict() by a key": """
        model.state_dict()["weight"] + torch.ones(2, 3, AT)
    """,
    "state_dict() before the move": """
        net = nn.Linear(3, 2)
        state = {name: value.clone() for name, value in net.state_dict().items()}
        net.to(device)
        state["weight"].AT + net.weight
    """,
    "load_state_dict crosses": """
        net = nn.Linear(3, 2).AT
        net.load_state_dict(model.state_dict())
        net(torch.ones(1, 3, device=device))
    """,
    "p.grad": """
        model(torch.ones(1, 3, device=device)).sum().backward()
        for p in model.parameters():
            p.grad + torch.ones(p.shape, AT)
    """,
    "p.grad set": """
        for p in model.parameters():
            p.grad = torch.ones(p.shape, AT)
    """,
    "grad of a tensor": """
        x = torch.ones(1, 3, device=device, requires_grad=True)
        model(x).sum().backward()
        x.grad + torch.ones(1, 3, AT)
    """,
    "autograd.grad": """
        x = torch.ones(1, 3, device=device, requires_grad=True)
        (g,) = torch.autograd.grad(model(x).sum(), x)
        g + torch.ones(1, 3, AT)
    """,
    "backward with a gradient": """
        y = model(torch.ones(1, 3, device=device))
        y.backward(torch.ones(1, 2, AT))
    """,
    "an optimizer made before the move": """
        net = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(net.parameters())
        net.to(device)
        net(torch.ones(1, 3, AT)).sum().backward()
        optimizer.step()
    """,
    "an optimizer with state, then a move": """
        net = nn.Linear(3, 2)
        net.to(device)  # twin
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        net(next(net.parameters()).new_ones(1, 3)).sum().backward()
        optimizer.step()
        net.to(device)
        net(torch.ones(1, 3, device=device)).sum().backward()
        optimizer.step()
    """,
    "an optimizer over tensors of two places": """
        x = torch.zeros(3, requires_grad=True, AT)
        y = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.SGD([x, y], lr=0.1)
        (x * y).sum().backward()
        optimizer.step()
    """,
    "a loss with weights": """
        loss = nn.CrossEntropyLoss(weight=torch.ones(2)).AT
        target = torch.zeros(1, dtype=torch.long, device=device)
        loss(model(torch.ones(1, 3, device=device)), target)
    """,
    "a loss and its target": """
        nn.functional.mse_loss(model(torch.ones(1, 3, device=device)), torch.ones(1, 2, AT))
    """,
    "an embedding": """
        table = nn.Embedding(4, 3).to(device)
        table(torch.tensor([1, 2], AT))
    """,
    "an LSTM with a state": """
        net = nn.LSTM(3, 4).to(device)
        h, c = torch.zeros(1, 1, 4, AT), torch.zeros(1, 1, 4, AT)
        net(torch.ones(2, 1, 3, device=device), (h, c))
    """,
    "the state that an LSTM gives": """
        net = nn.LSTM(3, 4).to(device)
        y, (h, c) = net(torch.ones(2, 1, 3, device=device))
        h + torch.ones(1, 1, 4, AT)
    """,
    "packed lengths": """
        from torch.nn.utils.rnn import pack_padded_sequence
        n = torch.tensor([2, 1], device=device)
        pack_padded_sequence(torch.ones(2, 2, 3, device=device), n.HOST, batch_first=True)
    """,
    "a distribution": """
        from torch.distributions import Normal
        normal = Normal(torch.zeros(1, 3, AT), torch.ones(1, 3, AT))
        model(normal.sample())
    """,
    "a distribution as an attribute": """
        from torch.distributions import Normal
        class Policy(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)
                self.noise = Normal(torch.zeros(2, AT), torch.ones(2, AT))
            def forward(self, x):
                return self.layer(x) + self.noise.sample((1,))
        Policy().to(device)(torch.ones(1, 3, device=device))
    """,
    "log_prob": """
        from torch.distributions import Categorical
        c = Categorical(logits=model(torch.ones(1, 3, device=device)))
        c.log_prob(torch.zeros(1, AT))
    """,
    "a distribution over a model's output": """
        from torch.distributions import Normal
        mean = model(torch.ones(1, 3, device=device))
        Normal(mean, 1.0).rsample() + torch.ones(1, 2, AT)
    """,
    "set_default_device": """
        torch.set_default_device(device)  # twin
        model(torch.ones(1, 3))
    """,
    "set_default_dtype": """
        torch.set_default_dtype(torch.float32)
        model(torch.ones(1, 3, AT))
    """,
    "set_default_tensor_type with a dtype only": """
        torch.set_default_tensor_type("torch.FloatTensor")
        model(torch.ones(1, 3, AT))
    """,
    "torch.load": """
        import io
        file = io.BytesIO()
        torch.save(torch.ones(1, 3), file)
        file.seek(0)
        model(torch.load(file, map_location="cpu").AT)
    """,
    "torch.load of a dict": """
        import io
        file = io.BytesIO()
        torch.save({"x": torch.ones(1, 3)}, file)
        file.seek(0)
        state = torch.load(file, map_location="cpu")
        model(state["x"].AT)
    """,
    "to of another tensor": """
        y = torch.zeros(1, 3, AT)
        model(torch.ones(1, 3).to(y))
    """,
    "type_as": """
        y = torch.zeros(1, 3, AT)
        model(torch.ones(1, 3).type_as(y))
    """,
    "new_ones": """
        y = torch.zeros(1, 3, AT)
        model(y.new_ones(1, 3))
    """,
    "ones_like": """
        y = torch.zeros(1, 3, AT)
        model(torch.ones_like(y))
    """,
    "device of another tensor": """
        y = torch.zeros(1, 3, AT)
        model(torch.ones(1, 3, device=y.device))
    """,
    "device from the parameters": """
        def device_of(net):
            return next(net.parameters()).device
        model(torch.ones(1, 3, device=device_of(nn.Linear(1, 1).AT)))
    """,
    "a device in a dict": """
        settings = {"device": device}  # twin
        settings = {"device": "cpu"}  # clash
        model(torch.ones(1, 3, device=settings["device"]))
    """,
    "a device parameter that is left out": """
        def make(where="cpu"):
            return torch.ones(1, 3, device=where)
        model(make())  # clash
        model(make(device))  # twin
    """,
    "is_cuda": """
        x = torch.ones(1, 3, AT)
        if not x.is_cuda:
            x = x * 2
        model(x)
    """,
    "a move under a device test": """
        x = torch.ones(1, 3)
        if torch.cuda.is_available():
            x = x.to(device)  # twin
            x = x * 2
        model(x)
    """,
    "dropped move": """
        x = torch.ones(1, 3)
        x.to(device)  # clash
        x = x.to(device)  # twin
        model(x)
    """,
    "autocast": """
        with torch.autocast(device.type, enabled=False):
            model(torch.ones(1, 3, AT))
    """,
    "DataParallel": """
        net = nn.DataParallel(nn.Linear(3, 2).to(device))
        net.module(torch.ones(1, 3, AT))
    """,
    "weight_norm": """
        net = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).AT
        net(torch.ones(1, 3, device=device))
    """,
    "clip_grad_norm_": """
        model(torch.ones(1, 3, device=device)).sum().backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        norm + torch.ones(3, AT)
    """,
    "parameters_to_vector": """
        from torch.nn.utils import parameters_to_vector
        parameters_to_vector(model.parameters()) + torch.ones(8, AT)
    """,
    "a copy into a slice crosses": """
        x = torch.zeros(1, 3, AT)
        x[0] = torch.ones(3, device=device)
        model(x)
    """,
    "copy_ crosses": """
        x = torch.zeros(1, 3, AT)
        x.copy_(torch.ones(1, 3, device=device))
        model(x)
    """,
    "a scalar of the host may mix": """
        scale = torch.tensor(2.0)  # twin
        scale = torch.tensor([2.0])  # clash
        model(torch.ones(1, 3, device=device)) * scale
    """,
}
