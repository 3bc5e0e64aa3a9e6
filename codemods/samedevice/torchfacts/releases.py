"""Which names of the accelerator interfaces exist in which release of torch.

`releases.json` keeps the names of the oldest release and what each later one added and removed. It
is read off the sources of each release, without importing them:

    python -m samedevice.torchfacts.releases 2.6 FOLDER   # FOLDER holds torch/, as a wheel does
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

DATA = Path(__file__).with_name("releases.json")

#: Packages whose names are read, with those of their modules.
INTERFACES = (
    "torch.accelerator",
    "torch.amp",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.cuda",
    "torch.mps",
    "torch.xpu",
)

#: Questions that raise on a machine without CUDA before this release, and are answered no since.
QUIET_SINCE = {"torch.cuda.is_bf16_supported": (2, 5)}


def release(version: str) -> tuple[int, int]:
    """Return (major, minor) of "2.6", "2.6.0+cu124" or "2.10.0a0"; raises `ValueError`."""
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None:
        raise ValueError(f"not a torch version: {version!r}")
    return int(match[1]), int(match[2])


@cache
def all_releases() -> dict[tuple[int, int], frozenset[str]]:
    """Return the dotted names of every known release."""
    names: frozenset[str] = frozenset()
    releases = {}
    for version, change in json.loads(DATA.read_text(encoding="utf-8")).items():
        added, removed = (
            {f"{n}.{s}" for n, shorts in change[what].items() for s in shorts.split()}
            for what in ("added", "removed")
        )
        names = (names | added) - removed
        releases[release(version)] = names
    return releases


def names_in(version: str) -> frozenset[str]:
    """Return the names of a release; of the nearest known one where it is not known itself."""
    wanted = release(version)
    known = all_releases()
    return known[max((r for r in known if r <= wanted), default=min(known))]


def read_names(path: Path) -> set[str]:
    """Return the public names that the source of a module binds, by what it writes itself.

    That is `__all__`, what it defines, the switches of a module of `torch.backends`, and what a
    package takes over from its own modules or from `torch._C`; what only serves it (typing, os) is
    none of them.
    """
    package = path.name == "__init__.py"
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and _holds_switches(node):
            names |= {t.id for t in _targets(node.body)}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.module and package:
            names |= {a.asname or a.name for a in node.names if a.name != "*"}
        elif isinstance(node, ast.Assign):
            targets = {t.id for t in _targets([node])}
            if targets == {"__all__"}:
                names |= set(ast.literal_eval(node.value))
            elif isinstance(node.value, ast.Attribute) and package:
                names |= targets
    return {n for n in names if not n.startswith("_")}


def _holds_switches(node: ast.ClassDef) -> bool:
    """Whether a class stands for its module: `torch.backends.cudnn.benchmark` is in its body."""
    return any(isinstance(base, ast.Name) and base.id == "PropModule" for base in node.bases)


def _targets(body: Iterable[ast.stmt]) -> Iterator[ast.Name]:
    """Yield the names that statements assign to."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield from (t for t in node.targets if isinstance(t, ast.Name))


def read_release(folder: Path) -> set[str]:
    """Return the dotted names of the torch whose sources are under `folder`."""
    names = set()
    for interface in INTERFACES:
        for path in sorted((folder / interface.replace(".", "/")).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
            if not any(part.startswith("_") for part in parts):
                names |= {f"{'.'.join(parts)}.{name}" for name in read_names(path)}
    return names


def pack(releases: dict[tuple[int, int], frozenset[str]]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the releases as changes, oldest first."""
    packed = {}
    before: frozenset[str] = frozenset()
    for version, names in sorted(releases.items()):
        packed[f"{version[0]}.{version[1]}"] = {
            "added": _by_namespace(names - before),
            "removed": _by_namespace(before - names),
        }
        before = names
    return packed


def _by_namespace(names: frozenset[str]) -> dict[str, str]:
    shorts: dict[str, list[str]] = {}
    for name in sorted(names):
        namespace, _, short = name.rpartition(".")
        shorts.setdefault(namespace, []).append(short)
    return {namespace: " ".join(found) for namespace, found in shorts.items()}


def main(arguments: list[str] | None = None) -> int:
    """Read one release into `releases.json`."""
    parser = argparse.ArgumentParser(description="Read the names of one torch release.")
    parser.add_argument("version")
    parser.add_argument("folder", type=Path, help="holds torch/, as an unpacked wheel does")
    options = parser.parse_args(arguments)
    releases = dict(all_releases()) if DATA.exists() else {}
    names = read_release(options.folder)
    if not names:
        parser.error(f"no torch sources under {options.folder}")
    releases[release(options.version)] = frozenset(names)
    DATA.write_text(json.dumps(pack(releases), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
