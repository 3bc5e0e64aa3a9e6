"""The rooms import in one direction only, and heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import samedevice
from samedevice.inference.nodes import PlaceVar

PACKAGE = Path(samedevice.__file__).parent

_READ = {"notebook", "project", "run_order", "source", "syntax", "wording"}
_CORE = {"finding", "inference", "torchfacts"} | {f"reading.{name}" for name in _READ | {"layout"}}
_CHECKED = (
    _CORE
    | {"repair", "rules", "verify", "reading.config", "reading.suppress"}
    | {f"migration.{name}" for name in ("cache", "check", "earlier", "parallel", "plain")}
)
_FIXED = _CHECKED | {"rewrite", "reading.files", "reading.reader", "migration.write"}

#: Folders whose modules are rooms of their own, since what they hold comes one after the other.
DIVIDED = ("migration", "reading")

#: For each room the rooms, or modules of rooms, that it may import.
ROOMS: dict[str, set[str]] = {
    "finding": set(),
    "torchfacts": set(),
    "outside": set(),
    "reading": set(),
    "reading.layout": set(),
    "reading.matching": set(),
    "reading.patterns": set(),
    "reading.requirements": set(),
    "reading.run_order": set(),
    "reading.seen": set(),
    "reading.syntax": set(),
    "reading.wording": set(),
    "reading.notebook": {"reading.run_order"},
    "reading.source": {"finding", "reading.notebook", "reading.run_order", "reading.syntax"},
    "reading.settings": {"reading.source"},
    "reading.lines": {"finding", "reading.matching"},
    "reading.config": {
        "finding",
        "reading.patterns",
        "reading.requirements",
        "reading.source",
    },
    "reading.files": {"reading.config", "reading.patterns", "reading.source"},
    "reading.project": {
        "reading.layout",
        "reading.patterns",
        "reading.seen",
        "reading.settings",
        "reading.source",
        "reading.syntax",
    },
    "reading.suppress": {"finding", "reading.config", "reading.patterns", "reading.source"},
    "reading.reader": {
        "reading.config",
        "reading.files",
        "reading.layout",
        "reading.project",
        "reading.source",
    },  # fmt: skip
    "inference": {
        "finding",
        "torchfacts",
        "reading.project",
        "reading.seen",
        "reading.settings",
        "reading.syntax",
        "reading.wording",
    },
    "repair": {
        "finding",
        "inference",
        "torchfacts",
        "reading.project",
        "reading.syntax",
        "reading.wording",
    },
    "rules": {
        "finding",
        "inference",
        "repair",
        "torchfacts",
        "reading.suppress",
        "reading.syntax",
        "reading.wording",
    },  # fmt: skip
    "verify": {
        "finding",
        "inference",
        "repair.importable",
        "torchfacts",
        "reading.matching",
        "reading.project",
        "reading.syntax",
    },  # fmt: skip
    "rewrite": {
        "finding",
        "rules",
        "verify.erase",
        "reading.notebook",
        "reading.source",
        "reading.syntax",
    },  # fmt: skip
    "migration": set(),
    "migration.plain": set(),
    "migration.parallel": {"outside"},
    "migration.write": {"reading.source"},
    "migration.originals": {"finding", "reading.matching", "reading.source"},
    "migration.touched": {"reading.lines", "reading.source", "reading.syntax"},
    "migration.earlier": {"finding", "inference"},
    "migration.cache": {
        "__init__",
        "finding",
        "inference",
        "verify",
        "migration.earlier",
        "migration.plain",
        "reading.project",
    },  # fmt: skip
    "migration.check": {
        "finding",
        "inference",
        "repair",
        "rules",
        "verify",
        "migration.cache",
        "migration.earlier",
        "migration.parallel",
        "reading.config",
        "reading.patterns",
        "reading.project",
        "reading.source",
        "reading.suppress",
    },  # fmt: skip
    "migration.glance": {
        "finding",
        "inference",
        "rules",
        "migration.check",
        "migration.earlier",
        "migration.touched",
        "reading.config",
        "reading.lines",
        "reading.project",
        "reading.source",
    },  # fmt: skip
    "migration.baseline": {
        "finding",
        "rules",
        "migration.check",
        "migration.write",
        "reading.config",
        "reading.project",
        "reading.source",
    },  # fmt: skip
    "migration.trials": _CHECKED,
    "migration.homes": {"finding", "reading.project"},
    "migration.outcome": {
        "finding",
        "inference",
        "migration.originals",
        "migration.write",
        "reading.config",
        "reading.source",
    },  # fmt: skip
    "migration.applying": {
        "finding",
        "migration.outcome",
        "reading.config",
        "reading.project",
        "reading.source",
        "rewrite",
    },  # fmt: skip
    "migration.withdrawing": {
        "finding",
        "migration.check",
        "migration.outcome",
        "migration.trials",
        "reading.config",
        "reading.project",
        "verify",
    },  # fmt: skip
    "migration.migrate": _FIXED
    | {"reading.seen"}
    | {
        f"migration.{name}"
        for name in ("applying", "homes", "originals", "outcome", "trials", "withdrawing")
    },
    "migration.modernize": {
        "finding",
        "migration.migrate",
        "migration.write",
        *(f"reading.{name}" for name in ("config", "files", "project", "reader", "source")),
    },  # fmt: skip
    "migration.runs": {
        "finding",
        "inference",
        "prove",
        "migration.migrate",
        "reading.project",
        "reading.seen",
        "reading.syntax",
    },  # fmt: skip
    "migration.by_running": {
        "finding",
        "inference",
        "repair",
        "prove",
        "migration.migrate",
        "migration.runs",
        "reading.config",
        "reading.project",
        "reading.seen",
    },  # fmt: skip
    "prove": {"outside", "reading.notebook", "reading.seen"},
    "explain": {
        "finding",
        "inference",
        "prove",
        "migration.check",
        "reading.config",
        "reading.project",
        "reading.source",
    },  # fmt: skip
    "report": {
        "finding",
        "rules",
        "migration.baseline",
        "migration.check",
        "migration.migrate",
        *(f"reading.{name}" for name in ("config", "lines", "matching", "project", "source")),
    },  # fmt: skip
    "live": {
        "explain",
        "finding",
        "prove",
        "report",
        "migration.migrate",
        *(f"reading.{name}" for name in ("config", "files", "project", "source")),
    },  # fmt: skip
    "map": _CHECKED | {"report", "migration.migrate", "migration.write"},
    "batch": _FIXED
    | {"__init__", "map", "outside", "prove", "report"}
    | {"migration.migrate", "migration.modernize", "reading.patterns", "reading.requirements"},
    "server": _FIXED
    | {"report", "reading.lines"}
    | {"migration.baseline", "migration.glance", "migration.migrate"},
    "cli": _FIXED
    | {"batch", "explain", "map", "outside", "prove", "report", "server"}
    | {
        f"migration.{name}" for name in ("baseline", "by_running", "glance", "migrate", "modernize")
    },
    "__main__": {"cli", "outside"},
    "__init__": set(),
}

#: Modules that may import more than their room may.
ALSO = {
    # one rule as a codemod of libcst's own runner: check and rewrite in one step
    "rewrite/codemod.py": {"inference", "reading.project"},
}

#: Where a heavy or optional library may be imported.
LIBRARIES = {
    "torch": ("prove/", "torchfacts/generate.py", "torchfacts/releases.py"),
    "libcst": ("rewrite/",),
    "github": ("batch/forge_github.py",),
    "gitlab": ("batch/forge_gitlab.py",),
    "pyforgejo": ("batch/forge_gitea.py",),
    "atlassian": ("batch/forge_bitbucket.py",),
    "azure": ("batch/forge_azure.py",),
    "jinja2": ("map/",),
    "resvg_py": ("map/commands.py",),
}


@cache
def _imported(path: Path) -> list[tuple[int, str]]:
    """Return the line and the dotted absolute name of each import, wherever in the file it is."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    package = ["samedevice", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            module = importlib.util.resolve_name(relative, ".".join(package))
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def _files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    inside = parts[0] in DIVIDED and parts[1] != "__init__"
    return ".".join(parts[: 2 if inside else 1])


def _rooms(targets: set[str]) -> set[str]:
    """Return the rooms that `targets` are, or are modules of."""
    return {target if target in ROOMS else target.partition(".")[0] for target in targets}


def test_every_room_has_its_arrows() -> None:
    assert {_room(path) for path in _files()} <= set(ROOMS)


def test_arrows_make_no_circle() -> None:
    waiting = dict(ROOMS)
    while waiting:
        free = {room for room, targets in waiting.items() if not _rooms(targets) & set(waiting)}
        assert free, f"these rooms may import each other in a circle: {sorted(waiting)}"
        waiting = {room: targets for room, targets in waiting.items() if room not in free}


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_room_imports_along_its_arrows(room: str) -> None:
    wrong = []
    for path in _files():
        if _room(path) != room:
            continue
        name = path.relative_to(PACKAGE).as_posix()
        allowed = ROOMS[room] | ALSO.get(name, set()) | {room}
        for line, module in _imported(path):
            first, _, target = module.partition(".")
            inside = any(f"{target}.".startswith(f"{each}.") for each in allowed)
            if first == "samedevice" and not inside and not target.startswith("__"):
                wrong.append(f"{name}:{line}: {module}")
    assert not wrong


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_library_is_imported_in_its_rooms_only(library: str) -> None:
    wrong = []
    for path in _files():
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(LIBRARIES[library]):
            continue
        for line, module in _imported(path):
            if module.partition(".")[0] == library:
                wrong.append(f"{name}:{line}: {module}")
    assert not wrong


def test_an_import_against_the_arrows_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "some.py").write_text("def f():\n    from ..migration import migrate\n")
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    with pytest.raises(AssertionError, match=r"rules/some\.py:2: samedevice\.migration"):
        test_room_imports_along_its_arrows("rules")


#: What rules may import of the inference: its answers, and the events and values that these name.
_ANSWERS = {
    "Solution", "demands", "events", "forced", "nodes.Cause", "nodes.Location", "open_events",
    "set_by_default",
    "nodes.Place", "nodes.PlaceVar", "objects", "probes", "sites", "solution.Solution", "values",
}  # fmt: skip
#: How the state of an evaluation, or of the graph, is come by. A fix has a reason, too.
_STATE = {"interpreter", "graph"} | set(PlaceVar.__slots__) - {"name", "reason"}


def _rules() -> list[Path]:
    return sorted((PACKAGE / "rules").glob("*.py"))


@pytest.mark.parametrize("path", _rules(), ids=lambda path: path.stem)
def test_rules_see_events_and_answers_only(path: Path) -> None:
    wrong = [
        f"{line}: imports {name}"
        for line, name in _imported(path)
        if name.startswith("samedevice.inference.")
        and not any(f"{name}.".startswith(f"samedevice.inference.{each}.") for each in _ANSWERS)
    ]
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    asked = {node.func for node in nodes if isinstance(node, ast.Call)}  # a question, not a state
    wrong += [
        f"{node.lineno}: reads .{node.attr}"
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in _STATE and node not in asked
    ]
    wrong += [
        f"{node.lineno}: finds a node's representative"
        for node in nodes
        if isinstance(node, ast.Call) and not node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr == "find"
    ]
    assert not wrong, (
        "add a method to inference/answers.py or inference/solution.py:\n" + "\n".join(wrong)
    )
