"""What is installed here, what is missing, and how to get it."""

from __future__ import annotations

import json
import locale
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlparse

from .. import __version__
from ..migration import cache
from ..outside import git, python
from ..outside.programs import find
from ..reading import config
from ..reading.config import ConfigError

State = Literal["ok", "missing", "wrong", "note"]

#: What an extra is good for, by its name in pyproject.toml.
_EXTRAS = {
    "server": "the editors' language server",
    "modernize": "Python 2 files: samedevice modernize",
    "github": "pull requests at GitHub: samedevice batch",
    "gitlab": "merge requests at GitLab: samedevice batch",
}
_EDITORS = {"code": "VS Code", "codium": "VSCodium", "nvim": "Neovim", "hx": "Helix",
            "emacs": "Emacs", "zed": "Zed"}  # fmt: skip
_PATIENCE = 120.0  # seconds for an import of torch, which may come from a slow disk

_TORCH = """
import json, torch
found = {"version": torch.__version__, "cuda": torch.version.cuda,
         "hip": getattr(torch.version, "hip", None), "devices": []}
for name in ("cuda", "xpu", "mps", "npu", "hpu"):
    kind = getattr(torch, name, None)
    try:
        if kind is not None and kind.is_available():
            count = kind.device_count()
            named = getattr(kind, "get_device_name", None)
            found["devices"] += [f"{name}:{i}" + (f" {named(i)}" if named else "")
                                 for i in range(count)]
    except Exception as error:
        found["devices"].append(f"{name}: {error}")
print(json.dumps(found))
"""
_VIRTUAL = """
import torch
x = torch.ones(3, device="cuda")
assert x.is_cuda and (x + 1).sum().item() == 6
try:
    x + torch.ones(3)
except RuntimeError:
    pass
else:
    raise SystemExit("two places met, and nothing was said")
"""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `get` is the command that brings what is missing."""

    name: str
    state: State
    detail: str
    get: str = ""


@dataclass(frozen=True)
class Checks:
    """All of them, as `--json` writes them."""

    checks: tuple[Check, ...]


def examine(path: str = ".") -> list[Check]:
    """Look at everything. torch is imported in processes of its own, if it is there."""
    return [
        Check("samedevice", "ok", f"{__version__} in {Path(__file__).parents[1]}"),
        *_python(),
        *_command(),
        *_torch(),
        *_extras(),
        *_editors(),
        _git(path),
        _sandbox(),
        _cache(),
        _settings(path),
    ]


def dump(checks: Sequence[Check]) -> str:
    """Return the checks as JSON."""
    return json.dumps({"version": 1, **asdict(Checks(tuple(checks)))}, indent=2)


def summary(checks: Sequence[Check]) -> str:
    """Return one sentence about all of them."""
    wrong = [check.name for check in checks if check.state == "wrong"]
    missing = [check.name for check in checks if check.state == "missing"]
    if wrong:
        return f"something is wrong with: {', '.join(wrong)}"
    if missing:
        return f"check, fix and map work; others need what is missing: {', '.join(missing)}"
    return "everything is here"


# -- what runs this -----------------------------------------------------------------------------


def _python() -> Iterator[Check]:
    encoding = locale.getpreferredencoding(False)
    yield Check(
        "python",
        "ok" if sys.version_info >= (3, 10) else "wrong",
        f"{platform.python_version()} ({sys.executable}) on {platform.system()} "
        f"{platform.machine()}, {encoding}",
    )


def _command() -> Iterator[Check]:
    """Tell whether the shell and the editors find this installation."""
    found = shutil.which("samedevice")
    scripts = Path(sys.executable).parent
    if found is None:
        yield Check(
            "command", "missing", "the shell does not find samedevice: its folder is not in PATH",
            f'export PATH="{scripts}:$PATH"' if os.name != "nt" else f"set PATH={scripts};%PATH%",
        )  # fmt: skip
    elif not os.path.samefile(Path(found).resolve().parent, scripts.resolve()) and (
        Path(found).parent != scripts
    ):
        yield Check("command", "note", f"{found}, which is another installation than this one")
    else:
        yield Check("command", "ok", found)


def install(*names: str, extra: str = "") -> str:
    """Return the command that adds packages, or an extra of samedevice, to this installation."""
    prefix = Path(sys.prefix).as_posix()
    if "/pipx/" in prefix:
        return f"pipx inject samedevice {' '.join(names)}"
    if "/uv/tools/" in prefix:
        return f"uv tool install --with {','.join(names)} samedevice"
    pip = f"{_quoted(sys.executable)} -m pip install"
    if not extra:
        return f"{pip} {' '.join(names)}"
    folder, editable = _origin()
    if folder:
        return f"{pip} {'-e ' if editable else ''}{_quoted(f'{folder}[{extra}]')}"
    return f"{pip} {_quoted(f'samedevice[{extra}]')}"


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w@%+=:,./\\-]+", text) else f'"{text}"'


def _origin() -> tuple[str, bool]:
    """Return the folder that samedevice was installed from, if it was one, and if for editing."""
    try:
        text = metadata.distribution("samedevice").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return "", False
    known = json.loads(text) if text else {}
    url = urlparse(known.get("url", ""))
    if url.scheme != "file" or not os.path.isdir(unquote(url.path)):
        return "", False
    return unquote(url.path), bool(known.get("dir_info", {}).get("editable"))


# -- torch --------------------------------------------------------------------------------------


def _torch() -> Iterator[Check]:
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        for name in ("torch", "virtual accelerator"):
            yield Check(
                name, "missing", "needed by run, prove, fix --run and fix --prove only",
                install("torch", extra="prove"),
            )  # fmt: skip
        return
    known = _probe()
    if isinstance(known, str):
        yield Check("torch", "wrong", f"{version} cannot be imported: {known}",
                    install("--force-reinstall", "torch"))  # fmt: skip
        return
    build = (
        f"for CUDA {known['cuda']}" if known["cuda"]
        else f"for ROCm {known['hip']}" if known["hip"]
        else "for the CPU"
    )  # fmt: skip
    yield Check("torch", "ok", f"{known['version']}, built {build}")
    devices = known["devices"]
    detail = ", ".join(devices) if devices else "the CPU only; a virtual accelerator needs no more"
    if not devices and (known["cuda"] or known["hip"]):
        detail = f"torch was built {build} but finds no device: is its driver there (nvidia-smi)?"
    yield Check("devices", "ok" if devices else "note", detail)
    yield _virtual(version)


def _probe() -> dict[str, Any] | str:
    """Import torch in a process of its own; returns what it says, or why it cannot."""
    try:
        done = subprocess.run(
            python.code(_TORCH), capture_output=True, text=True, timeout=_PATIENCE,
            errors="replace",
        )  # fmt: skip
        if done.returncode == 0:
            known: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return known
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it crashed"
    except subprocess.TimeoutExpired:
        return f"it took more than {_PATIENCE:g} seconds"
    except (OSError, ValueError, IndexError) as error:
        return str(error)


def _virtual(version: str) -> Check:
    """Run a small program on the virtual accelerator."""
    from ..prove.process import Limits
    from ..prove.run import Program, Settings, run_program

    # Not what the working directory, or PYTHONPATH below it, has for torch's modules.
    env = {"PYTHONPATH": os.pathsep.join(python.path())}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "program.py")
        script.write_text(_VIRTUAL, "utf-8")
        result = run_program(
            Program(str(script)),
            cwd=Path(folder),
            settings=Settings(limits=Limits(seconds=_PATIENCE), record=False, env=env),
        )
    name = "virtual accelerator"
    if result.passed:
        return Check(name, "ok", f"a small program ran on it in {result.seconds:.1f} s")
    least = next(iter(re.findall(r"torch>=([\d.]+)", " ".join(_requirements("prove")))), "")
    old = least and _release(version) < _release(least)
    why = f"torch {version} is older than {least}" if old else result.message or result.status
    command = install(f'"torch>={least}"', extra="prove") if old else ""
    return Check(name, "missing" if old else "wrong", why, command)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


# -- the rest -----------------------------------------------------------------------------------


def _requirements(extra: str) -> list[str]:
    """Return what an extra of samedevice asks for."""
    try:
        known = metadata.requires("samedevice") or []
    except metadata.PackageNotFoundError:
        return []
    mark = re.compile(rf"extra\s*==\s*['\"]{extra}['\"]")
    return [line.partition(";")[0].strip() for line in known if mark.search(line)]


def _extras() -> Iterator[Check]:
    for extra, purpose in _EXTRAS.items():
        needed = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in _requirements(extra)]
        if not needed:
            continue
        there, absent = [], []
        for name in needed:
            try:
                there.append(f"{name} {metadata.version(name)}")
            except metadata.PackageNotFoundError:
                absent.append(name)
        if absent:
            command = install(*absent, extra=extra)
            yield Check(extra, "missing", f"{', '.join(absent)}: for {purpose}", command)
        else:
            yield Check(extra, "ok", ", ".join(there))


def _editors() -> Iterator[Check]:
    found = [name for command, name in _EDITORS.items() if shutil.which(command)]
    if found:
        yield Check("editors", "note", f"{', '.join(found)}: docs/editors.md has their settings")


def _git(path: str) -> Check:
    if not find("git"):
        return Check("git", "note", "not found; samedevice batch and prove REVISION need it")
    version = git.ask_user("--version").removeprefix("git version ")
    try:
        git.ask(path, "rev-parse", "--is-inside-work-tree")
        where = "in a repository"
    except ValueError:
        where = "not in a repository"
    return Check("git", "ok", f"{version}, {where}")


def _sandbox() -> Check:
    """Tell what shuts in the programs that are executed."""
    from ..batch.sandbox import sandbox

    own = "run, prove and fix --run execute programs with your rights"
    if sandbox() == "bwrap":
        return Check("sandbox", "ok", f"bubblewrap isolates the proofs of a batch; {own}")
    proofs = "proofs of a batch can write outside of their folder"
    return Check("sandbox", "note", f"no bubblewrap that works: {proofs}; {own}")


def _cache() -> Check:
    """Tell where the cache of findings is, how large, and whether it can be written."""
    try:
        folder = cache.folder()
        sizes = [entry.stat().st_size for entry in cache.entries()]
    except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home
        return Check("cache", "note", f"there is none: {error}")
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(nearest, os.W_OK):
        return Check("cache", "note", f"{folder} cannot be written: no check remembers anything")
    projects = f"{len(sizes):,} project{'' if len(sizes) == 1 else 's'}"
    size = f"{sum(sizes) / 1e6:.1f} MB"
    return Check(
        "cache", "ok", f"{projects}, {size} in {folder}; samedevice cache clear empties it"
    )


def _settings(path: str) -> Check:
    """Tell which settings hold for a folder."""
    try:
        settings = config.load([path])
    except ConfigError as error:
        return Check("settings", "wrong", str(error))
    changed = [
        name for name in config.Config.__dataclass_fields__
        if name != "torch_floor" and getattr(settings, name) != getattr(config.Config(), name)
    ]  # fmt: skip
    words = f"pyproject.toml sets {', '.join(changed)}" if changed else "no pyproject.toml sets any"
    return Check("settings", "ok", words)
