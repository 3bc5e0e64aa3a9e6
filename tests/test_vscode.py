"""The VS Code extension: its own tests where its packages are installed, and what it shares."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import samedevice
from samedevice.reading.config import Config

EXTENSION = Path(__file__).parent.parent / "codemods" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text("utf-8"))
SETTINGS = MANIFEST["contributes"]["configuration"]["properties"]


def test_the_extension_has_the_version_of_the_package() -> None:
    assert MANIFEST["version"] == samedevice.__version__


def test_its_settings_are_those_of_the_configuration() -> None:
    shared = {"select", "ignore", "unsafe", "resolver"}
    assert {name.removeprefix("samedevice.") for name in SETTINGS} > shared
    assert shared < set(Config.__dataclass_fields__)


def test_python_dash_m_is_the_command_line() -> None:
    source = (EXTENSION / "src" / "find.ts").read_text("utf-8")
    assert re.search(r'"-m", "samedevice"', source)
    done = subprocess.run(
        [sys.executable, "-m", "samedevice", "--version"], capture_output=True, text=True
    )
    assert done.stdout.split() == ["samedevice", samedevice.__version__]


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text("utf-8")


@pytest.mark.slow
def test_its_own_tests_and_its_package(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or not (EXTENSION / "node_modules").is_dir():
        pytest.skip("run npm ci in codemods/vscode first")
    for command in (["test"], ["run", "package", "--", "--out", str(tmp_path / "a.vsix")]):
        done = subprocess.run([npm, *command], cwd=EXTENSION, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "a.vsix").stat().st_size > 10_000
