"""No module of the folder that is looked at runs, whatever it is called.

A file for every module of Python's library and of all that is installed stands in the folder, and
notes its name when it is executed. `python -m samedevice` is the hard case: it begins with the
working directory on the path.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from samedevice.migration import parallel
from samedevice.outside import python, worker

from .hostile import CODE, Trap, environment, module_names, plant, run, samedevice

#: What `python -m` may import from the working directory before the program's first line.
_OF_PYTHON = {"runpy", "importlib", "pkgutil", "warnings", "contextlib", "types", "collections",
              "functools", "heapq", "keyword", "operator", "reprlib", "weakref", "typing", "re",
              "enum", "copyreg", "sre_compile", "sre_parse", "sre_constants",
              "traceback"}  # fmt: skip  # with which Python 3.13 shows that one of these failed


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap(tmp_path_factory.mktemp("trap") / "sprung")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory, trap: Trap) -> list[str]:
    """All modules but those that `python -m` imports for an empty program."""
    names = [name for name in module_names() if name != "torch"]  # of which findings would be none
    while True:
        folder = tmp_path_factory.mktemp("python")
        plant(folder, trap, names)
        (folder / "empty").mkdir()
        for name in ("__init__", "__main__"):
            (folder / "empty" / f"{name}.py").touch()
        subprocess.run([sys.executable, "-m", "empty"], cwd=folder, capture_output=True)
        sprung = set(trap.sprung())
        if not sprung:
            return names
        assert sprung <= _OF_PYTHON, "say so in docs/proof/security.md"
        names = [name for name in names if name not in sprung]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, trap: Trap, names: list[str]) -> Path:
    folder = tmp_path_factory.mktemp("project")
    plant(folder, trap, names)
    (folder / "main.py").write_text(CODE)
    (folder / "evil.pth").write_text("import sys; " + trap.python("pth").replace("\n    ", " "))
    (folder / "pyproject.toml").write_text(
        "[tool.samedevice]\nresolver = 'evil:function'\n[build-system]\n"
        "requires = []\nbuild-backend = 'setup'\nbackend-path = ['.']\n"
    )
    return folder


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment(tmp_path_factory.mktemp("home"))


COMMANDS = {
    "check": ["check", "."],
    "check, as JSON": ["check", "--format=json", "--no-cache", "."],
    "check, in all forms": ["check", "--report=sarif=a.sarif", "--report=github=a.txt", "main.py"],
    "baseline": ["check", "--baseline=../old.txt", "--write-baseline", "main.py"],
    "fix --diff": ["fix", "--diff", "."],
    "fix --report": ["fix", "--diff", "--report=../changes.html", "main.py"],
    "modernize": ["modernize", "--diff", "--all", "main.py"],
    "map": ["map", "--fixed", "--output=../map.html", "main.py"],
    "explain": ["explain", "-", "."],
    "rules": ["rules"],
    "cache": ["cache", "info"],
    "help": ["--help"],
    "nothing": [],
}
TRACEBACK = 'Traceback (most recent call last):\n  File "main.py", line 5, in <module>\n' \
    "RuntimeError: Expected all tensors to be on the same device\n"  # fmt: skip


def test_the_trap_works(folder: Path, env: dict[str, str], trap: Trap) -> None:
    program = folder / "main_of_json.py"
    program.write_text("import json\n")
    run([sys.executable, program.name], folder, env)  # `-c` imports linecache since Python 3.13
    program.unlink()
    assert trap.sprung() == ["json"]
    assert len(list(folder.glob("*.py"))) > 300


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, folder: Path, env: dict[str, str], trap: Trap) -> None:
    done = run(samedevice(*COMMANDS[name]), folder, env, TRACEBACK)
    assert done.returncode == (1 if name.startswith(("check", "fix")) else 0), done.stderr
    assert trap.sprung() == []


def test_the_command_of_an_installation(folder: Path, env: dict[str, str], trap: Trap) -> None:
    program = Path(sys.executable).with_name("samedevice")
    if not program.exists():
        pytest.skip("samedevice is not installed as a command here")
    more = {"samedevice", *module_names()} - {path.stem for path in folder.iterdir()} - {"torch"}
    plant(folder, trap, more)
    done = run([str(program), "check", "."], folder, env)
    for name in more:
        (folder / f"{name}.py").unlink()
    assert done.returncode == 1, done.stderr
    assert trap.sprung() == []


@pytest.mark.parametrize("named", ["{folder}/src", "src", ":", "{folder}"])
def test_a_path_that_is_inherited(
    named: str, folder: Path, env: dict[str, str], trap: Trap, tmp_path: Path
) -> None:
    """What PYTHONPATH names belongs to the user; in the folder that is looked at, it does not."""
    here = shutil.copytree(folder, tmp_path / "project")
    names = ["libcst", "typer", "rich", "json", "ast", "difflib", "selectors", "pickle", "tomllib"]
    plant(here / "src", trap, names)
    inherited = {**env, "PYTHONPATH": named.format(folder=here)}
    if "src" not in named:  # Python itself begins with what is there
        for path in here.glob("*.py"):
            if path.stem not in (*names, "main"):
                path.unlink()
    done = run(samedevice("check", "--no-cache", "."), here, inherited)
    trap.sprung()  # what Python imports before any program begins: see docs/proof/security.md
    assert done.returncode == 1, done.stderr


def test_many_lines_in_many_processes(
    env: dict[str, str], trap: Trap, names: list[str], tmp_path: Path
) -> None:
    plant(tmp_path, trap, names)
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(CODE)
        (tmp_path / name / "long.py").write_text("import torch\n" + "\n" * 50_000)
    done = run(samedevice("check", "--no-cache", "--jobs=2", "."), tmp_path, env)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("main.py:3:") == 3
    assert trap.sprung() == []


def test_processes_of_python_itself(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same from Python, where the working directory is on the path."""
    assert worker  # is imported before
    plant(tmp_path, trap, ["selectors", "pickle", "queue", "threading", "signal", "runpy"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(parallel.spread(abs, [-1, -2], 2)) in ([(-1, 1), (-2, 2)], [(-2, 2), (-1, 1)])
    assert str(tmp_path) not in python.path() and "" not in python.path()
    assert trap.sprung() == []


def test_fix_writes(env: dict[str, str], trap: Trap, names: list[str], tmp_path: Path) -> None:
    plant(tmp_path, trap, names)
    (tmp_path / "main.py").write_text(CODE)
    done = run(samedevice("fix", "--yes", "."), tmp_path, env)
    assert done.returncode == 0, done.stderr
    assert "get_device" in (tmp_path / "main.py").read_text() or "device" in done.stderr
    assert trap.sprung() == []


@pytest.mark.slow
@pytest.mark.torch
def test_doctor(folder: Path, env: dict[str, str], trap: Trap) -> None:
    plant(folder, trap, ["torch"])
    done = run(samedevice("doctor", "--json"), folder, env)
    (folder / "torch.py").unlink()
    checks = {one["name"]: one["state"] for one in json.loads(done.stdout)["checks"]}
    assert checks["torch"] == checks["virtual accelerator"] == "ok", done.stdout
    assert trap.sprung() == []


def test_server(folder: Path, env: dict[str, str], trap: Trap) -> None:
    pytest.importorskip("pygls")
    uri = (folder / "main.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": CODE}
    messages = [
        {"id": 1, "method": "initialize",
         "params": {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"id": 2, "method": "textDocument/diagnostic", "params": {"textDocument": {"uri": uri}}},
    ]  # fmt: skip
    with subprocess.Popen(
        samedevice("server"), cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for message in messages:
            process.stdin.write(_framed({"jsonrpc": "2.0", **message}))
        process.stdin.flush()
        answer: dict[str, Any] = {}
        while answer.get("id") != 2:
            answer = _read(process.stdout)
        process.kill()
    assert [one["code"] for one in answer["result"]["items"]], answer
    assert trap.sprung() == []


def _framed(message: dict[str, object]) -> bytes:
    text = json.dumps(message)
    return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()


def _read(stream: IO[bytes]) -> dict[str, Any]:
    size = 0
    while (line := stream.readline()).strip():
        name, _, value = line.partition(b":")
        size = int(value) if name == b"Content-Length" else size
    assert size, "the server ended"
    found: dict[str, Any] = json.loads(stream.read(size))
    return found
