"""What torch calls by itself: hooks, `apply`, `vmap`, `functional_call`, `checkpoint`, autograd."""

PROGRAMS = {
    "register_hook": """
        def double(grad):
            return grad * torch.full((3,), 2.0, AT)
        x = torch.ones(1, 3, device=device, requires_grad=True)
        x.register_hook(double)
        model(x).sum().backward()
    """,
    "register_hook with a lambda": """
        mask = torch.ones(3, AT)
        x = torch.ones(1, 3, device=device, requires_grad=True)
        x.register_hook(lambda grad: grad * mask)
        model(x).sum().backward()
    """,
    "register_forward_hook": """
        def add(module, given, output):
            return output + torch.ones(2, AT)
        model.register_forward_hook(add)
        model(torch.ones(1, 3, device=device))
    """,
    "register_forward_hook keeps": """
        kept = {}
        def keep(module, given, output):
            kept["y"] = output.detach()
        model.register_forward_hook(keep)
        model(torch.ones(1, 3, device=device))
        kept["y"] + torch.ones(1, 2, AT)
    """,
    "register_forward_pre_hook": """
        def add(module, given):
            return (given[0] + torch.ones(3, AT),)
        model.register_forward_pre_hook(add)
        model(torch.ones(1, 3, device=device))
    """,
    "register_full_backward_hook": """
        def double(module, grads_in, grads_out):
            return tuple(g if g is None else g * torch.ones(3, AT) for g in grads_in)
        model.register_full_backward_hook(double)
        x = torch.ones(1, 3, device=device, requires_grad=True)
        model(x).sum().backward()
    """,
    "a method as a hook": """
        class Watch:
            def __init__(self, net):
                self.mean = torch.zeros(2, AT)
                net.register_forward_hook(self.keep)
            def keep(self, module, given, output):
                self.mean = self.mean + output.detach().mean(0)
        Watch(model)
        model(torch.ones(1, 3, device=device))
    """,
    "Module.apply": """
        def start(layer):
            if isinstance(layer, nn.Linear):
                layer.weight.data = layer.weight.data * torch.ones(2, 3, AT)
        model.apply(start)
    """,
    "Tensor.apply by map": """
        for y in map(lambda x: x + torch.ones(3, device=device), [torch.ones(3, AT)]):
            pass
    """,
    "vmap": """
        from torch.func import vmap
        vmap(lambda x: x * 2)(torch.ones(2, 3, AT)) + torch.ones(2, 3, device=device)
    """,
    "inside vmap": """
        from torch.func import vmap
        scale = torch.ones(3, AT)
        vmap(lambda x: x * scale)(torch.ones(2, 3, device=device))
    """,
    "torch.func.grad": """
        from torch.func import grad
        target = torch.ones(3, AT)
        grad(lambda x: ((x - target) ** 2).sum())(torch.zeros(3, device=device))
    """,
    "jacrev": """
        from torch.func import jacrev
        scale = torch.ones(3, AT)
        jacrev(lambda x: x * scale)(torch.ones(3, device=device))
    """,
    "functional_call": """
        from torch.func import functional_call
        functional_call(model, dict(model.named_parameters()), (torch.ones(1, 3, AT),))
    """,
    "functional_call with other parameters": """
        from torch.func import functional_call
        weights = {"weight": torch.ones(2, 3, AT), "bias": torch.ones(2, AT)}
        functional_call(model, weights, (torch.ones(1, 3, device=device),))
    """,
    "stack_module_state": """
        from torch.func import stack_module_state
        nets = [nn.Linear(3, 2).AT for _ in range(2)]
        weights, buffers = stack_module_state(nets)
        weights["weight"] + torch.ones(2, 2, 3, device=device)
    """,
    "checkpoint": """
        from torch.utils.checkpoint import checkpoint
        checkpoint(model, torch.ones(1, 3, requires_grad=True, AT), use_reentrant=False)
    """,
    "checkpoint of a function": """
        from torch.utils.checkpoint import checkpoint
        def run(x):
            return model(x) + torch.ones(2, AT)
        checkpoint(run, torch.ones(1, 3, device=device, requires_grad=True), use_reentrant=False)
    """,
    "an autograd function": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * torch.full((3,), 2.0, AT)
            @staticmethod
            def backward(ctx, grad):
                return grad * 2
        Double.apply(torch.ones(1, 3, device=device))
    """,
    "an autograd function's backward": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                return grad * torch.full((3,), 2.0, AT)
        Double.apply(torch.ones(1, 3, device=device, requires_grad=True)).sum().backward()
    """,
    "what an autograd function saves": """
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.mask = torch.ones(3, AT)
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return grad * x * ctx.mask
        Scale.apply(torch.ones(1, 3, device=device, requires_grad=True)).sum().backward()
    """,
    "an optimizer's closure": """
        x = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.LBFGS([x], max_iter=2)
        def closure():
            optimizer.zero_grad()
            loss = ((x - torch.zeros(3, AT)) ** 2).sum()
            loss.backward()
            return loss
        optimizer.step(closure)
    """,
    "LambdaLR": """
        x = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.SGD([x], lr=0.1)
        weight = torch.ones(3, AT)
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: float((x * weight).sum()))
    """,
    "collate_fn": """
        from torch.utils.data import DataLoader
        def collate(rows):
            return torch.stack(rows)
        for x in DataLoader([torch.ones(3), torch.ones(3)], batch_size=2, collate_fn=collate):
            model(x.AT)
    """,
    "a dataset": """
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return torch.ones(3), index
        for x, n in DataLoader(Rows(), batch_size=2):
            model(x.AT)
    """,
    "a dataset of dicts": """
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, index):
                return {"x": torch.ones(3), "n": index}
        for batch in DataLoader(Rows(), batch_size=2):
            model(batch["x"].AT)
    """,
    "random_split": """
        from torch.utils.data import DataLoader, TensorDataset, random_split
        train, test = random_split(TensorDataset(torch.ones(4, 3)), [3, 1])
        for (x,) in DataLoader(train):
            model(x.AT)
    """,
    "next(iter(loader))": """
        from torch.utils.data import DataLoader, TensorDataset
        (x,) = next(iter(DataLoader(TensorDataset(torch.ones(4, 3)), batch_size=2)))
        model(x.AT)
    """,
    "jit.script": """
        @torch.jit.script
        def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y
        add(torch.ones(3, AT), torch.ones(3, device=device))
    """,
    "jit.trace": """
        traced = torch.jit.trace(model, torch.ones(1, 3, AT))
    """,
    "a traced model": """
        traced = torch.jit.trace(model, torch.ones(1, 3, device=device))
        traced(torch.ones(1, 3, AT))
    """,
    "torch.compile": """
        run = torch.compile(model, backend="eager")
        run(torch.ones(1, 3, AT))
    """,
    "a compiled function": """
        @torch.compile(backend="eager")
        def run(x):
            return model(x)
        run(torch.ones(1, 3, AT))
    """,
    "parametrize": """
        import torch.nn.utils.parametrize as parametrize
        class Scale(nn.Module):
            def forward(self, weight):
                return weight * torch.ones(2, 3, AT)
        parametrize.register_parametrization(model, "weight", Scale())
        model(torch.ones(1, 3, device=device))
    """,
    "tree_map": """
        from torch.utils._pytree import tree_map
        batch = {"x": torch.ones(1, 3)}
        batch = tree_map(lambda value: value.AT, batch)
        model(batch["x"])
    """,
    "pad_sequence": """
        from torch.nn.utils.rnn import pad_sequence
        model(pad_sequence([torch.ones(3, AT), torch.ones(3, AT)], batch_first=True))
    """,
    "a transform in a list": """
        transforms = [lambda x: x * 2, lambda x: x + torch.ones(3, AT)]
        x = torch.ones(1, 3, device=device)
        for transform in transforms:
            x = transform(x)
    """,
    "a queue between threads": """
        import queue
        import threading
        rows = queue.Queue()
        thread = threading.Thread(target=lambda: rows.put(torch.ones(1, 3, AT)))
        thread.start()
        thread.join()
        model(rows.get())
    """,
}
