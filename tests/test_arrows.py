"""The rooms import in one direction only, and heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import samedevice
from samedevice.places.graph import PlaceVar

PACKAGE = Path(samedevice.__file__).parent

_CORE = {
    "finding", "layout", "notebook", "places", "project", "run_order", "source", "syntax",
    "torchfacts",
}  # fmt: skip
_CHECKED = _CORE | {
    "cache", "check", "config", "importable", "naming", "parallel", "plain", "rules", "suppress",
    "verify",
}  # fmt: skip
_FIXED = _CHECKED | {"erase", "reading", "rewrite", "write", "files"}

#: For each room the rooms that it may import.
ROOMS: dict[str, set[str]] = {
    "finding": set(),
    "syntax": set(),
    "run_order": set(),
    "notebook": {"run_order"},
    "erase": {"syntax", "torchfacts"},
    "torchfacts": set(),
    "outside": set(),
    "prove": {"notebook", "outside"},
    "source": {"finding", "notebook", "run_order", "syntax"},
    "write": {"source"},
    "requirements": set(),
    "config": {"finding", "requirements", "source"},
    "layout": set(),
    "project": {"layout", "source", "syntax"},
    "patterns": set(),
    "files": {"config", "patterns", "source"},
    "suppress": {"config", "finding", "patterns", "source"},
    "places": {"finding", "project", "syntax", "torchfacts"},
    "importable": {"project", "syntax"},
    "naming": {"finding", "importable", "places", "project", "syntax", "torchfacts"},
    "rules": {"finding", "naming", "places", "suppress", "syntax", "torchfacts"},
    "plain": set(),
    "parallel": {"outside"},
    "cache": {"__init__", "finding", "plain", "project", "verify"},
    "reading": {"config", "files", "layout", "project", "source"},
    "check": {
        "cache",
        "config",
        "finding",
        "naming",
        "parallel",
        "places",
        "project",
        "rules",
        "source",
        "suppress",
        "verify",
    },  # fmt: skip
    "matching": set(),
    "lines": {"finding", "matching"},
    "originals": {"finding", "matching", "source"},
    "touched": {"lines", "source", "syntax"},
    "glance": {"check", "config", "finding", "lines", "places", "project", "rules", "touched"},
    "baseline": {"check", "config", "finding", "project", "rules", "source", "write"},
    "rewrite": {"erase", "finding", "notebook", "rules", "source", "syntax"},
    "verify": {
        "finding",
        "importable",
        "matching",
        "places",
        "project",
        "syntax",
        "torchfacts",
    },  # fmt: skip
    "trials": _CHECKED,
    "migrate": _FIXED | {"originals", "trials"},
    "repair": {"config", "finding", "migrate", "naming", "places", "project", "prove"},
    "explain": {"check", "config", "finding", "places", "project", "prove", "source"},
    "report": {
        "baseline",
        "check",
        "config",
        "finding",
        "lines",
        "matching",
        "migrate",
        "project",
        "rules",
        "source",
    },  # fmt: skip
    "modernize": {"config", "files", "finding", "migrate", "project", "reading", "source"},
    "initial": {"migrate"},
    "interactive": {"finding", "migrate", "notebook", "report", "source"},
    "live": {
        "config",
        "explain",
        "files",
        "finding",
        "migrate",
        "project",
        "prove",
        "report",
        "source",
    },
    "map": _CHECKED | {"migrate", "report", "write"},
    "doctor": {"batch", "cache", "config", "outside", "prove"},
    "batch": _FIXED
    | {"map", "migrate", "modernize", "outside", "patterns", "prove", "report", "requirements"}
    | {"__init__"},
    "cli": _FIXED
    | {"baseline", "batch", "migrate", "interactive", "modernize", "prove", "repair", "report"}
    | {"doctor", "explain", "initial", "map", "server"},
    "server": _FIXED | {"baseline", "glance", "lines", "migrate", "report"},
    "__main__": {"cli", "outside"},
    "__init__": set(),
}

#: Modules that may import more than their room may.
ALSO = {
    # one rule as a codemod of libcst's own runner: check and rewrite in one step
    "rewrite/codemod.py": {"places", "project"},
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
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_room_has_its_arrows() -> None:
    assert {_room(path) for path in _files()} <= set(ROOMS)


def test_arrows_make_no_circle() -> None:
    waiting = dict(ROOMS)
    while waiting:
        free = {room for room, targets in waiting.items() if not targets & set(waiting)}
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
            first, _, rest = module.partition(".")
            target = rest.partition(".")[0]
            if first == "samedevice" and target not in allowed and not target.startswith("__"):
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
    (tmp_path / "rules" / "some.py").write_text("def f():\n    from ..migrate import migrate\n")
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    with pytest.raises(AssertionError, match=r"rules/some\.py:2: samedevice\.migrate"):
        test_room_imports_along_its_arrows("rules")


#: What rules may import of the inference: its answers, and the events and values that these name.
_ANSWERS = {
    "Solution", "demands", "events", "forced", "graph.Cause", "graph.Location", "graph.Place",
    "graph.PlaceVar", "objects", "probes", "sites", "solution.Solution", "values",
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
        if name.startswith("samedevice.places.")
        and not any(f"{name}.".startswith(f"samedevice.places.{each}.") for each in _ANSWERS)
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
    assert not wrong, "add a method to places/answers.py or places/solution.py:\n" + "\n".join(
        wrong
    )
