"""No code, however strange, makes the inference fail or hang."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from samedevice.finding import Finding
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n"


def checked(files: dict[str, str]) -> tuple[list[Finding], list[str]]:
    """Return the findings and errors of a project."""
    project = Project([source.from_text(text, path) for path, text in files.items()])
    findings = check(project, Config())
    return findings, [str(error) for error in project.errors]


def chain(count: int) -> str:
    calls = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(count))
    return f"{calls}def f{count}(x):\n    return x\nprint(f0(torch.ones(3).cuda()))\n"


def mesh(count: int) -> str:
    """Return functions that call three others each, in circles."""
    lines = []
    for i in range(count):
        calls = " + ".join(f"f{(i * 7 + k * 13) % count}(x)" for k in (1, 2, 3))
        lines.append(f"def f{i}(x):\n    return {calls}\n")
    return "".join(lines) + "f0(torch.ones(3))\n"


def doubling(count: int) -> str:
    """Return functions whose calls would be followed 2 ** count times."""
    calls = "".join(f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x)\n" for i in range(count))
    return f"{calls}def f{count}(x):\n    return x\nprint(f0(torch.ones(3)))\n"


def nested_modules(count: int) -> str:
    """Return modules with two of the next in each."""
    text = "".join(
        f"class M{i}(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        f"        self.a, self.b = M{i + 1}(), M{i + 1}()\n"
        "    def forward(self, x):\n"
        "        return self.b(self.a(x))\n"
        for i in range(count)
    )
    return f"{text}M{count} = nn.Identity\nM0()(torch.ones(3))\n"


#: Programs that are odd but parse.
ODD = {
    "a chain of 2,000 functions": chain(2_000),
    "200 functions calling each other": mesh(200),
    "calls that double": doubling(200),
    "modules that double": nested_modules(60),
    "tuples that double": "x = torch.ones(3)\n" + "x = (x, x)\n" * 80 + "y = torch.stack(x)\n"
    "for b in DataLoader(x):\n    print(b)\n",
    "dictionaries that double": "x = torch.ones(3)\n"
    + "x = {'a': x, 'b': x}\n" * 80
    + "for b in DataLoader([x]):\n    print(b)\n",
    "two tuples that double and are joined": "x = y = torch.ones(3)\n"
    + "x, y = (x, x), (y, y)\n" * 80
    + "z = x if torch.rand(1) else y\n",
    "lists in themselves": "x = []\ny = [x]\nx.append(y)\nx += [x]\nz = x if x else y\n"
    "z.extend(z)\nprint(torch.stack(z), z + z, [q for q in z], zip(z, z))\n"
    "for b in DataLoader(z):\n    print(b)\n",
    "a dictionary in itself": "d = {}\nd['a'] = d\nd[0] = [d]\ntorch.stack(d['a']['a'])\n"
    "for b in DataLoader(d):\n    print(b)\n",
    "a module in itself": "class M(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.parts = []\n        self.parts.append(self.parts)\n"
    "        self.parts.append(self)\n        self.me = self\n"
    "        self.all = nn.Sequential(*self.parts)\n"
    "    def forward(self, x):\n        return self.all(x)\nM().cuda()(torch.ones(3))\n",
    "an object that makes another": "class A:\n    def __init__(self):\n        self.next = A()\n"
    "        self.x = torch.ones(3)\nprint(A().next.next.x)\n",
    "arguments that grow": "def f(x):\n    return f([x])\nf(torch.ones(3))\n"
    "def g(k):\n    return g(lambda x: k(k(x)))\ng(lambda x: x)(torch.ones(3))\n",
    "a fixed point": "(lambda x: x(x))(lambda x: x(x))\n",
    "a generator of itself": "def g(x):\n    yield from g(x)\n    for y in g(g(x)):\n"
    "        yield y\nfor z in g(torch.ones(3)):\n    print(z)\n",
    "properties in a circle": "class A:\n    @property\n    def a(self):\n        return self.b\n"
    "    @property\n    def b(self):\n        return self.a\nprint(A().a + torch.ones(3))\n",
    "classes that inherit in a circle": "class A(B):\n    def f(self):\n"
    "        return super().f()\nclass B(A):\n    def f(self):\n"
    "        return super().f()\nA().f()\nclass C(C):\n    pass\n",
    "a decorator of itself": "def d(f):\n    return d(f)\n@d\n@d\ndef g(x):\n    return g\n"
    "g(1)(2)\n",
    "a partial of itself": "from functools import partial\np = partial(print, 1)\n"
    "for _ in range(9):\n    p = partial(p, p)\np(torch.ones(3))\n"
    "q = partial(lambda f: f(f), 1)\nq(q)\n",
    "80 levels of blocks": "".join(" " * i + "if x:\n" for i in range(80)) + " " * 80 + "x = 1\n",
    "a shadowed torch": "torch = 3\ntorch.ones(3).cuda()\ndel torch\ntorch.rand(3)\n",
    "wrong arguments": "torch.zeros()\ntorch.cat()\ntorch.device()\nnn.Linear()(3)\ntorch.load()\n"
    "torch.ones(3).to()\ntorch.ones(*x, **y)\nDataLoader()\nsuper()\nnn.Sequential(*3)\n",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_code_is_checked(name: str) -> None:
    _, errors = checked({"odd.py": HEAD + ODD[name]})
    assert not errors


@pytest.mark.parametrize("calls", [99, 100, 101, 250, 2_000])
def test_a_clash_is_found_below_any_number_of_nested_calls(calls: int) -> None:
    last = f"def f{calls}(x):\n    return x + torch.ones(3)\n"
    code = chain(calls).replace(f"def f{calls}(x):\n    return x\n", last)
    findings, errors = checked({"deep.py": HEAD + code})
    assert not errors
    assert "tensor-not-on-input-device" in {finding.rule for finding in findings}


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "x = " + "(" * n + "1" + ")" * n,
    "signs": lambda n: "x = " + "-" * n + "1",
    "attributes": lambda n: "x = torch" + ".a" * n,
    "calls": lambda n: "x = torch.ones(3)" + ".relu()" * n,
    "sums": lambda n: "x = " + " + ".join(["torch.ones(3)"] * n),
    "branches": lambda n: "if x: y = 1\n" + "elif x: y = torch.ones(3)\n" * n,
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_code_is_one_error_and_the_next_file_is_checked(name: str) -> None:
    ok = HEAD + "print(torch.ones(3).cuda())\n"
    findings, errors = checked({"deep.py": f"{HEAD}{DEEP[name](10_000)}\n", "ok.py": ok})
    assert [error.partition(":")[0] for error in errors] == ["deep.py"]
    assert {finding.path for finding in findings} == {"ok.py"}


@pytest.mark.parametrize("package", [json, asyncio], ids=lambda package: str(package.__name__))
def test_code_without_tensors_has_no_findings(package: ModuleType) -> None:
    folder = Path(str(package.__file__)).parent
    # about torch, so that it is judged at all
    files = {
        path.relative_to(folder.parent).as_posix(): f"import torch\n{path.read_text('utf-8')}"
        for path in sorted(folder.glob("*.py"))
        if "from __future__" not in path.read_text("utf-8")
    }
    assert files
    assert checked(files) == ([], [])
