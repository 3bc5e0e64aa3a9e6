"""Small programs and their right rewrites, from which the bad ones are made.

Each is what a user could have written. The names say what is in them.
"""

RESOLVER = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'

# A classifier with dropout, momentum, a loader with a short last batch, and a checkpoint.
TRAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 8)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.hidden(x))))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == y).sum().item()
    print(f"accuracy {right / len(y):.3f}")


def main():
    x = torch.randn(24, 6)
    y = torch.randint(0, 3, (24,))
    loader = DataLoader(TensorDataset(x, y), batch_size=7, shuffle=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        total = 0.0
        model.train()
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.5f}")
    evaluate(model, x, y)
    torch.save(model.state_dict(), "net.pt")


main()
"""
TRAIN_MOVED = (
    TRAIN.replace("\n\nclass Net", f"\n{RESOLVER}\n\nclass Net")
    .replace("model = Net()", "model = Net().to(device)")
    .replace(
        "            optimizer.zero_grad()\n",
        "            inputs, targets = inputs.to(device), targets.to(device)\n"
        "            optimizer.zero_grad()\n",
    )
    .replace(
        "evaluate(model, x, y)\n    torch", "evaluate(model, x.to(device), y.to(device))\n    torch"
    )
)

# No training: statistics of a fixed projection, written to a table.
TABLE = """
import csv
import torch


def project(x, weights):
    return torch.tanh(x @ weights)


torch.manual_seed(3)
weights = torch.randn(5, 2)
with open("table.csv", "w", newline="") as stream:
    writer = csv.writer(stream)
    writer.writerow(["row", "mean", "largest"])
    for row in range(4):
        values = project(torch.randn(6, 5), weights)
        writer.writerow([row, f"{values.mean().item():.6f}", f"{values.max().item():.6f}"])
print("wrote table.csv")
"""
TABLE_MOVED = (
    TABLE.replace("import torch\n", f"import torch\n\n{RESOLVER}", 1)
    .replace("weights = torch.randn(5, 2)", "weights = torch.randn(5, 2).to(device)")
    .replace("torch.randn(6, 5), weights", "torch.randn(6, 5).to(device), weights")
)

# A running mean that a view of a buffer is updated through.
BUFFER = """
import torch
from torch import nn


class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(3)

    def forward(self, x):
        self.mean.mul_(0.5).add_(x.mean(0), alpha=0.5)
        return x - self.mean


torch.manual_seed(0)
model = Average()
seen = model.mean
for step in range(3):
    out = model(torch.randn(4, 3))
    print(step, out.pow(2).sum().item(), seen.sum().item())
"""
BUFFER_MOVED = (
    BUFFER.replace("from torch import nn\n", f"from torch import nn\n\n{RESOLVER}")
    .replace(
        "self.mean = torch.zeros(3)",
        'self.register_buffer("mean", torch.zeros(3), persistent=False)',
    )
    .replace("model = Average()", "model = Average().to(device)")
    .replace("torch.randn(4, 3)", "torch.randn(4, 3).to(device)")
)

# Work in a thread, work at the end of the process, work in a process of its own.
THREAD = """
import threading
import torch


def work(x):
    y = x @ torch.ones(3, 2)
    with open("sum.txt", "w") as stream:
        stream.write(str(y.sum().item()))


torch.manual_seed(0)
thread = threading.Thread(target=work, args=(torch.randn(4, 3),))
thread.start()
thread.join()
print("done", (torch.ones(2, 2) @ torch.ones(2, 2)).sum().item())
"""
THREAD_MOVED = (
    THREAD.replace("import torch\n", f"import torch\n\n{RESOLVER}", 1)
    .replace("torch.ones(3, 2)", "torch.ones(3, 2, device=x.device)")
    .replace("(torch.randn(4, 3),)", "(torch.randn(4, 3).to(device),)")
    .replace(
        "torch.ones(2, 2) @ torch.ones(2, 2)",
        "torch.ones(2, 2, device=device) @ torch.ones(2, 2, device=device)",
    )
)

ATEXIT = """
import atexit
import torch

torch.manual_seed(0)
weights = torch.randn(3, 3)
result = torch.randn(2, 3) @ weights


def report():
    torch.save((result @ weights), "result.pt")
    print("saved", tuple(result.shape))


atexit.register(report)
print(result.sum().item())
"""
ATEXIT_MOVED = (
    ATEXIT.replace("import torch\n", f"import torch\n\n{RESOLVER}", 1)
    .replace("torch.randn(3, 3)", "torch.randn(3, 3).to(device)")
    .replace("torch.randn(2, 3)", "torch.randn(2, 3).to(device)")
)

# Several files: a package, a helper that the program uses, one that it does not.
FILES = {
    "main.py": """
import torch
from shapes.model import build
from shapes.noise import noise

torch.manual_seed(1)
model = build()
x = noise(4)
loss = model(x).pow(2).mean()
loss.backward()
print(loss.item(), sum(p.grad.abs().sum().item() for p in model.parameters()))
""",
    "shapes/__init__.py": "",
    "shapes/model.py": """
from torch import nn


def build():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
""",
    "shapes/noise.py": """
import torch


def noise(count):
    return torch.randn(count, 3)


def more_noise(count):
    return torch.randn(count, 3) * 2
""",
    "other.py": """
import torch

print(torch.zeros(3).sum())
""",
}
FILES_MOVED = {
    **FILES,
    "shapes/device.py": f"import torch\n\n{RESOLVER}",
    "main.py": FILES["main.py"]
    .replace("from shapes.model", "from shapes.device import device\nfrom shapes.model")
    .replace("build()", "build().to(device)")
    .replace("noise(4)", "noise(4).to(device)"),
}

# A program that asks for CUDA and cannot run without.
HARD = TRAIN_MOVED.replace(RESOLVER, 'device = torch.device("cuda")\n')

# A recurrent model that generates, with a generator of its own.
GENERATE = """
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--length", type=int, default=6)
parser.add_argument("--temperature", type=float, default=0.8)
options = parser.parse_args()


class Writer(nn.Module):
    def __init__(self, letters=11, width=8):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, letters)

    def forward(self, x, state=None):
        out, state = self.cell(self.embed(x), state)
        return self.head(out), state


torch.manual_seed(5)
model = Writer()
model.eval()
letter, state, text = torch.zeros(1, 1, dtype=torch.long), None, []
with torch.no_grad():
    for _ in range(options.length):
        scores, state = model(letter, state)
        chances = torch.softmax(scores[:, -1] / options.temperature, -1)
        letter = torch.multinomial(chances, 1)
        text.append(letter.item())
print("text", text)
print(f"last chance {chances.max().item():.4f}")
"""
GENERATE_MOVED = (
    GENERATE.replace("from torch import nn\n", f"from torch import nn\n\n{RESOLVER}")
    .replace("model = Writer()", "model = Writer().to(device)")
    .replace("dtype=torch.long)", "dtype=torch.long, device=device)")
)
