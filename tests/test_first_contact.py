"""What somebody sees who tries this for the first time, and makes every mistake."""

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from samedevice import __version__, cli
from samedevice.cli import installation

SAMEDEVICE = [sys.executable, "-m", "samedevice"]
CUDA = "import torch\nx = torch.zeros(3).cuda()\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    Path("a.py").write_text(CUDA)


def run(*args: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the command line in this process, as `samedevice ...` does; returns the exit code."""
    monkeypatch.setattr(sys, "argv", ["samedevice", *args])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


# the greeting


def test_without_a_command_it_says_what_to_do_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"samedevice {__version__} finds where PyTorch tensors")
    assert "\nNext: samedevice check .\n" in out
    assert len(out.splitlines()) < 15


def test_where_there_is_no_code_the_next_command_names_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    run(monkeypatch=monkeypatch)
    assert "\nNext: samedevice check PATH\n" in capsys.readouterr().out


# mistakes


def _mistakes() -> None:
    Path("empty").mkdir()
    Path("latin.py").write_bytes(b'import torch\nx = "\x93"\n')
    Path("utf16.py").write_bytes("import torch\n".encode("utf-16"))
    Path("binary.py").write_bytes(b"\0\1\2")
    Path("klingon.py").write_text("# coding: klingon\n")
    Path("broken.py").write_text("import torch\nx = (\n")
    Path("two.py").write_text('import torch\nprint "hi"\n')
    Path("loop.py").symlink_to("loop.py")
    Path("words.txt").write_text("nothing went wrong\n")
    Path("old.ipynb").write_text('{"cells": 3}')
    for name, text in {
        "key": "selct = []", "list": 'select = "x"', "rule": 'select = ["nope"]',
        "value": 'resolver = "x y"', "toml": "unsafe = maybe", "length": "line-length = 0",
    }.items():  # fmt: skip
        Path(name).mkdir()
        Path(name, "pyproject.toml").write_text(f"[tool.samedevice]\n{text}\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("chekc .", "No such command 'chekc'. Did you mean 'check'"),
        ("check --selct x", "No such option: --selct"),
        ("check --select", "Option '--select' requires an argument."),
        ("check --format xml", "Invalid value for '--format': 'xml' is not one of 'text'"),
        ("server --tcp 99999", "Invalid value for '--tcp'"),
        ("server --tcp x", "Invalid value for '--tcp'"),
        ("run", "Missing argument 'PROGRAM'."),
        ("prove a.py", "Missing argument 'AFTER'."),
        ("check --select nope a.py", "there is no rule nope; `samedevice rules` lists them"),
        ("check --ignore numpy-bondary a.py", "there is no rule numpy-bondary; did you mean"),
        ("check --resolver wrong a.py", "--resolver wrong: expected `cuda`"),
        ("check missing.py", "missing.py: cannot be read: No such file"),
        (
            "check latin.py",
            "latin.py:2: not utf-8 text: invalid start byte (byte 0x93); save it as",
        ),
        ("check utf16.py", "utf16.py: this is UTF-16 text, which Python does not read: save it as"),
        ("check binary.py", "binary.py: this is a binary file"),
        ("check klingon.py", "klingon.py: unknown encoding: klingon"),
        ("check broken.py", "broken.py:2:5: '(' was never closed"),
        ("check loop.py", "loop.py: cannot be read: "),
        ("check old.ipynb", "old.ipynb: "),
        ("check key", "[tool.samedevice] selct: no such setting; did you mean select?"),
        ("check list", "pyproject.toml: [tool.samedevice] select: expected a list of strings"),
        ("check rule", "there is no rule nope"),
        ("check value", "pyproject.toml: [tool.samedevice] resolver: expected `cuda`"),
        ("check toml", "pyproject.toml: not a TOML file: "),
        ("check length", "pyproject.toml: [tool.samedevice] line-length: expected a number"),
        (
            "fix --yes --diff a.py",
            "--yes, --diff, --patch and --interactive cannot be used together",
        ),
        ("fix - a.py", "code from standard input goes alone"),
        ("fix --report changes.txt a.py", "--report changes.txt: the name must end in .json"),
        ("fix --yes --report none/x.md a.py", "--report none/x.md: there is no folder none"),
        ("fix --modernize --prove a.py a.py", "--prove and --run need files"),
        ("fix --yes --prove none.py a.py", "none.py: no such file"),
        ("modernize --yes --diff two.py", "--yes, --diff and --patch cannot be used together"),
        ("rules nope", "there is no rule nope"),
        ("check --report sarif=none/x a.py", "--report sarif=none/x: there is no folder none"),
        ("prove --html none/x.html a.py a.py", "--html none/x.html: there is no folder none"),
        ("run --report none/x.json a.py", "--report none/x.json: there is no folder none"),
        ("explain none.txt", "none.txt: cannot be read: No such file"),
        ("explain words.txt", "words.txt: there is no traceback in it; paste all of it"),
        ("explain empty", "empty: cannot be read: Is a directory"),
        ("map -o none/map.html a.py", "none/map.html: cannot be written: there is no folder none"),
        ("run none.py", "none.py: no such file"),
        ("run --on moon a.py", "--on moon: expected virtual, cpu, cuda or auto"),
        ("run --memory-limit many a.py", "--memory-limit many: expected a size such as 4G or 500M"),
        ("run --devices 0 a.py", "--devices 0: expected 1 or more"),
        ("prove a.py none.py", "none.py: no file, folder or git revision"),
        ("prove empty empty", "the program to run was not named: --entry main.py"),
    ],
)
def test_a_mistake_gets_one_clear_message(
    command: str, message: str,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    _mistakes()
    assert run(*command.split(), monkeypatch=monkeypatch) == 2
    out, err = capfd.readouterr()
    assert err.startswith("error: "), err
    assert message in err
    assert "Traceback" not in out + err and "nothing wrong" not in err
    assert len(err.splitlines()) <= 2
    assert Path("a.py").read_text() == CUDA


def test_python_2_is_told_what_helps(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _mistakes()
    assert run("check", "two.py", monkeypatch=monkeypatch) == 2
    assert capfd.readouterr().err.splitlines()[1:] == [
        "Python 2? `samedevice modernize two.py` turns it into Python 3"
    ]


@pytest.mark.parametrize("command", ["check", "fix", "map"])
def test_a_folder_without_code(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    assert run(command, "empty", monkeypatch=monkeypatch) == 0
    assert capfd.readouterr() == ("", "there is no Python file or notebook in empty\n")


def samedevice(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SAMEDEVICE, *args], capture_output=True, text=True, env={**os.environ, **env},
        encoding=env.get("PYTHONIOENCODING"), check=False,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk() -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [*SAMEDEVICE, "check", "a.py"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        "error: the output: cannot be written: No space left on device"
    )
    assert "Traceback" not in result.stderr


def test_code_pages_of_windows() -> None:
    Path("a.py").write_text("import torch\nx = torch.zeros(3).cuda()  # 名前 ✓\n", "utf-8")
    result = samedevice("check", "a.py", PYTHONIOENCODING="cp1252")
    assert result.returncode == 1
    assert "# \\u540d\\u524d \\u2713" in result.stdout
    diff = subprocess.run(
        [*SAMEDEVICE, "fix", "--diff", "a.py"],
        capture_output=True, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, check=False,
    ).stdout  # fmt: skip
    assert "# 名前 ✓".encode() in diff  # a patch has the bytes of the file
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", "samedevice")
    assert "a → b ↳ 名".encode("cp1252", "samedevice") == b"a -> b > \\u540d"


@pytest.mark.parametrize("command", ["", "rules", "check .", "explain e.txt", "doctor", "map ."])
def test_forty_columns(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Tables are no wider than the terminal; a finding stays a line, for editors that read it."""
    _without(monkeypatch, "torch")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path("e.txt").write_text("RuntimeError: Expected all tensors to be on the same device\n")
    run(*command.split(), monkeypatch=monkeypatch)
    out, err = capfd.readouterr()
    lines = re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()
    free = ("a.py:", "    = a.py:", "  samedevice", "samedevice ", "Everything")
    assert [line for line in lines if len(line) > 40 and not line.startswith(free)] == []
    assert "Traceback" not in err


def test_what_is_not_installed_is_named_with_the_command_that_brings_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("hidden")  # what is below the working directory has no effect
    for name in ("torch", "pygls", "lsprotocol"):
        (folder / name).mkdir()
        text = f'raise ModuleNotFoundError("No module named {name!r}", name="{name}")\n'
        (folder / name / "__init__.py").write_text(text)
    hidden = str(folder)
    served = samedevice("server", PYTHONPATH=hidden)
    assert served.returncode == 2
    assert served.stderr.startswith("error: lsprotocol is missing: ")
    assert "pip install" in served.stderr
    ran = samedevice("run", "a.py", PYTHONPATH=hidden)
    assert ran.returncode == 2
    assert "torch is needed to run programs" in ran.stderr and "pip install torch" in ran.stderr
    fixed = samedevice("fix", "--yes", "--run", "a.py", ".", PYTHONPATH=hidden)
    assert fixed.returncode == 2
    assert Path("a.py").read_text() == CUDA


# doctor


def _without(monkeypatch: pytest.MonkeyPatch, *absent: str) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name in absent:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    asked = {"server": ["pygls>=2", "lsprotocol"], "modernize": ["bowler>=0.9"]}
    monkeypatch.setattr(installation, "_requirements", lambda extra: asked.get(extra, []))


def test_doctor_names_what_is_missing_and_the_command_for_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _without(monkeypatch, "torch", "pygls", "lsprotocol")
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", found)  # where the command of this environment is
    assert run("doctor", monkeypatch=monkeypatch) == 0
    out, err = capfd.readouterr()
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["missing", "server"])
    assert "pygls, lsprotocol: for the editors' language server" in lines[at]
    assert "-m pip install" in lines[at + 1] and "[server]" in lines[at + 1]
    assert any(line.split()[:2] == ["missing", "torch"] for line in lines)
    assert err.startswith("check, fix and map work; others need what is missing: torch,")


def test_doctor_in_json(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    _without(monkeypatch, "torch")
    assert run("doctor", "--json", monkeypatch=monkeypatch) == 0
    told = {check["name"]: check for check in json.loads(capfd.readouterr().out)["checks"]}
    assert told["samedevice"]["detail"].startswith(__version__)
    assert told["virtual accelerator"]["state"] == "missing"
    assert "pip install" in told["torch"]["get"]


def test_doctor_finds_settings_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "torch")
    Path("pyproject.toml").write_text("[tool.samedevice]\nselct = []\n")
    assert run("doctor", monkeypatch=monkeypatch) == 2


def test_doctor_tells_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(tmp_path / "kept"))
    assert installation._cache().detail.startswith("0 projects, 0.0 MB in ")
    samedevice("check", "a.py")
    assert installation._cache().detail.startswith("1 project, 0.0 MB in ")


def test_doctor_tells_of_a_torch_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken" / "torch").mkdir(parents=True)
    code = 'raise OSError("libcudart.so.12: cannot open shared object file")\n'
    (tmp_path / "broken" / "torch" / "__init__.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path / "broken"))
    monkeypatch.setattr(metadata, "version", lambda name: "2.13.0")
    (check,) = installation._torch()
    assert check.state == "wrong"
    assert "libcudart.so.12: cannot open shared object file" in check.detail


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/me/.local/share/pipx/venvs/samedevice", "pipx inject samedevice pygls"),
        ("/home/me/.local/share/uv/tools/samedevice", "uv tool install --with pygls samedevice"),
    ],
)
def test_tools_in_environments_of_their_own(
    prefix: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert installation.install("pygls", extra="server") == command


@pytest.mark.torch
@pytest.mark.slow
def test_doctor_runs_a_program_on_the_virtual_accelerator() -> None:
    torch = pytest.importorskip("torch")
    checks = {check.name: check for check in installation._torch()}
    assert checks["torch"].detail.startswith(torch.__version__)
    assert checks["virtual accelerator"].state == "ok"
    assert checks["devices"].state == ("ok" if torch.cuda.is_available() else "note")


def test_rules_by_their_old_names(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """They work in settings, flags, comments and baselines, and a note says the new one."""
    Path("a.py").write_text(
        "import torch\n\ndevice = torch.device('cuda')\nnet = torch.nn.Linear(2, 2).to(device)\n"
        "x = net(torch.ones(2, 2, device=device)).detach().numpy()\n"
    )
    run("check", "--select", "host-boundary", "--format", "sarif", monkeypatch=monkeypatch)
    out, err = capfd.readouterr()
    assert err.startswith("--select: host-boundary is called not-moved-to-cpu now\n")
    (rule,) = json.loads(out)["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["deprecatedIds"]) == ("not-moved-to-cpu", ["host-boundary"])
    select = ("check", "--select", "not-moved-to-cpu", "--baseline", "old.txt")
    run(*select, "--write-baseline", monkeypatch=monkeypatch)
    listed = Path("old.txt").read_text()
    assert "\tnot-moved-to-cpu\t" in listed
    Path("old.txt").write_text(listed.replace("not-moved-to-cpu", "host-boundary"))
    assert run(*select, monkeypatch=monkeypatch) == 0
    run("rules", "host-boundary", monkeypatch=monkeypatch)
    assert capfd.readouterr().out.startswith("not-moved-to-cpu\n")
    commented = (
        Path("a.py").read_text().replace("()\n", "()  # samedevice: ignore[host-boundary]\n")
    )
    Path("b.py").write_text(commented)
    assert run("check", "--select", "not-moved-to-cpu,misspelt-suppression", "b.py",
               monkeypatch=monkeypatch) == 0  # fmt: skip
    told = capfd.readouterr().out
    assert "note [misspelt-suppression] this comment names a rule by an old name" in told
    assert "write not-moved-to-cpu" in told
