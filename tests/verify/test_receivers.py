"""Moves are inserted where every value that can arrive is a tensor or a module."""

from __future__ import annotations

import ast
from collections.abc import Collection

import pytest

from samedevice.finding import Edit, Finding, Fix
from samedevice.inference import infer
from samedevice.inference.certainty import OBJECT, UNSEEN, UNSHOWN
from samedevice.reading.project import Project
from samedevice.reading.source import from_text
from samedevice.verify import uncertain

#: What arrives at the argument of `np.exp`, and what is said of it.
PROGRAMS = {
    "a tensor": ("def f(x):\n    return np.exp(x)\nf(torch.ones(2))\n", ""),
    "a float, too": (
        "def f(x):\n    return np.exp(x)\nf(torch.ones(2))\nf(torch.ones(2).sum().item())\n",
        "a number or a string",
    ),
    "the number of a layer": (
        "def f(net):\n"
        "    net = net.to('cuda')\n"
        "    size = net.fc.in_features\n"
        "    return np.exp(size)\n",
        "a number or a string",
    ),
    "a constant, too": (
        "def f(x):\n    return np.exp(x)\nf(torch.ones(2))\nf(2)\n",
        "a constant",
    ),
    "an array, too": (
        "def f(x):\n    return np.exp(x)\nf(torch.ones(2))\nf(np.ones(2))\n",
        "an array",
    ),
    "an array on one path": (
        "x = torch.ones(2) if y else np.ones(2)\nnp.exp(x)\n",
        "no tensor on another path",
    ),
    "an entry of a file": ('x = torch.load("x.pt")\nnp.exp(x["a"])\n', "an entry of a loaded file"),
    "a parameter of what nobody calls": ("def f(x):\n    return np.exp(x)\n", UNSHOWN),
    "a parameter that is shown to be a tensor": (
        "def f(x):\n    y = np.exp(x)\n    return x.unsqueeze(0)\n",
        "",
    ),
    "a parameter of which a method says nothing": (
        "class A:\n    def unsqueeze(self, dim):\n        pass\n"
        "def f(x):\n    y = np.exp(x)\n    return x.unsqueeze(0)\n",
        UNSHOWN,
    ),
    "a list that is joined": ("def f(x):\n    y = torch.cat(x)\n    np.exp(x)\n", "a list"),
    "one of several that are joined": (
        "def f(x, y):\n    torch.meshgrid(x, y)\n    np.exp(x)\n",
        "",
    ),
    "a mapping": (
        "def f(x):\n    y = torch.relu(x['a'])\n    np.exp(x)\n",
        "a mapping",
    ),
    "what has an attribute of its own": (
        "def f(x):\n    np.exp(x)\n    return torch.relu(x.cores)\n",
        OBJECT,
    ),
    "what is not known": ("np.exp(unknown())\n", "something unknown"),
    "what is not known, on one path": (
        "x = torch.ones(2)\nif y:\n    x = unknown()\nnp.exp(x)\n",
        "no tensor on another path",
    ),
    "made of what may be an array": (
        "x = torch.ones(2) if y else np.ones(2)\nz = x.reshape(2, 1).mean(1).T[0] * x\nnp.exp(z)\n",
        "no tensor on another path",
    ),
    "made as only tensors can": (
        "x = torch.ones(2) if y else np.ones(2)\nz = x.unsqueeze(0)\nnp.exp(z)\n",
        "",
    ),
    "with a tensor": (
        "x = torch.ones(2) if y else np.ones(2)\nz = x * torch.ones(2)\nnp.exp(z)\n",
        "",
    ),
    "an object of a library": (
        "import networkx as nx\nnp.exp(nx.path_graph(3))\n",
        "data of another library",
    ),
    "an object of a class of the project": (
        "class A:\n    pass\nx = torch.nn.Linear(2, 2) if y else A()\nnp.exp(x)\n",
        "an object that is no module",
    ),
    "an object that can be moved": (
        "class A:\n    def to(self, device):\n        return self\nnp.exp(A())\n",
        "",
    ),
    "an object of a class with an unknown base": (
        "from other import B\nclass A(B):\n    pass\nnp.exp(A())\n",
        "",
    ),
    "a member of nothing": ("for x in []:\n    np.exp(x)\n", ""),
}


def _argument(tree: ast.AST) -> ast.expr:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return next(node.args[0] for node in calls if ast.unparse(node.func) == "np.exp")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_arrives(name: str) -> None:
    text, expected = PROGRAMS[name]
    project = Project([from_text("import numpy as np\nimport torch\n" + text, "a.py")])
    tree = project.tree("a.py")
    assert tree is not None
    argument = _argument(tree)
    said = infer(project, project.programs["a.py"], watch=True).watcher.doubts([argument])
    assert said == ({argument: expected} if expected else {})


EDITS = {
    "a method": ("np.exp(x)\n", "x", "method", ".cpu()", ["x"]),
    "what surrounds it": ("np.exp(x)\n", "x", "replace", "{}.to(d)", ["x"]),
    "a move": ("np.exp(x.cuda())\n", "x.cuda()", "method", ".to(d)", []),
    "no move": ("np.exp(x)\n", "x", "method", ".detach()", []),
    "what a loop draws": (
        "for x, y in z:\n    f(y)\n    f(x, y)\n",
        "for",
        "head",
        "x, y = x.to(d), y.to(d)",
        ["x", "y"],
    ),
}

#: A program, the call that gets `device=x.device`, and the lines of what `x` is there.
FOLLOWED = {
    "a name in the statement": ("x = a()\nx = f(x)\nx.g()\n", "f(x)", [3]),
    "a name that is bound before": (
        "x = a()\nx.g()\nx = b()\nx.h()\nf(1)\nx.i()\n",
        "f(1)",
        [5, 7],
    ),
    "a name that is bound again": ("x = a()\nx.g()\nf(1)\nx = b(x)\nx.h()\n", "f(1)", [3, 5]),
    "another function's": ("def g(x):\n    f(1)\nx = a()\nx.g()\n", "f(1)", []),
    "a name that is asked already": ("x = a()\nx.device\nf(x)\n", "f(x)", []),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_whose_device_is_asked_for(name: str) -> None:
    text, code, expected = FOLLOWED[name]
    project = Project([from_text("import torch\n" + text, "a.py")])
    source = project.sources["a.py"]
    calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    call = next(node for node in calls if ast.unparse(node) == code)
    given = (("name", "device"), ("value", "x.device"))
    fix = Fix((Edit("a.py", source.span(call), "keyword", given),))
    finding = Finding("a.py", source.span(call), "rule", "message", fix=fix)
    asked: list[int] = []

    def certainty(expressions: Collection[ast.AST], _: object) -> dict[ast.AST, str]:
        asked.extend(sorted(each.lineno for each in expressions))  # type: ignore[attr-defined]
        return dict.fromkeys(expressions, "an array")

    said = list(uncertain(project, project.programs["a.py"], [finding], certainty))
    assert asked == expected
    assert {reason for _, reason in said} <= {"`x` may be an array, which has no device"}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_asked_about(name: str) -> None:
    text, code, verb, inserted, expected = EDITS[name]
    project = Project([from_text("import torch\n" + text, "a.py")])
    source = project.sources["a.py"]
    nodes = ast.walk(source.tree)
    node = next(
        n
        for n in nodes
        if (code == "for" and isinstance(n, ast.For))
        or (isinstance(n, ast.expr) and ast.unparse(n) == code)
    )
    edit = Edit("a.py", source.span(node), verb, (("code", inserted),))  # type: ignore[arg-type]
    finding = Finding("a.py", source.span(node), "rule", "message", fix=Fix((edit,)))
    asked: list[str] = []

    def certainty(expressions: Collection[ast.AST], _: object) -> dict[ast.AST, str]:
        asked.extend(sorted(ast.unparse(each) for each in expressions))
        return dict.fromkeys(expressions, "a number")

    said = list(uncertain(project, project.programs["a.py"], [finding], certainty))
    assert asked == expected
    reasons = [f"`{each}` may be a number, which cannot be moved" for each in expected]
    assert sorted(said, key=lambda pair: pair[1]) == [(finding, reason) for reason in reasons]


@pytest.mark.parametrize(
    ("use", "left"),
    [
        ("x.y()", True),
        ("torch.tensor(x)", True),
        ("x.sum(0)", True),
        ("x.sum(dim=0)", False),
        ("x.unsqueeze(0)", False),
        ("torch.cat(x)", False),
    ],
)
def test_what_is_not_known_is_followed_where_it_is_used_as_a_tensor(use: str, left: bool) -> None:
    text = f"import torch\ndef f(x):\n    {use}\n    return torch.ones(2) + x\n"
    project = Project([from_text(text, "a.py")])
    source = project.sources["a.py"]
    nodes = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    call = next(node for node in nodes if ast.unparse(node) == "torch.ones(2)")
    given = (("name", "device"), ("value", "x.device"))
    fix = Fix((Edit("a.py", source.span(call), "keyword", given),))
    finding = Finding("a.py", source.span(call), "rule", "message", fix=fix)

    def certainty(expressions: Collection[ast.AST], _: object) -> dict[ast.AST, str]:
        return dict.fromkeys(expressions, UNSEEN)

    assert bool([*uncertain(project, project.programs["a.py"], [finding], certainty)]) is left
