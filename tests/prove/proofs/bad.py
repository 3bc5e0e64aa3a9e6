"""Deliberately bad rewrites: each must be refused, and for its own reason.

The reason is the row of the table that is not passed, and words of what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import programs as p

Files = dict[str, str]
CUDA = 'if device.type == "cuda":'


@dataclass(frozen=True)
class Bad:
    """A rewrite of `before`; `row` is refused and says `words`."""

    name: str
    before: str | Files
    after: str | Files
    row: str
    words: str = ""
    verdict: str = "not proved"
    options: list[str] = field(default_factory=list)


def edit(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    return text


def train(name: str, row: str, words: str, *edits: tuple[str, str]) -> Bad:
    return Bad(name, p.TRAIN, edit(p.TRAIN_MOVED, *edits), row, words)


RANDOM = "same random numbers on cpu"
OUTPUT, LOSSES, PARAMETERS = "same output on cpu", "same losses on cpu", "same parameters on cpu"
SAYS, LEARNS, WRITES = (
    "cuda says what cpu says",
    "cuda learns what cpu learns",
    "cuda writes what cpu writes",
)
RUNS, WORKS = "after runs on virtual cuda", "operations on cuda"
REACHED = "changed code ran"

STEP = "            optimizer.step()\n"
BACKWARD = "            loss.backward()\n"
SGD = "torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)"
COMPUTED = "criterion(model(inputs), targets)"

BAD = [
    # What the CPU tells already
    train("other random order", OUTPUT, "line 1", ("x = torch.randn(24, 6)\n    y = torch.randint(0, 3, (24,))", "y = torch.randint(0, 3, (24,))\n    x = torch.randn(24, 6)")),
    train("a changed seed", OUTPUT, "line 1", ("def main():\n", "def main():\n    torch.manual_seed(1)\n")),
    train("a removed step", LOSSES, "loss 2", (STEP, "            pass\n")),
    train("a changed learning rate", LOSSES, "loss 2", ("lr=0.1", "lr=0.01")),
    train("a changed momentum", LOSSES, "loss 3", ("momentum=0.9", "momentum=0.8")),
    train("another optimizer", LOSSES, "loss 2", (SGD, "torch.optim.Adam(model.parameters(), lr=0.1)")),
    train("zero_grad lost", LOSSES, "loss 3", ("            optimizer.zero_grad()\n", "")),
    train("batches in another order", LOSSES, "loss 1", ("shuffle=True", "shuffle=False")),
    train("the last batch dropped", LOSSES, "loss 4", ("shuffle=True", "shuffle=True, drop_last=True")),
    train("another batch size", LOSSES, "loss 1", ("batch_size=7", "batch_size=8")),
    train("evaluated where it trained", LOSSES, "loss 1", ("model.train()", "model.eval()")),
    train("never evaluated", RANDOM, "another state", ("    model.eval()\n    with", "    with")),
    train("no gradients where it trained", "after runs on cpu", "does not require grad", (f"loss = {COMPUTED}", f"with torch.no_grad():\n                loss = {COMPUTED}")),
    train("gradients detached", PARAMETERS, "after step 1", (COMPUTED, "criterion(model.out(model.drop(torch.relu(model.hidden(inputs))).detach()), targets)")),
    train("parameters frozen", PARAMETERS, "after step 1", ("Net().to(device)", "Net().to(device)\n    model.hidden.requires_grad_(False)")),
    train("another width", OUTPUT, "line 1", ("self.hidden = nn.Linear(6, 8)", "self.hidden = nn.Linear(6, 9)"), ("nn.Linear(8, 3)", "nn.Linear(9, 3)")),
    train("another loss", LOSSES, "loss 1", ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.1)")),
    train("one epoch less", OUTPUT, "line 2", ("range(2)", "range(1)")),
    train("printed digits changed", OUTPUT, "line 1", (":.5f", ":.4f")),
    train("a line more", OUTPUT, "Using device", ("model = Net()", 'print("Using device", device)\n    model = Net()')),
    train("the dtype changed", LOSSES, "loss 1", ("Net().to(device)", "Net().to(device, torch.float64)"), ("inputs.to(device),", "inputs.to(device, torch.float64),"), ("x.to(device),", "x.to(device, torch.float64),")),
    train("the checkpoint is another", "same files on cpu", "net.pt", ("model.state_dict()", "model.hidden.state_dict()")),
    train("the checkpoint is not written", "same files on cpu", "written before only", ('    torch.save(model.state_dict(), "net.pt")\n', "")),
    train("the exit code changed", OUTPUT, "exit code 0 before, 3 after", ("\n\nmain()\n", "\n\nmain()\nraise SystemExit(3)\n")),
    train("sys.exit in the middle", OUTPUT, "line 3", ("    evaluate(model, x.", "    raise SystemExit(0)\n    evaluate(model, x.")),
    Bad("a changed default", p.GENERATE, edit(p.GENERATE_MOVED, ("default=0.8", "default=0.7")), OUTPUT, "line"),
    Bad("a changed value in a table", p.TABLE, edit(p.TABLE_MOVED, ("values.max()", "values.min()")), "same files on cpu", "table.csv: line 2"),
    Bad("aliasing lost", p.BUFFER, edit(p.BUFFER_MOVED, ("self.mean.mul_(0.5).add_(x.mean(0), alpha=0.5)", "self.mean = self.mean * 0.5 + x.mean(0) * 0.5")), OUTPUT, "line 1"),
    Bad("an infinite value hidden", p.TABLE.replace("torch.tanh(x @ weights)", "torch.log(x @ weights)"), p.TABLE_MOVED.replace("torch.tanh(x @ weights)", "torch.nan_to_num(torch.log(x @ weights))"), "same files on cpu", "nan"),
    # What only the accelerator tells: the data or the model stays, or the clash is hidden
    train("data moved, the model not", RUNS, "same device", ("Net().to(device)", "Net()")),
    train("the model moved, data not", RUNS, "same device", ("            inputs, targets = inputs.to(device), targets.to(device)\n", "")),
    train("a model that never moves", WORKS, "0 of", ("Net().to(device)", "Net()"), ("            inputs, targets = inputs.to(device), targets.to(device)\n", ""), ("x.to(device), y.to(device)", "x, y")),
    train("the model moved back", "parameters of SGD on cuda", "on cpu", ("Net().to(device)", "Net().to(device)\n    model.cpu()"), ("inputs, targets = inputs.to(device), targets.to(device)", "inputs, targets = inputs.to(device).cpu(), targets"), ("x.to(device), y.to(device)", "x, y")),
    train("a wrong index", RUNS, "ordinal", ('"cuda" if', '"cuda:1" if')),
    train("an optimizer on copies", LEARNS, "", (SGD, "torch.optim.SGD([p.detach().to(device, copy=device.type != 'cpu').requires_grad_() if device.type != 'cpu' else p for p in model.parameters()], lr=0.1, momentum=0.9)")),
    train("an optimizer built before the move, on what is left behind", LEARNS, "", ("    model = Net().to(device)\n", "    model = Net()\n"), (f"optimizer = {SGD}\n", f"optimizer = {SGD}\n    if device.type != 'cpu':\n        import copy\n        model = copy.deepcopy(model).to(device)\n")),
    train("the clash is swallowed", SAYS, "loss", ("            inputs, targets = inputs.to(device), targets.to(device)\n", ""), (f"            loss = {COMPUTED}\n", f"            try:\n                loss = {COMPUTED}\n            except RuntimeError:\n                continue\n")),
    train("a clash is swallowed where nothing shows it", "clashes that the program caught", "the first at main.py:", ("    evaluate(model, x.", "    try:\n        criterion(model(x), y)\n    except RuntimeError:\n        pass\n    evaluate(model, x.")),
    train("computed on the CPU, the parameters on the device", WORKS, "products and convolutions", (COMPUTED, "criterion(nn.functional.linear(model.drop(torch.relu(nn.functional.linear(inputs.cpu(), model.hidden.weight.cpu(), model.hidden.bias.cpu()))), model.out.weight.cpu(), model.out.bias.cpu()), targets.cpu()).to(device)")),
    # It computes something else there
    train("another scale on the device", LEARNS, "loss 1", (COMPUTED, f'{COMPUTED} * (3.0 if device.type == "cuda" else 1.0)')),
    train("another learning rate on the device", LEARNS, "loss 2", ("lr=0.1", 'lr=0.2 if device.type == "cuda" else 0.1')),
    train("fewer epochs on the device", SAYS, "epoch 1 loss", ("range(2)", 'range(1 if device.type == "cuda" else 2)')),
    train("gradients detached on the device", LEARNS, "loss 2", (COMPUTED, "criterion(model.out(model.drop(torch.relu(model.hidden(inputs))).detach()) if device.type == 'cuda' else model(inputs), targets)")),
    train("half precision on the device", LEARNS, "loss 1", ("Net().to(device)", 'Net().to(device)\n    if device.type == "cuda":\n        model.bfloat16()'), ("inputs.to(device),", "inputs.to(device, next(model.parameters()).dtype),"), ("x.to(device),", "x.to(device, next(model.parameters()).dtype),")),
    train("double precision on the device", "same floating types", "float64 on cuda only", ("Net().to(device)", 'Net().to(device)\n    if device.type == "cuda":\n        model.double()'), ("inputs.to(device),", "inputs.to(device, next(model.parameters()).dtype),"), ("x.to(device),", "x.to(device, next(model.parameters()).dtype),")),
    train("not evaluated on the device", SAYS, "accuracy", ("    evaluate(model, x.", '    if device.type == "cpu":\n        evaluate(model, x.')),
    train("digits changed on the device", SAYS, "epoch 0", ('print(f"epoch {epoch} loss {total:.5f}")', 'print(f"epoch {epoch} loss {total:.2f}" if device.type == "cuda" else f"epoch {epoch} loss {total:.5f}")')),
    train("another exit on the device", RUNS, "exit code 4", ("\n\nmain()\n", f"\n\nmain()\n{CUDA}\n    raise SystemExit(4)\n")),
    train("an early end on the device", SAYS, "nothing on cuda", ("    evaluate(model, x.", f"    {CUDA}\n        raise SystemExit(0)\n    evaluate(model, x.")),
    train("another checkpoint on the device", WRITES, "net.pt", ("    torch.save", f"    {CUDA}\n        model.hidden.weight.data.zero_()\n    torch.save")),
    train("no checkpoint on the device", WRITES, "written on cpu only", ('    torch.save(model', '    if device.type == "cpu":\n        torch.save(model')),
    train("not finite on the device", LEARNS, "loss 1", (COMPUTED, f'{COMPUTED} / (0.0 if device.type == "cuda" else 1.0)')),
    Bad("other values in a table on the device", p.TABLE, edit(p.TABLE_MOVED, ("torch.tanh(x @ weights)", 'torch.tanh(x @ weights) * (1.5 if x.is_cuda else 1.0)')), WRITES, "table.csv"),
    Bad("other random numbers on the device", p.GENERATE, edit(p.GENERATE_MOVED, ("model = Writer()", 'if device.type == "cuda":\n    torch.manual_seed(6)\nmodel = Writer()')), SAYS, "text"),
    Bad("aliasing lost on the device", p.BUFFER, edit(p.BUFFER_MOVED, ("model = Average().to(device)\nseen = model.mean", "model = Average()\nseen = model.mean\nmodel = model.to(device)")), SAYS, ""),
    Bad("a thread that a clash ends", p.THREAD, edit(p.THREAD_MOVED, ("device=x.device", 'device="cpu"')), RUNS, "an exception ended a thread"),
    Bad("a clash at the end of the process", p.ATEXIT, edit(p.ATEXIT_MOVED, ("result @ weights)", "result @ weights.cpu())")), RUNS, "a thread or a callback"),
    # The change is not among what ran
    Bad("only a file that is not imported", p.FILES, {**p.FILES, "other.py": edit(p.FILES["other.py"], ("zeros(3)", "ones(3)"))}, WORKS, "0 of"),
    Bad("a file that is not imported, of a program that is right", p.FILES_MOVED, {**p.FILES_MOVED, "other.py": edit(p.FILES["other.py"], ("zeros(3)", "ones(3)"))}, REACHED, "other.py did not run", "inconclusive"),
    Bad("a function that is not called", p.FILES_MOVED, {**p.FILES_MOVED, "shapes/noise.py": edit(p.FILES["shapes/noise.py"], ("* 2", "* 3"))}, REACHED, "shapes/noise.py:10 did not run", "inconclusive"),
    Bad("nothing at all", p.TRAIN_MOVED, p.TRAIN_MOVED, REACHED, "no file differs", "inconclusive"),
    Bad("nothing to compare", "import torch\n\nx = torch.ones(3)\ny = x + 1\n", f"import torch\n\n{p.RESOLVER}x = torch.ones(3, device=device)\ny = x + 1\n", "something to compare", "let it print", "inconclusive"),
]  # fmt: skip
