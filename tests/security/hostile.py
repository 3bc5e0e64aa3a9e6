"""A folder that means harm, and how commands are run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

CODE = """\
import torch

model = torch.nn.Linear(2, 2).cuda()
x = torch.ones(2)
print(model(x).sum().item())
"""

#: What could be imported if it were installed.
_OPTIONAL = {"bowler", "fissix", "github", "gitlab", "pygls", "lsprotocol", "ray", "torch", "numpy",
             "tomli", "sitecustomize", "usercustomize", "conftest", "setup", "device", "IPython",
             "readline", "colorama", "exceptiongroup", "pathspec", "jupyter"}  # fmt: skip


@dataclass(frozen=True)
class Trap:
    """A file that is written to by what must not run."""

    file: Path

    def sprung(self) -> list[str]:
        """Return what has run since the last time it was asked."""
        if not self.file.exists():
            return []
        names = sorted(set(self.file.read_text().split()))
        self.file.unlink()
        return names

    def python(self, name: str) -> str:
        """Return the code of a module that springs it."""
        return f"with open({str(self.file)!r}, 'a') as trap:\n    trap.write({name!r} + '\\n')\n"

    def shell(self, name: str) -> str:
        """Return a command of the shell that springs it."""
        return f"echo {name} >> {self.file}"

    def script(self, path: Path, name: str) -> Path:
        """Write a program that springs it and passes its input on."""
        path.write_text(f"#!/bin/sh\n{self.shell(name)}\ncat\n")
        path.chmod(0o755)
        return path


def module_names() -> list[str]:
    """Return the names of all modules that an import could look for."""
    return sorted(
        name
        for name in {*sys.stdlib_module_names, *metadata.packages_distributions(), *sys.modules,
                     *_OPTIONAL}
        if name.isidentifier() and name not in ("samedevice", "main", "__main__")
    )  # fmt: skip


def plant(folder: Path, trap: Trap, names: Iterable[str]) -> None:
    """Write a module of each name that springs the trap."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.py").write_text(trap.python(name))


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment with a home of its own, in which nothing is set for Python or git."""
    home.mkdir(exist_ok=True)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "GIT_", "COVERAGE", "XDG_"))
    }
    return {**kept, "HOME": str(home), "SAMEDEVICE_CACHE_DIR": str(home / "cache"), **more}


def run(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], data: str = "", seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command; it has to end in time and without a fault."""
    done = subprocess.run(
        list(words), cwd=cwd, env=dict(env), input=data, capture_output=True, timeout=seconds,
        encoding="utf-8", errors="surrogateescape", check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert "fault in samedevice" not in done.stderr, done.stderr
    return done


def samedevice(*words: str) -> list[str]:
    """Return a command of samedevice, as `python -m` starts it: from the working directory."""
    return [sys.executable, "-m", "samedevice", *words]
