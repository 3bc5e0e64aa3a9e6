"""Good rewrites, in many styles: each must be accepted.

Half of them change small programs of many kinds; the others differ from the CPU in what may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import programs as p
from bad import Files, edit


@dataclass(frozen=True)
class Good:
    """A right rewrite of `before`."""

    name: str
    before: str | Files
    after: str | Files
    options: list[str] = field(default_factory=list)


HEAD = f"import torch\nfrom torch import nn\n\n{p.RESOLVER}"
ONCE = "import torch\nfrom torch import nn\n"


def small(name: str, body: str, *moved: tuple[str, str], extra: str = "") -> Good:
    """Make a program of a few lines, and its rewrite with a resolver on top."""
    return Good(name, f"{ONCE}{extra}{body}", f"{HEAD}{extra}{edit(body, *moved)}")


def train(name: str, *edits: tuple[str, str]) -> Good:
    return Good(name, p.TRAIN, edit(p.TRAIN_MOVED, *edits))


LINEAR = """
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""
TO = ("nn.Linear(3, 1)", "nn.Linear(3, 1).to(device)")
XY = (
    "x, y = torch.randn(16, 3), torch.randn(16, 1)",
    "x, y = torch.randn(16, 3).to(device), torch.randn(16, 1).to(device)",
)
MOVED_LINEAR = f"{HEAD}{edit(LINEAR, TO, XY)}"

GOOD = [
    Good("a classifier", p.TRAIN, p.TRAIN_MOVED),
    Good("a table", p.TABLE, p.TABLE_MOVED),
    Good("a buffer", p.BUFFER, p.BUFFER_MOVED),
    Good("a thread", p.THREAD, p.THREAD_MOVED),
    Good("the end of the process", p.ATEXIT, p.ATEXIT_MOVED),
    Good("several files", p.FILES, p.FILES_MOVED),
    Good("a generator of text", p.GENERATE, p.GENERATE_MOVED),
    Good("CUDA by name", p.HARD, p.TRAIN_MOVED),
    Good("moves gathered in a helper", p.TRAIN, edit(p.TRAIN_MOVED, ("\n\nclass Net", "\n\ndef moved(*tensors):\n    return [one.to(device) for one in tensors]\n\n\nclass Net"), ("inputs.to(device), targets.to(device)", "moved(inputs, targets)"))),
    train("not blocking", ("inputs.to(device), targets.to(device)", "inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)")),
    train("pinned memory", ("shuffle=True", "shuffle=True, pin_memory=device.type == 'cuda'")),
    train("created there", ("torch.randint(0, 3, (24,))", "torch.randint(0, 3, (24,), device=device)"), ("x = torch.randn(24, 6)", "x = torch.randn(24, 6, device=device)")),
    train("moved after the optimizer was built", ("    model = Net().to(device)\n", "    model = Net()\n"), ("    criterion =", "    model.to(device)\n    criterion =")),
    train("the loss is moved, too", ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss().to(device)")),
    train("comments and blank lines", ("    model = Net()", "    # the model lives where the data goes\n\n    model = Net()")),
    train("accuracy on the host", ("(model(x).argmax(1) == y)", "(model(x).argmax(1).cpu() == y.cpu())")),
    Good("names of devices are printed", LINEAR_PRINTS := f"{MOVED_LINEAR}print('trained on', device, x.device, 'CPU' if device.type == 'cpu' else 'GPU')\n", edit(LINEAR_PRINTS, ("16, 1).to(device)", "16, 1, device=device)"))),
    Good("tensors are printed", f"{MOVED_LINEAR}print(model.weight, x[0], loss)\n", edit(f"{MOVED_LINEAR}print(model.weight, x[0], loss)\n", ("16, 1).to(device)", "16, 1, device=device)"))),
    Good("memory is printed", REPORTS := f"{MOVED_LINEAR}if torch.cuda.is_available():\n    print('memory', torch.cuda.max_memory_allocated(), torch.cuda.get_device_name())\nprint('cuda', torch.cuda.is_available(), torch.cuda.device_count())\n", edit(REPORTS, ("16, 1).to(device)", "16, 1, device=device)"))),
    Good("a table with the device", SAVES := f"{MOVED_LINEAR}import json\njson.dump({{'device': str(device), 'loss': loss.item()}}, open('run.json', 'w'))\n", edit(SAVES, ("16, 1).to(device)", "16, 1, device=device)"))),
    Good("an unseeded part that BEFORE has on the device as well", DIFFERS := f"{MOVED_LINEAR}if device.type == 'cuda':\n    print('more steps here', model(x).sum().item())\n", edit(DIFFERS, ("16, 1).to(device)", "16, 1, device=device)"))),
    small("Adam", LINEAR, TO, XY),
    small("AdamW with groups", edit(LINEAR, ("torch.optim.Adam(model.parameters(), lr=0.01)", "torch.optim.AdamW([{'params': [model.weight]}, {'params': [model.bias], 'lr': 0.1}])")), TO, XY),
    small("a schedule", edit(LINEAR, ("for step", "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)\nfor step"), ("    print", "    schedule.step()\n    print")), TO, XY),
    small("LBFGS", edit(LINEAR, ("torch.optim.Adam(model.parameters(), lr=0.01)", "torch.optim.LBFGS(model.parameters(), max_iter=3)"), ("    optimizer.zero_grad()\n    loss = nn.functional.mse_loss(model(x), y)\n    loss.backward()\n    optimizer.step()\n", "    def closure():\n        optimizer.zero_grad()\n        loss = nn.functional.mse_loss(model(x), y)\n        loss.backward()\n        return loss\n    loss = optimizer.step(closure)\n")), TO, XY),
    small("mixed precision with a scaler", edit(LINEAR, ("for step", "scaler = torch.amp.GradScaler('cuda', enabled=torch.cuda.is_available())\nfor step"), ("    loss = nn.functional.mse_loss(model(x), y)\n    loss.backward()\n    optimizer.step()\n", "    with torch.autocast('cuda', enabled=torch.cuda.is_available()):\n        loss = nn.functional.mse_loss(model(x), y)\n    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n")), TO, XY),
    small("a convolution", "torch.manual_seed(0)\nmodel = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 2))\nx = torch.randn(4, 1, 6, 6)\nloss = model(x).pow(2).mean()\nloss.backward()\nprint(loss.item(), model[0].weight.grad.norm().item())\n", ("nn.Linear(32, 2))", "nn.Linear(32, 2)).to(device)"), ("6, 6)", "6, 6).to(device)")),
    small("a recurrent network with its state", "torch.manual_seed(0)\ncell = nn.LSTM(3, 4)\nstate = torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)\nout, state = cell(torch.randn(5, 2, 3), state)\nout.sum().backward()\nprint(out.sum().item(), cell.weight_hh_l0.grad.sum().item())\n", ("nn.LSTM(3, 4)", "nn.LSTM(3, 4).to(device)"), ("torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)", "torch.zeros(1, 2, 4, device=device), torch.zeros(1, 2, 4, device=device)"), ("torch.randn(5, 2, 3)", "torch.randn(5, 2, 3).to(device)")),
    small("packed sequences", "from torch.nn.utils.rnn import pack_padded_sequence\ntorch.manual_seed(0)\ncell = nn.GRU(3, 4, batch_first=True)\nx, lengths = torch.randn(2, 5, 3), torch.tensor([5, 3])\nout, last = cell(pack_padded_sequence(x, lengths, batch_first=True))\nprint(last.sum().item())\n", ("batch_first=True)\nx", "batch_first=True).to(device)\nx"), ("torch.randn(2, 5, 3)", "torch.randn(2, 5, 3).to(device)")),
    small("attention with a mask", "torch.manual_seed(0)\nlayer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)\nlayer.eval()\nx = torch.randn(2, 4, 8)\nmask = torch.triu(torch.ones(4, 4), 1).bool()\nprint(layer(x, src_mask=mask).sum().item())\n", ("batch_first=True)", "batch_first=True).to(device)"), ("torch.randn(2, 4, 8)", "torch.randn(2, 4, 8).to(device)"), ("torch.ones(4, 4)", "torch.ones(4, 4, device=x.device)")),
    small("NumPy at the end", "import numpy\ntorch.manual_seed(0)\nmodel = nn.Linear(3, 2)\nout = model(torch.from_numpy(numpy.ones((4, 3), dtype=numpy.float32)))\nprint(out.detach().numpy().sum(), out.argmax(1).tolist())\n", ("nn.Linear(3, 2)", "nn.Linear(3, 2).to(device)"), ("dtype=numpy.float32))", "dtype=numpy.float32)).to(device)"), (".detach().numpy()", ".detach().cpu().numpy()")),
    small("an array in a file", "import numpy\ntorch.manual_seed(0)\nmodel = nn.Linear(3, 2)\nout = model(torch.randn(4, 3)).detach()\nnumpy.savez('out.npz', out=out.numpy())\nnumpy.save('first.npy', out[0].numpy())\n", ("nn.Linear(3, 2)", "nn.Linear(3, 2).to(device)"), ("torch.randn(4, 3)", "torch.randn(4, 3).to(device)"), ("out=out.numpy()", "out=out.cpu().numpy()"), ("out[0].numpy()", "out[0].cpu().numpy()")),
    small("a checkpoint and back", "torch.manual_seed(0)\nmodel = nn.Linear(3, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\nmodel(torch.ones(1, 3)).sum().backward()\noptimizer.step()\ntorch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'step': 1}, 'all.pt')\nagain = nn.Linear(3, 2)\nagain.load_state_dict(torch.load('all.pt')['model'])\nprint(again(torch.ones(1, 3)).sum().item())\n", ("model = nn.Linear(3, 2)\n", "model = nn.Linear(3, 2).to(device)\n"), ("model(torch.ones(1, 3)).sum().backward", "model(torch.ones(1, 3, device=device)).sum().backward"), ("again = nn.Linear(3, 2)", "again = nn.Linear(3, 2).to(device)"), ("torch.load('all.pt')", "torch.load('all.pt', map_location=device)"), ("again(torch.ones(1, 3))", "again(torch.ones(1, 3, device=device))")),
    small("a loader with workers", "from torch.utils.data import DataLoader, TensorDataset\ntorch.manual_seed(0)\nmodel = nn.Linear(3, 1)\nfor (x,) in DataLoader(TensorDataset(torch.randn(6, 3)), batch_size=2, shuffle=True, num_workers=1):\n    print(model(x).sum().item())\n", ("nn.Linear(3, 1)", "nn.Linear(3, 1).to(device)"), ("model(x)", "model(x.to(device))")),
    small("a custom function", "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n\n    @staticmethod\n    def backward(ctx, grad):\n        (x,) = ctx.saved_tensors\n        return grad * 2 * x * torch.ones(3)\n\n\nx = torch.arange(3.0, requires_grad=True)\nSquare.apply(x).sum().backward()\nprint(x.grad.tolist())\n", ("torch.ones(3)", "torch.ones(3, device=x.device)"), ("torch.arange(3.0, requires_grad=True)", "torch.arange(3.0, device=device, requires_grad=True)")),
    small("a list of layers", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])\n\n    def forward(self, x):\n        for layer in self.layers:\n            x = torch.relu(layer(x))\n        return x\n\n\ntorch.manual_seed(0)\nnet = Net()\nprint(net(torch.ones(1, 2)).tolist())\n", ("net = Net()", "net = Net().to(device)"), ("torch.ones(1, 2)", "torch.ones(1, 2, device=device)")),
    small("a sampler of its own", "generator = torch.Generator().manual_seed(4)\nmodel = nn.Linear(2, 2, bias=False)\nnn.init.ones_(model.weight)\nx = torch.randn(3, 2, generator=generator)\nprint(model(x).tolist())\n", ("bias=False)", "bias=False).to(device)"), ("print(model(x)", "print(model(x.to(device))")),
    small("two losses and clipping", "torch.manual_seed(0)\nmodel = nn.Linear(3, 2)\noptimizer = torch.optim.RMSprop(model.parameters())\nfor _ in range(3):\n    x = torch.randn(5, 3)\n    one, two = model(x).pow(2).mean(), model(x).abs().mean()\n    optimizer.zero_grad()\n    one.backward(retain_graph=True)\n    two.backward()\n    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n    optimizer.step()\n    print(one.item(), two.item(), norm.item())\n", ("nn.Linear(3, 2)", "nn.Linear(3, 2).to(device)"), ("torch.randn(5, 3)", "torch.randn(5, 3).to(device)")),
    small("a sum on the host", "torch.manual_seed(0)\nmodel = nn.Linear(3, 2)\ntotals = torch.zeros(2)\nfor _ in range(3):\n    totals += model(torch.randn(5, 3)).detach().sum(0)\nprint(totals.tolist())\n", ("nn.Linear(3, 2)", "nn.Linear(3, 2).to(device)"), ("torch.randn(5, 3)", "torch.randn(5, 3).to(device)"), (".sum(0)", ".sum(0).cpu()")),
    small("an end with another code", "torch.manual_seed(0)\nscore = nn.Linear(2, 1)(torch.ones(1, 2)).item()\nprint(score)\nraise SystemExit(2)\n", ("nn.Linear(2, 1)(torch.ones(1, 2))", "nn.Linear(2, 1).to(device)(torch.ones(1, 2, device=device))")),
    small("a process of its own", "import subprocess, sys\nprint((torch.ones(2, 2) @ torch.ones(2, 2)).sum().item(), flush=True)\nsubprocess.run([sys.executable, '-c', 'print(6 * 7)'], check=True)\n", ("torch.ones(2, 2) @ torch.ones(2, 2)", "torch.ones(2, 2, device=device) @ torch.ones(2, 2, device=device)")),
    small("a game of two networks", "torch.manual_seed(0)\nmaker, judge = nn.Linear(2, 3), nn.Linear(3, 1)\nmakers, judges = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())\nfor _ in range(2):\n    real, noise = torch.randn(4, 3), torch.randn(4, 2)\n    judges.zero_grad()\n    loss = judge(maker(noise).detach()).mean() - judge(real).mean()\n    loss.backward()\n    judges.step()\n    makers.zero_grad()\n    other = -judge(maker(noise)).mean()\n    other.backward()\n    makers.step()\n    print(loss.item(), other.item())\n", ("nn.Linear(2, 3), nn.Linear(3, 1)", "nn.Linear(2, 3).to(device), nn.Linear(3, 1).to(device)"), ("torch.randn(4, 3), torch.randn(4, 2)", "torch.randn(4, 3).to(device), torch.randn(4, 2).to(device)")),
]  # fmt: skip
