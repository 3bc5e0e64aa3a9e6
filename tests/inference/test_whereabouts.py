"""Where an expression's value is as the code is written, on each path that leads there."""

from __future__ import annotations

import ast

import pytest

from samedevice.inference.nodes import Place
from samedevice.inference.trace import trace
from samedevice.reading import source
from samedevice.reading.project import Project

HEAD = "import torch\nfrom torch import nn\n"
CHOICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
TRAINING = """\
model = nn.LSTM(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def places(text: str, code: str) -> set[Place]:
    """Return where the values of an expression are, wherever it is written."""
    project = Project([source.from_text(text, "main.py")])
    known = trace(project)
    found: set[Place] = set()
    for node in ast.walk(project.tree("main.py") or ast.Module([], [])):
        if isinstance(node, ast.expr) and ast.unparse(node) == code:
            for value in known._tracer.seen.get(node, ()):
                found.update(known.possible(node, value))
    return found


def test_what_a_loop_carries_in_a_program_for_the_cpu_is_there() -> None:
    text = f"""\
{HEAD}{TRAINING}state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for step in range(3):
    given = state
    out, state = model(torch.rand(4, 1, 3), given)
    total = 0
    for part in out:
        total += part.sum()
    total.backward()
    optimizer.step()
"""
    for code in ("out", "part.sum()", "total", "model(torch.rand(4, 1, 3), given)"):
        assert places(text, code) == {Place.HOST}, code


@pytest.mark.parametrize(
    ("body", "code", "expected"),
    [
        ("x = torch.ones(3)\nif len(x) > 2:\n    x = x.to(device)\nprint(x)", "x",
         {Place.HOST, Place.CENTRAL}),
        ("import io\nfile = io.BytesIO()\ntorch.save(torch.ones(3), file)\ny = torch.load(file)",
         "torch.load(file)", {Place.HOST}),
        ("y = torch.load('rows.pt')\nz = y + torch.ones(3, device=device)", "torch.load('rows.pt')",
         {Place.UNKNOWN}),
        ("m = nn.Linear(3, 3)\nkept = [p.clone() for p in m.parameters()]\nm.to(device)",
         "p.clone()", {Place.HOST}),
        ("table, x = torch.zeros(9, 3), torch.ones(2, device=device)\nprint(table[x.size(0)])",
         "table[x.size(0)]", {Place.HOST}),
        ("m = nn.Linear(3, 3).to(device)\nm(torch.ones(3, device=device))\n"
         "w = m.cpu().weight\nprint(w)", "w", {Place.HOST}),
        ("def train(where='cuda:0'):\n    x = torch.ones(3).to(where)\n    print(x)\ntrain()", "x",
         {Place.CENTRAL}),
        ("from torch.utils.data import DataLoader, TensorDataset\n"
         "loader = DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4)))\n"
         "class Forever:\n    def __init__(self):\n        self.it = iter(loader)\n"
         "    def next(self):\n        try:\n            batch = next(self.it)\n"
         "        except StopIteration:\n            self.it = iter(loader)\n"
         "            batch = next(self.it)\n        return batch\n"
         "x, y = [t.to(device) for t in Forever().next()]", "t", {Place.HOST}),
        ("m = nn.LSTM(3, 3).to(device)\nprint(m.weight_hh_l0_reverse)", "m.weight_hh_l0_reverse",
         {Place.CENTRAL}),
        ("class Net(nn.Module):\n    def __init__(self, tied):\n        super().__init__()\n"
         "        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 3)\n"
         "        if tied:\n            self.last.weight = self.first.weight\n"
         "        self.start()\n"
         "    def start(self):\n        nn.init.zeros_(self.last.weight)\n"
         "Net(len(str(device))).to(device)", "self.last.weight", {Place.HOST}),
        ("class Queue:\n    def __init__(self, kind):\n        self.kind = kind\n"
         "    def reset(self):\n        self.data = self.kind(3).zero_()\n"
         "q = Queue(torch.cuda.FloatTensor)\nq.reset()\nprint(q.data)\n"
         "q.kind = torch.FloatTensor\nq.reset()\nlast = q.data\nprint(last)\n"
         "q.kind = torch.cuda.FloatTensor\nq.reset()\nprint(q.data)", "last", {Place.HOST}),
    ],
)  # fmt: skip
def test_a_value_is_where_the_code_puts_it(body: str, code: str, expected: set[Place]) -> None:
    assert places(HEAD + CHOICE + body + "\n", code) == expected


def test_a_module_that_is_built_is_where_its_parts_are() -> None:
    text = f"""\
{HEAD}{CHOICE}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3).to(device)
        self.count(self)

    def count(self, whole):
        print(whole)

Net()
"""
    assert places(text, "whole") == {Place.CENTRAL}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("m = nn.Linear(3, 3)\nw = m.weight\nm.to(device)", {Place.HOST}),
        # It is built where it is moved: whoever builds it moves it.
        ("if a:\n    m = nn.Linear(3, 3)\n    w = m.weight\n    m.to(device)", {Place.HOST}),
        ("for _ in 'ab':\n    m = nn.Linear(3, 3)\n    w = m.weight\n    m.to(device)",
         {Place.HOST}),
        # It is moved on one path only: behind the branch it may be in either place.
        ("m = nn.Linear(3, 3)\nif a:\n    m.to(device)\nw = m.weight", {Place.UNKNOWN}),
    ],
)  # fmt: skip
def test_a_parameter_is_on_the_cpu_until_its_module_moves(body: str, expected: set[Place]) -> None:
    assert places(f"{HEAD}{CHOICE}a = len(str(device)) > 4\n{body}\n", "m.weight") == expected


def test_a_part_that_was_built_before_the_branch_is_not_certain_to_move_in_it() -> None:
    """The whole is built in the branch, its part is not: another path may go on with that."""
    text = f"""\
{HEAD}{CHOICE}
body = nn.Linear(3, 3)
if len(str(device)) > 4:
    model = nn.Sequential(body)
    model.to(device)
y = body(torch.ones(1, 3, device=device))
"""
    assert places(text, "body(torch.ones(1, 3, device=device))") == {Place.CENTRAL}


def test_a_program_that_names_the_cpu_is_there() -> None:
    text = f'{HEAD}device = "cpu"\nx = torch.ones(3).to(device)\nprint(x)\n'
    assert places(text, "x") == {Place.HOST}


@pytest.mark.parametrize("test", ["x.is_cuda and self.count > 1", "self.count > 1"])
def test_a_test_of_a_value_and_of_something_else_decides_no_branch(test: str) -> None:
    text = f"""\
{HEAD}{CHOICE}
class Net(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count
        self.body = nn.Linear(3, 3)

    def forward(self, x):
        if {test}:
            out = nn.parallel.data_parallel(self.body, x, range(self.count))
        else:
            out = self.body(x)
        return out

y = Net(len(str(device))).to(device)(torch.ones(1, 3, device=device))
print(y)
"""
    assert places(text, "self.body(x)") == {Place.CENTRAL}
    assert places(text, "nn.parallel.data_parallel(self.body, x, range(self.count))") == {
        Place.CENTRAL
    }
    assert places(text, "y") == {Place.CENTRAL}


@pytest.mark.parametrize(
    ("says", "expected"), [("False", Place.HOST), ("True", Place.CENTRAL), ("None", Place.HOST)]
)
def test_a_switch_is_what_it_says_now(says: str, expected: Place) -> None:
    """Whether a call gives it or the file: what others have of the device is where that is."""
    text = f"""\
{HEAD}{CHOICE}cpu = torch.device("cpu")
on = {says}

def made(on):
    where = device if on else cpu
    model = nn.Linear(3, 3).to(where)
    return model(torch.ones(1, 3, device=where))

if on:
    chosen = device
else:
    chosen = cpu
given = made({says})
x = torch.ones(3, device="cuda" if on else "cpu")
y = torch.ones(3).to(chosen)
z = torch.ones(3).to(device)
print(given, x.sum(), y, z)
"""
    for code in ("given", "x.sum()", "y", "torch.ones(1, 3, device=where)"):
        assert places(text, code) == {expected}, code
    assert places(text, "z") == {Place.CENTRAL}


OPTIONS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true")
parser.add_argument("--on-host", action="store_true")
args = parser.parse_args()
x, y = torch.ones(3), torch.ones(3)
if args.cuda:
    x = x.cuda()
"""


@pytest.mark.parametrize(
    ("body", "x", "y"),
    [
        ("if args.cuda:\n    y = y.cuda()\nprint(x + 1, y + 1)", False, False),
        ("if not args.cuda:\n    pass\nelse:\n    y = y.cuda()\nprint(x + 1, y + 1)", False, False),
        ("if args.cuda and not args.on_host:\n    y = y.cuda()\nprint(x + 1, y + 1)", False, True),
        ("y = y.cuda()\nprint(x + 1, y + 1)", True, False),
    ],
)
def test_what_one_option_puts_on_the_device_is_perhaps_not_there_when_another_does(
    body: str, x: bool, y: bool
) -> None:
    text = f"{HEAD}{OPTIONS}{body}\n"
    assert (Place.HOST in places(text, "x + 1"), Place.HOST in places(text, "y + 1")) == (x, y)
    assert Place.CENTRAL in places(text, "x + 1") & places(text, "y + 1")


def test_the_order_of_methods_that_nobody_is_seen_to_call_is_not_known() -> None:
    text = f"""\
{HEAD}class Agent:
    def __init__(self):
        self.net = nn.Linear(3, 3)

    def forward(self, x):
        return self.net(x)

    def cuda(self):
        self.net.cuda()
"""
    assert places(text, "nn.Linear(3, 3)") == {Place.HOST}
    assert places(text, "self.net") == {Place.HOST, Place.CENTRAL}  # where it is built, and behind


SEVERAL = """\
class Net(nn.Module):
    def __init__(self, deep):
        super().__init__()
        if deep:
            body = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        else:
            whole = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
            body = nn.Sequential(*list(whole.children())[:-1])
        self.body = body

    def forward(self, x):
        y = self.body
        return y(x)


"""


def test_what_is_one_of_several_parts_moves_with_the_whole() -> None:
    made = "net = Net(len(sys.argv) > 1)\nnet.to(device)\nz = net(torch.ones(3, device=device))\n"
    text = f"import sys\n{HEAD}{CHOICE}{SEVERAL}{made}"
    assert places(text, "y") == {Place.CENTRAL}
    assert places(text, "body") == {Place.HOST}
    assert places(text, "nn.Linear(3, 3)") == {Place.HOST}
    assert places(text, "z") == {Place.CENTRAL}


def test_a_slice_of_the_parts_is_where_the_whole_is_by_then() -> None:
    text = f"""\
{HEAD}{CHOICE}class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2).layers
        self.ends = [self.layers[:1], self.layers[1:]]

    def forward(self, x):
        for end in self.ends:
            for layer in end:
                x = layer(x)
        return x


net = Net().to(device)
z = net(torch.ones(2, 4, device=device))
"""
    assert places(text, "layer") == places(text, "end") == {Place.CENTRAL}
    assert places(text, "self.layers[:1]") == {Place.HOST}


def test_users_may_choose_the_device_where_an_option_is_the_cpu_by_default() -> None:
    text = f"""\
import argparse
{HEAD}parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
args = parser.parse_args()
model = nn.Linear(3, 3)
model.to(args.device)
x = torch.ones(3).to(args.device)
z = model(x)
print(z, torch.zeros(3))
"""
    for code in ("x", "z", "model(x)"):
        assert places(text, code) == {Place.HOST, Place.CENTRAL}, code
    assert places(text, "torch.zeros(3)") == places(text, "nn.Linear(3, 3)") == {Place.HOST}


def test_a_gradient_is_where_what_an_autograd_function_gives_is() -> None:
    text = f"""\
{HEAD}class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        changed = grad.clone()
        return changed * 2


device = torch.device("cpu")
w = torch.ones(3, 3, device=device, requires_grad=True)
for _ in range(3):
    loss = Double.apply(torch.ones(3, 3) @ w).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
"""
    for code in ("grad", "changed", "grad.clone()", "x * 2", "loss"):
        assert places(text, code) == {Place.HOST}, code
