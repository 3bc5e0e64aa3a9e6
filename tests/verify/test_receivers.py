"""Moves are inserted where every value that can arrive is a tensor or a module."""

from __future__ import annotations

import ast
from collections.abc import Collection

import pytest

from samedevice.finding import Edit, Finding, Fix
from samedevice.places import infer
from samedevice.project import Project
from samedevice.source import from_text
from samedevice.verify import uncertain

#: What arrives at the argument of `np.exp`, and what is said of it.
PROGRAMS = {
    "a tensor": ("def f(x):\n    return np.exp(x)\nf(torch.ones(2))\n", ""),
    "a float, too": (
        "def f(x):\n    return np.exp(x)\nf(torch.ones(2))\nf(torch.ones(2).sum().item())\n",
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
    "a parameter of what nobody calls": ("def f(x):\n    return np.exp(x)\n", ""),
    "what is not known": ("np.exp(unknown())\n", ""),
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
    said = infer(project, project.programs["a.py"], watch=True).doubts([argument])
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

    def certainty(expressions: Collection[ast.AST]) -> dict[ast.AST, str]:
        asked.extend(sorted(ast.unparse(each) for each in expressions))
        return dict.fromkeys(expressions, "a number")

    said = list(uncertain(project, project.programs["a.py"], [finding], certainty))
    assert asked == expected
    reasons = [f"`{each}` may be a number, which cannot be moved" for each in expected]
    assert sorted(said, key=lambda pair: pair[1]) == [(finding, reason) for reason in reasons]
