"""What an edit makes of a file's names and imports, and what is said against it."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from samedevice import verify
from samedevice.reading.project import Project
from samedevice.reading.source import from_text
from samedevice.verify import objections
from samedevice.verify.edited import Edited


def _project(files: dict[str, str]) -> Project:
    return Project([from_text(textwrap.dedent(text), path) for path, text in files.items()])


def _said(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, int, str]]:
    found = objections(_project(before), _project({**before, **after}))
    return [(each.path, each.line, each.reason) for each in found]


def test_only_what_is_new_is_new() -> None:
    before = ast.parse("x = f(a)\nfor i in b:\n    g(i)\n")
    after = ast.parse("import c\nx = f(a).to(d)\nfor i in b:\n    i = i.to(d)\n    g(i)\n")
    edited = Edited(before, after)
    new = [ast.unparse(node) for node in edited.new if isinstance(node, ast.expr)]
    assert {"f(a).to(d)", "d", "i.to(d)"} <= set(new)
    assert "f(a)" not in new and "g(i)" not in new and "b" not in new
    assert not edited.gone


def test_the_texts_make_no_difference_to_what_is_new() -> None:
    before = (
        "import torch\nclass A:\n    def f(self):\n        return torch.ones(1)\n\n    @property\n"
        "    def g(self):\n        return self.f() + 1\nx = 1; y = 2\nprint(A().g, x, y)\n"
    )
    after = (
        before.replace("ones(1)", "ones(1, device=d)")
        .replace("class A", "d = 0\nclass A(B)")
        .replace("x = 1; y = 2", "y = 2; x = 1")
    )
    trees = ast.parse(before), ast.parse(after)
    plain, told = Edited(*trees), Edited(*trees, (before, after))
    for one, other in ((plain.new, told.new), (plain.gone, told.gone)):
        assert list(map(ast.dump, one)) == list(map(ast.dump, other)) != []
    assert {type(node).__name__ for node in told.new} > {"keyword", "Name"}


def test_a_change_of_layout_is_no_change() -> None:
    before = ast.parse("if x:\n    y = 1\n")
    assert not Edited(before, ast.parse("if (x):\n\n    y = (1)\n")).new


NAMES = {
    "one branch": (
        "import torch\nif x:\n    device = 1\ny = torch.ones(1)\n",
        "import torch\nif x:\n    device = 1\ny = torch.ones(1, device=device)\n",
        [(4, "`device` may not be bound here")],
    ),
    "none yet": (
        "DEV = None\ndef init():\n    global DEV\n    DEV = f()\ny = g()\n",
        "DEV = None\ndef init():\n    global DEV\n    DEV = f()\ny = g(device=DEV)\n",
        [(5, "`DEV` may be None here")],
    ),
    "a line that is moved": (
        "def f():\n    device = 1\n    a = g(1, 2, device)\n",
        "def f():\n    a = g(1, 2, device)\n    device = 1\n",
        [(2, "`device` may not be bound here")],
    ),
    "a definition that is taken away": (
        "device = 1\na = g(device)\n",
        "a = g(device)\n",
        [(1, "`device` may no longer be bound here")],
    ),
    "what was unbound before": (
        "for x in y:\n    pass\nprint(x)\n",
        "for x in y:\n    pass\nx = x.to(0)\nprint(x)\n",
        [],
    ),
    "what was unbound before, in a branch": (
        "for x in y:\n    pass\nif z:\n    print(x)\n",
        "for x in y:\n    pass\nx = x.to(0)\nif z:\n    print(x)\n",
        [(3, "`x` may not be bound here")],
    ),
    "a question for None": (
        "d = None\nprint(1)\n",
        "d = None\nif d is None:\n    d = 1\nprint(d)\n",
        [],
    ),
    "an import of what is there": ("x = 1\n", "import contextlib\nx = contextlib\n", []),
    "an import of nothing": (
        "x = 1\n",
        "import nowhere\nx = nowhere\n",
        [(1, "there is no module nowhere for this file")],
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    before, after, expected = NAMES[name]
    assert _said({"a.py": before}, {"a.py": after}) == [("a.py", *each) for each in expected]


MAIN = "def f():\n    return g({})\n\nif __name__ == '__main__':\n    device = 1\n    f()\n"


def test_what_main_binds_is_not_for_those_who_import_the_file() -> None:
    before, after = MAIN.format(""), MAIN.format("device")
    reason = "`device` may not be bound here in a process that imports this file"
    assert _said({"a.py": before}, {"a.py": after}) == [("a.py", 2, reason)]
    before, after = (text.replace("g(", "device or g(") for text in (before, after))
    assert not _said({"a.py": before}, {"a.py": after})  # the function relies on it already


IMPORTS = {
    "beside a script": ("from device import device", "device = 1\n", ""),
    "what is not there": (
        "from device import device",
        "other = 1\n",
        "device may have no `device` when it is imported",
    ),
    "what is bound under main": (
        "from device import device",
        "if __name__ == '__main__':\n    device = 1\n",
        "device may have no `device` when it is imported",
    ),
    "what is None then": (
        "from device import device",
        "device = None\n",
        "`device` of device may be None when it is imported",
    ),
    "relative, of a script": (
        "from .device import device",
        "device = 1\n",
        "`from .device import` fails where this file is run by its path",
    ),
    "in a circle": (
        "from device import device",
        "import torch\nimport a\ndevice = 1\n",
        "device imports this file, directly or not",
    ),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_imports(name: str) -> None:
    statement, other, reason = IMPORTS[name]
    script = "import torch\n{}\nif __name__ == '__main__':\n    print(1)\n"
    files = {"a.py": script.format(""), "device.py": other}
    said = _said(files, {"a.py": script.format(statement)})
    assert said == ([("a.py", 2, reason)] if reason else [])


def test_what_a_star_import_brings() -> None:
    """It brings what the project's own file binds, and hides nothing that is bound elsewhere."""
    text = "import torch\nfrom other import *\n\ndef f(x):\n    return {}\n"
    text += "\nif __name__ == '__main__':\n    device = 1\n"
    files = {"a.py": text.format("x"), "b.py": "import torch\nimport a\n"}
    changed = {"a.py": text.format("x.to(device)")}
    reason = "`device` may not be bound here in a process that imports this file"
    assert _said(files | {"other.py": "number = 1\n"}, changed) == [("a.py", 5, reason)]
    assert not _said(files | {"other.py": "device = 1\n"}, changed)


def test_a_name_with_two_underscores_is_another_one_in_a_class() -> None:
    text = "import torch\n__device = 1\n\nclass A:\n    def f(self, x):\n        return {}\n"
    said = _said({"a.py": text.format("x")}, {"a.py": text.format("x.to(__device)")})
    assert said == [("a.py", 6, "`__device` has another name in a class")]


def test_an_installed_package_and_a_test_do_not_see_what_lies_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no file there says how a package is built
    changed = "import torch\nfrom device import device\n"
    package = {"p/__init__.py": "", "p/a.py": "import torch\n", "device.py": "device = 1\n"}
    assert not _said(package, {"p/a.py": changed})
    told = "there is no module device for this file"
    assert _said(package | {"setup.py": ""}, {"p/a.py": changed}) == [("p/a.py", 2, told)]
    test = {"tests/test_a.py": "import torch\n", "device.py": "device = 1\n"}
    assert _said(test, {"tests/test_a.py": changed}) == [("tests/test_a.py", 2, told)]
    assert not _said(test | {"conftest.py": ""}, {"tests/test_a.py": changed})


def test_a_package_imports_from_itself() -> None:
    files = {"p/__init__.py": "", "p/a.py": "import torch\n", "p/device.py": "device = 1\n"}
    assert not _said(files, {"p/a.py": "import torch\nfrom .device import device\n"})
    assert not _said(files, {"p/a.py": "import torch\nfrom p.device import device\n"})
    said = _said(files, {"p/a.py": "import torch\nfrom device import device\n"})
    assert [reason for _, _, reason in said] == ["there is no module device for this file"]


def test_what_is_nested_as_deeply_as_is_read_is_judged() -> None:
    deep = "x = " + "f(" * 90 + "y" + ")" * 90 + "\nz = " + " + ".join(["y"] * 240) + "\n"
    assert not _said({"a.py": deep}, {"a.py": "import os\n" + deep})


def test_what_is_nested_too_deeply_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(verify, "Edited", give_up)
    reason = "the code is nested too deeply to be judged"
    assert _said({"a.py": "x = 1\n"}, {"a.py": "x = 2\n"}) == [("a.py", 1, reason)]
