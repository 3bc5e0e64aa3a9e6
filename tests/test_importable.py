"""What a file can import, in each program that runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from samedevice.reading.project import Project
from samedevice.reading.source import from_text
from samedevice.repair.importable import Importable

MAIN = "if __name__ == '__main__':\n    {}\n"
SCRIPT = {"run.py": "from pkg.net import f\n"}

NAMES = {
    "beside a script": ({"a.py": ""}, "a.py", "device.py", "device"),
    "in a folder that a script's import shows": (
        {"run.py": "from core.net import f\n", "core/net.py": ""}, "core/net.py", "device.py",
        "device",
    ),
    "not where the file is a script, too": (
        {"run.py": "from core.net import f\n", "core/net.py": MAIN.format("f()")}, "core/net.py",
        "device.py", None,
    ),
    "not in a package whose file is a script, too": (
        SCRIPT | {"pkg/__init__.py": "", "pkg/net.py": MAIN.format("f()")}, "pkg/net.py",
        "pkg/device.py", None,
    ),
    "above a package, from its script": (
        SCRIPT | {"pkg/__init__.py": "", "pkg/net.py": ""}, "pkg/net.py", "device.py", "device",
    ),
    "in a package, as its files say it": (
        SCRIPT | {"pkg/__init__.py": "", "pkg/net.py": "from .base import g\n", "pkg/base.py": ""},
        "pkg/net.py", "pkg/device.py", ".device",
    ),
    "in a folder without __init__.py, as its files say it": (
        SCRIPT | {"pkg/net.py": "from .base import g\n", "pkg/base.py": ""},
        "pkg/net.py", "pkg/device.py", ".device",
    ),
    "what is imported under __main__ says nothing of other programs": (
        {
            "run.py": "from core.net import f\nfrom core.other import g\n", "core/net.py": "",
            "core/other.py": MAIN.format("import base"), "core/base.py": "",
        },
        "core/net.py", "core/device.py", "core.device",
    ),
    "above the package that a script's import begins with": (
        {
            "top/__init__.py": "", "top/run.py": MAIN.format("pass") + "from pkg.net import f\n",
            "top/pkg/__init__.py": "", "top/pkg/net.py": "from .base import g\n",
            "top/pkg/base.py": "",
        },
        "top/pkg/net.py", "top/device.py", "device",
    ),
    "on a path that a script adds": (
        {"run.py": "import sys\nsys.path.append('core')\nimport net\n", "core/net.py": ""},
        "core/net.py", "core/device.py", "device",
    ),
    "beside a package that is installed": (
        {"setup.py": "", "examples/run.py": "from pkg.net import f\n", "pkg/__init__.py": "",
         "pkg/net.py": ""},
        "examples/run.py", "device.py", None,
    ),
    "in a package that is installed": (
        {"setup.py": "", "examples/run.py": "from pkg.net import f\n", "pkg/__init__.py": "",
         "pkg/net.py": ""},
        "examples/run.py", "pkg/device.py", "pkg.device",
    ),
    "above a test": ({"tests/test_a.py": ""}, "tests/test_a.py", "device.py", None),
    "above a test, with conftest.py": (
        {"tests/test_a.py": "", "conftest.py": ""}, "tests/test_a.py", "device.py", "device",
    ),
    "in every program that leads there": (
        {
            "a/run.py": "import net\n", "a/net.py": "",
            "b/run.py": "import sys\nsys.path.append('../a')\nimport net\n",
        },
        "a/net.py", "a/device.py", "device",
    ),
    "not where one of two programs has it only": (
        {"run.py": "from a import net\n", "a/net.py": "", "a/other.py": "import net\n"},
        "a/net.py", "a/device.py", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # no file there says how a package is built
    files, path, target, expected = NAMES[name]
    text = "import torch\n{}"
    project = Project([from_text(text.format(code), each) for each, code in files.items()])
    found = Importable(project).module_name(path, target)
    assert found == expected
    if found is not None and not found.startswith("."):
        assert Importable(project).reaches(path, found, target)


def test_a_test_with_an_absolute_path() -> None:
    """The folders above it end at the root."""
    project = Project([from_text("import torch\n", "/home/user/tests/test_a.py")])
    found = Importable(project).module_name("/home/user/tests/test_a.py", "/home/user/device.py")
    assert found is None
