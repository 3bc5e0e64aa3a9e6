"""The part of the family that is about names of a device: what may stand where CUDA was meant.

Each program has something in reach that is called like a device and is none at times: None for who
leaves it out, a number, the CPU of one object, a name that is bound later. It says where its
tensors are, so that they have to be there after `fix` as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.evidence.family import HEAD, Program, filled

#: What is in reach; `USE` makes or moves something to CUDA.
WAYS = {
    "a parameter that is left out": """
        def run(device=None):
            USE
        run()
    """,
    "a parameter that some leave out": """
        def run(device=None):
            USE
        run()
        run(torch.device("cuda"))
    """,
    "a parameter that is tested": """
        def run(device=None):
            if device is None:
                device = torch.device("cuda")
            USE
        run()
    """,
    "the CPU for some": """
        def run(device):
            z = torch.ones(1, device=device)
            USE
            print(z.device.type)
        run("cpu")
        run("cuda")
    """,
    "the CPU": """
        device = torch.device("cpu")
        def run():
            z = torch.ones(1, device=device)
            USE
            print(z.device.type)
        run()
    """,
    "a number": """
        def run(device):
            USE
        run(0)
    """,
    "a number for some": """
        def run(device):
            USE
        run(0)
        run("cuda")
    """,
    "a flag": """
        def run(device):
            USE
            print(device)
        run(True)
    """,
    "a list": """
        def run(device):
            USE
            print(len(device))
        run(["cuda"])
    """,
    "an option": """
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default=None)
        args = parser.parse_args([])
        def run(args):
            USE
        run(args)
    """,
    "an option of another parser": """
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cuda")
        other = argparse.ArgumentParser()
        other.add_argument("--n", default=3)
        def run(args):
            USE
        run(parser.parse_args([]))
        run(other.parse_args([]))
    """,
    "an option for the number": """
        parser = argparse.ArgumentParser()
        parser.add_argument("--gpu", type=int, default=0)
        args = parser.parse_args([])
        def run(args):
            USE
        run(args)
    """,
    "a flag that is set later": """
        USE_CUDA = False
        def run():
            if USE_CUDA:
                USE
        def main():
            global USE_CUDA
            USE_CUDA = True
            run()
        main()
    """,
    "a flag of an object, set later": """
        class Runner:
            def __init__(self):
                self.cuda = False
            def run(self):
                if self.cuda:
                    USE
        runner = Runner()
        runner.run()
        runner.cuda = True
        runner.run()
    """,
    "a global that is set later": """
        device = None
        def run():
            USE
        def main():
            global device
            device = torch.device("cuda")
            run()
        run()
        main()
    """,
    "a global below": """
        def run():
            USE
        run()
        device = torch.device("cuda")
        print(device)
    """,
    "bound in one arm": """
        def run(flag):
            if flag:
                device = torch.device("cuda")
                print(device)
            USE
        for flag in random.sample([True, False], 2):
            run(flag)
    """,
    "bound in a loop": """
        def run(names):
            for device in names:
                print(device)
            USE
        run([])
        run(["cpu"])
    """,
    "an attribute that is None": """
        class Runner:
            def __init__(self, device=None):
                self.device = device
            def run(self):
                USE
        Runner().run()
    """,
    "an attribute that is set later": """
        class Runner:
            def run(self):
                USE
            def set(self):
                self.device = torch.device("cuda")
        runner = Runner()
        runner.run()
        runner.set()
        runner.run()
    """,
    "an attribute of a module, set later": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
            def prepare(self):
                USE
            def set(self, device):
                self.device = device
        layer = Layer()
        layer.prepare()
        layer.set(torch.device("cuda"))
        layer.prepare()
    """,
    "an attribute of a subclass": """
        class Runner:
            def run(self):
                USE
        class Other(Runner):
            device = torch.device("cuda")
        Runner().run()
        Other().run()
    """,
    "an attribute that is the CPU for some": """
        class Runner:
            def __init__(self, device):
                self.device = device
                self.z = torch.ones(1, device=device)
            def run(self):
                USE
                print(self.z.device.type)
        Runner("cpu").run()
        Runner("cuda").run()
    """,
    "a module without parameters": """
        class Layer(nn.Module):
            def forward(self):
                USE
        Layer()()
        Layer().cuda()()
    """,
    "a module on the CPU": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
            def forward(self, x):
                USE
                return self.linear(x)
        Layer()(torch.ones(1, 3))
    """,
    "a module that is moved later": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
            def prepare(self):
                USE
        layer = Layer()
        layer.prepare()
        layer.cuda()
        layer.prepare()
    """,
    "while a module is built": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(3, 3)
                USE
        layer = Layer()
        layer.cuda()
        print(layer.linear.weight.device.type)
    """,
    "a tensor of the CPU": """
        def run(x):
            USE
            print(x.device.type)
        run(torch.ones(3))
    """,
    "a tensor of the CPU for some": """
        def run(x):
            USE
            print(x.device.type)
        run(torch.ones(3))
        run(torch.ones(3).cuda())
    """,
    "tensors of the CPU": """
        def run(x, labels):
            for row, label in zip(x, labels):
                z = row.cuda() * label.cuda()
                print(z.device.type)
            USE
        run(torch.ones(2, 3), torch.ones(2))
    """,
    "a batch": """
        def run(batch):
            x, n = batch
            USE
            print(x.shape, n)
        run((torch.ones(3), 3))
    """,
    "what a generator draws": """
        generator = torch.Generator()
        generator.manual_seed(0)
        def run():
            z = torch.randn(3, generator=generator)
            USE
            print(z.shape)
        run()
    """,
    "a test that asks": """
        def run(use_gpu):
            if use_gpu and torch.cuda.is_available():
                USE
        run(True)
        run(False)
    """,
    "a test before the environment": """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        def run():
            USE
        run()
    """,
    "a function that says it": """
        def where():
            return None
        def run():
            device = where()
            USE
            print(device)
        run()
    """,
    "settings": """
        class Settings:
            device = None
            size = 3
        def run(settings):
            USE
        run(Settings())
    """,
    "a table": """
        settings = {"device": None, "size": 3}
        def run(settings):
            USE
        run(settings)
    """,
    "a name in a comprehension": """
        def run():
            names = [device for device in ("a", "b")]
            USE
            print(names)
        run()
    """,
}

#: Where some are on the CPU, what a function makes for them may follow them there.
SAID = frozenset(
    ("a tensor of the CPU for some", "an attribute that is the CPU for some", "the CPU for some")
)
_WHERE = "print(y.device.type, y.device.index or 0)"
USES = {
    "made and moved": f"y = torch.ones(3).cuda()\n{_WHERE}",
    "made there": f'y = torch.zeros(3, device="cuda")\n{_WHERE}',
    "made by its type": f"y = torch.cuda.FloatTensor(3).fill_(1)\n{_WHERE}",
    "moved": f"y = torch.ones(3)\ny = y.cuda()\n{_WHERE}",
    "moved by its name": f'y = torch.ones(3)\ny = y.to("cuda")\n{_WHERE}',
    "changed in type": f"y = torch.ones(3)\ny = y.type(torch.cuda.FloatTensor)\n{_WHERE}",
    "a module": f"net = nn.Linear(3, 3)\nnet.cuda()\ny = net(torch.ones(1, 3).cuda())\n{_WHERE}",
    "a loss": "loss = nn.MSELoss().cuda()\n"
    f"y = loss(torch.ones(3).cuda(), torch.zeros(3).cuda())\n{_WHERE}",
    "weights": "net = nn.Linear(3, 3).cuda()\nnet.load_state_dict(net.state_dict())\n"
    f"y = torch.nn.functional.relu(net.weight)\n{_WHERE}",
    "autocast": "net = nn.Linear(3, 3).cuda()\n"
    'with torch.autocast("cuda", enabled=False):\n    y = net(torch.ones(1, 3).cuda())\n'
    f"{_WHERE}",
}


def programs() -> Iterator[Program]:
    """Yield every program: each way, with each use."""
    for way, text in WAYS.items():
        for name, use in USES.items():
            said = use.replace(_WHERE, "print(y.shape)") if way in SAID else use
            yield Program(f"{way}, {name}", HEAD + filled(text, said))
