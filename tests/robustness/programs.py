"""A hypothesis strategy for small PyTorch programs of the kinds that people write.

Each program is right on a CPU, prints numbers, and wants the accelerator for its model; what else
it moves there, and how it spells that, is drawn. So on an accelerator most of them clash.
"""

from __future__ import annotations

from textwrap import indent

from hypothesis import strategies as st

WIDTH = 8

IMPORTS = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
"""

RESOLVERS = (
    'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
    'device = "cuda" if torch.cuda.is_available() else "cpu"',
    'device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")',
    'if torch.cuda.is_available():\n    device = torch.device("cuda")\n'
    'else:\n    device = torch.device("cpu")',
    "def get_device():\n"
    '    return torch.device("cuda" if torch.cuda.is_available() else "cpu")\n\n\n'
    "device = get_device()",
)

# What may happen to `x`, a float tensor of (rows, WIDTH), anywhere.
STEPS = (
    "x = torch.tanh(x)",
    "x = x + torch.zeros(x.size(0), 8)",
    "x = x * torch.ones_like(x)",
    "x = x.masked_fill(torch.arange(8) > 5, 0.0)",
    "mask = torch.rand(x.shape) > 0.5\nx = x * mask.float()",
    "position = torch.arange(x.size(1)).float()\nx = x + position / 8",
    "x = torch.cat([x, torch.zeros(x.size(0), 1)], dim=1)[:, :8]",
    "h = torch.zeros(x.size(0), 8)\nfor i in range(2):\n    h = torch.tanh(x + h)\nx = h",
    "parts = []\nfor i in range(2):\n    parts.append(x + torch.full((8,), 0.5))\n"
    "x = torch.stack(parts).mean(0)",
    "index = torch.tensor([i for i in range(8)])\nx = x[:, index]",
    "x = torch.where(x > 0, x, torch.tensor(0.1))",
    "x = x @ torch.eye(8)",
    "x = x + torch.from_numpy(np.ones(8, dtype=np.float32))",
    "table = {'low': torch.zeros(8), 'high': torch.ones(8)}\n"
    "x = torch.max(torch.min(x, table['high']), table['low'])",
    "out = torch.empty(x.size(0), 8)\nout[:] = x\nx = out",
    "x = x + sum([torch.linspace(0, 1, 8) for _ in range(2)])",
    "rows, columns = x.shape\nx = x + torch.randn((rows, columns)) * 0.1",
    "if x.size(0) > 2:\n    x = x + torch.ones(8)\nelse:\n    x = x - torch.ones(8)",
)

# What a module adds: lines of `__init__`, and lines of `forward`.
PARTS = (
    ("self.fc = nn.Linear(8, 8)", "x = self.fc(x)"),
    ("self.norm = nn.LayerNorm(8)", "x = self.norm(x)"),
    ("self.drop = nn.Dropout(0.1)", "x = self.drop(x)"),
    ("self.scale = nn.Parameter(torch.ones(8))", "x = x * self.scale"),
    ("self.offset = torch.zeros(8)", "x = x + self.offset"),
    ('self.register_buffer("shift", torch.ones(8))', "x = x + self.shift"),
    ("self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])",
     "for layer in self.layers:\n    x = F.relu(layer(x))"),
    ("self.cell = nn.GRUCell(8, 8)", "state = torch.zeros(x.size(0), 8)\nx = self.cell(x, state)"),
    ("self.lstm = nn.LSTM(8, 8, batch_first=True)",
     "h0 = torch.zeros(1, x.size(0), 8)\nc0 = torch.zeros(1, x.size(0), 8)\n"
     "x, _ = self.lstm(x.unsqueeze(1), (h0, c0))\nx = x.squeeze(1)"),
    ("self.embed = nn.Embedding(4, 8)",
     "places = torch.arange(x.size(0))\nx = x + self.embed(places)"),
    ("self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())", "x = self.net(x)"),
)  # fmt: skip

DATASET = """\
class Pairs(Dataset):
    def __init__(self):
        self.x = torch.randn(8, 8)
        self.y = torch.randn(8, 8)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]
"""

GENERATOR = """\
def batches():
    for _ in range(2):
        x = torch.randn(4, 8)
        yield x, torch.tanh(x)
"""

# Definitions, and the expression that is iterated for pairs.
DATA = (
    ("", "DataLoader(TensorDataset(torch.randn(8, 8), torch.randn(8, 8)), batch_size=4)"),
    (DATASET, "DataLoader(Pairs(), batch_size=4)"),
    (GENERATOR, "list(batches())"),
    ("", "[(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(2)]"),
)

LOSSES = (
    ("nn.MSELoss()", "criterion(output, y)"),
    ("nn.MSELoss()", "F.mse_loss(output, y)"),
    ("nn.CrossEntropyLoss(weight=torch.ones(8))", "criterion(output, y.argmax(1))"),
    ("nn.BCEWithLogitsLoss()", "criterion(output, torch.ones(x.size(0), 8))"),
    (
        "nn.L1Loss()",
        "criterion(output, y) + 0.01 * sum(p.pow(2).sum() for p in model.parameters())",
    ),
)

RECORDS = (
    "total += loss.item()",
    "total += float(loss)",
    "total += loss.detach().numpy()",
    "seen += output.detach().mean(0)\ntotal += seen.sum().item()",
    "total += np.mean(output.detach().numpy())",
    "history.append(output.detach().numpy().sum())\ntotal = float(np.sum(history))",
    "if loss.item() < worst:\n    worst = loss.item()\ntotal += worst",
)


def _block(lines: list[str], depth: int = 1) -> str:
    return indent("\n".join(lines), "    " * depth)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw the text of a program."""
    steps = st.lists(st.sampled_from(STEPS), max_size=3)
    parts = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4, unique=True))
    if not any("nn.Linear" in made for made, _ in parts):
        parts.insert(0, PARTS[0])  # something to learn
    forward = [used for _, used in parts] + draw(steps)
    helper = draw(st.none() | steps.filter(bool))
    if helper:
        forward.insert(draw(st.integers(0, len(forward))), "x = helper(x)")
    definitions, pairs = draw(st.sampled_from(DATA))
    criterion, loss = draw(st.sampled_from(LOSSES))

    texts = [IMPORTS, draw(st.sampled_from(RESOLVERS)) + "\n"]
    if helper:
        texts.append(f"def helper(x):\n{_block([*helper, 'return x'])}\n")
    made = ["super().__init__()", *(made for made, _ in parts)]
    texts.append(
        f"class Net(nn.Module):\n    def __init__(self):\n{_block(made, 2)}\n\n"
        f"    def forward(self, x):\n{_block([*forward, 'return x'], 2)}\n"
    )
    if definitions:
        texts.append(definitions)

    moved = draw(st.sampled_from(("model = Net().to(device)", "model = Net()\nmodel.to(device)",
                                  "model = Net()\nmodel = model.to(device)")))  # fmt: skip
    heads = draw(st.lists(st.sampled_from(("x = x.to(device)", "y = y.to(device)")), unique=True))
    loop = [
        *heads,
        *draw(steps),
        "optimizer.zero_grad()",
        "output = model(x)",
        f"loss = {loss}",
        "loss.backward()",
        "optimizer.step()",
        draw(st.sampled_from(RECORDS)),
    ]
    epoch = [
        "total, worst, history = 0.0, 1e9, []",
        "seen = torch.zeros(8)",
        f"for x, y in loader:\n{_block(loop)}",
    ]
    optimizer = draw(
        st.sampled_from(("SGD(model.parameters(), lr=0.1)", "Adam(model.parameters())"))
    )
    setup = [moved, f"criterion = {criterion}", f"optimizer = torch.optim.{optimizer}",
             f"loader = {pairs}"]  # fmt: skip
    show = 'print("%.6f" % total)'
    shape = draw(st.sampled_from(("script", "main", "train", "trainer")))
    if shape == "script":
        texts.append("\n".join([*setup, *epoch, show]) + "\n")
    elif shape == "main":
        body = _block([*setup, *epoch, show])
        texts.append(f'def main():\n{body}\n\n\nif __name__ == "__main__":\n    main()\n')
    elif shape == "train":
        names = "model, loader, criterion, optimizer"
        texts.append(f"def train({names}):\n{_block([*epoch, 'return total'])}\n")
        texts.append("\n".join([*setup, f"total = train({names})", show]) + "\n")
    else:
        body = "\n".join([*epoch, "return total"])
        for name in ("model", "criterion", "optimizer", "loader"):
            body = body.replace(f"{name}.", f"self.{name}.").replace(f"{name}(", f"self.{name}(")
            body = body.replace(f"in {name}:", f"in self.{name}:")
        texts.append(
            "class Trainer:\n    def __init__(self, model, criterion, optimizer, loader):\n"
            "        self.model = model\n        self.criterion = criterion\n"
            "        self.optimizer = optimizer\n        self.loader = loader\n\n"
            f"    def epoch(self):\n{indent(body, '        ')}\n"
        )
        texts.append("\n".join([*setup, "trainer = Trainer(model, criterion, optimizer, loader)",
                                "total = trainer.epoch()", show]) + "\n")  # fmt: skip
    return "\n\n".join(texts)
