"""Tests for pytest and unittest: one that names no device runs on the CPU, as all that it makes.

That goes by function. What a test calls is evaluated for it, with values that meet none of others;
a helper that only such tests reach makes nothing for the device.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samedevice.inference import skipped
from samedevice.inference.events import DeviceChosen, Indexed, Literal, Placing
from samedevice.inference.nodes import Aside, Place
from samedevice.inference.objects import Func, Instance
from samedevice.inference.sites import Site
from samedevice.inference.values import Arg, Dict, FunctionNode, Seq, Tensor, Value
from samedevice.reading import syntax
from samedevice.reading.project import Project

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: What pytest and unittest take for tests by their names.
_FILE = re.compile(r"test_[^/]*\.py|[^/]*_test\.py|tests?\.py|conftest\.py")
_TEST = re.compile(r"^\s*(?:async )?def (?:test\w*|pytest_\w+)\(|@pytest\.fixture", re.MULTILINE)
_NAMED = re.compile(r"test|setup|setUp", re.ASCII)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITION = (*_FUNCTION, ast.ClassDef)
#: What unittest.mock puts in the place of what a test calls.
_MOCKS = frozenset(("Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec"))
_PATCHES = frozenset(
    ("patch", "patch.dict", "patch.object", "patch.multiple", "monkeypatch.setattr")
)
#: How code speaks of a device.
_DEVICE = re.compile(r"device|cuda|accelerator", re.IGNORECASE)


@dataclass
class Tests:
    """The tests of an evaluation: the one that runs, with its function, and those of each file.

    The first of a file are its own statements. `called` are the functions that tests call, and what
    these call; `shared` has the tests that compute with what a function gets or gives.
    """

    running: Aside | None = None
    function: FunctionNode | None = None
    depth: int = 0
    of_file: dict[str, list[Aside]] = field(default_factory=dict)
    called: list[FunctionNode] = field(default_factory=list)
    shared: dict[FunctionNode, list[Aside]] = field(default_factory=dict)

    def shares(self, function: FunctionNode) -> bool:
        """Tell whether a test for the CPU computes with what a function gets or gives."""
        return any(each.apart for each in self.shared.get(function, ()))


def is_test_file(project: Project, path: str) -> bool:
    """Tell whether a file has tests for pytest or unittest: those run on the CPU on purpose.

    A script that tests a model may be called test.py, too.
    """
    if _FILE.fullmatch(path.rpartition("/")[2]) is None:
        return False
    return _TEST.search(project.sources[path].text) is not None


def replaces(test: ast.AST) -> bool:
    """Tell whether a test puts something else in the place of what it calls: nothing is computed
    there, and a device that it names is a text that is looked at."""
    return any(
        name.rpartition(".")[2] in _MOCKS
        or name.removeprefix("mock.").removeprefix("mocker.") in _PATCHES
        for name in (syntax.dotted(n.func) for n in syntax.walk(test) if isinstance(n, ast.Call))
    )


def asserts_cuda(node: ast.AST, parents: syntax.Parents) -> bool:
    """Tell whether a test asserts that a tensor is on CUDA: `assert x.is_cuda`."""
    match node, parents.get(node):
        case ast.Attribute(attr="is_cuda"), ast.Assert() | ast.Call(
            func=ast.Attribute(attr="assertTrue")
        ):
            pass
        case ast.Compare(
            left=ast.Attribute(value=ast.Attribute(attr="device"), attr="type"),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value="cuda")],
        ), ast.Assert():
            pass
        case _:
            return False
    home = parents.get(node)
    while home is not None and not isinstance(home, _FUNCTION):
        home = parents.get(home)
    return home is not None and home.name.startswith("test")


@contextmanager
def file(run: Interpreter, path: str) -> Iterator[None]:
    """Evaluate the statements of a file: if they name a device, its tests are on one, too."""
    own = Aside() if is_test_file(run.project, path) else None
    first = len(run.sites)
    with _running(run, own, None):
        if own is not None:
            run.tests.of_file[path] = [own]
        yield
    if own is not None and _names_device(run, own, run.sites[first:]):
        for each in run.tests.of_file[path]:
            each.apart = False


@contextmanager
def function(run: Interpreter, func: Func) -> Iterator[None]:
    """Evaluate a function of a file perhaps with tests: a test, or what only these may call."""
    path = func.scope.path
    known = run.tests.of_file.get(path)
    if not known:
        yield
        return
    own, first = Aside(), len(run.sites)
    known.append(own)
    tree = run.project.tree(path)
    certain = tree is not None and skipped.without_cuda(func, tree)
    run.guarded += certain
    with _running(run, own, func.node):
        yield
    run.guarded -= certain
    named = _asks_for_one(run.project, path, func) or _names_device(run, own, run.sites[first:])
    own.apart = known[0].apart and not named


def is_called(run: Interpreter, func: Func) -> bool:
    """Tell whether a test is called by the code of its file."""
    if run.tests.running is None or func.node is run.tests.function:
        return False
    return _NAMED.match(getattr(func.node, "name", "")) is not None


@contextmanager
def _running(run: Interpreter, own: Aside | None, function: FunctionNode | None) -> Iterator[None]:
    tests = run.tests
    before = tests.running, tests.function, tests.depth
    tests.running, tests.function = own, function
    tests.depth = len(run.stack) + (function is not None)
    run.graph.aside = own
    yield
    tests.running, tests.function, tests.depth = before
    run.graph.aside = tests.running


def note(
    run: Interpreter, args: list[Arg], kwargs: dict[str, Arg], result: Value, first: int
) -> None:
    """Note what a test calls, from the `first` function on, if their values are the test's, too.

    What builds all that it computes with, and gives none of it back, computes where it likes.
    """
    tests = run.tests
    if tests.running is None or len(run.stack) != tests.depth:
        return
    values = [value for value, _ in (*args, *kwargs.values())]
    if any(map(_has_place, (*values, result))):
        for function in dict.fromkeys(tests.called[first:]):
            tests.shared.setdefault(function, []).append(tests.running)


def _has_place(value: Value, depth: int = 3) -> bool:
    """Tell whether a value is a tensor or a module, or holds one."""
    if isinstance(value, Tensor) or isinstance(value, Instance) and value.family == "module":
        return True
    return (
        depth > 0
        and isinstance(value, (Seq, Dict))
        and any(_has_place(member, depth - 1) for member in value.members())
    )


def _names_device(run: Interpreter, own: Aside, events: Sequence[Site]) -> bool:
    """Tell whether code of tests puts something on an accelerator, or names one.

    What they call may do so, where it computes with nothing of theirs.
    """
    return any(
        event.aside is own and event.spot.path in run.tests.of_file and _is_on_device(event)
        for event in events
    )


def _is_on_device(event: Site) -> bool:
    if isinstance(event, (Literal, Indexed, DeviceChosen)):
        return not event.name.startswith(("cpu", "meta"))
    if not isinstance(event, Placing) or event.device is None or event.device.of_value:
        return False
    root = event.device.node.find()
    return root.pin in (Place.CENTRAL, Place.FIXED) and root.name != "meta"


def _asks_for_one(project: Project, path: str, func: Func) -> bool:
    """Tell whether a test is given a device: by its decorators, its fixtures, or its class."""
    if isinstance(func.node, ast.Lambda):
        return False
    fixtures = _fixtures(project, path)
    if any(_speaks_of_one(each) for each in func.node.decorator_list):
        return True
    if func.cls is not None and isinstance(func.cls.node, ast.ClassDef):
        prepared = [
            each
            for each in func.cls.node.body
            if not isinstance(each, _DEFINITION) or each.name.lower().startswith("setup")
        ]
        if any(map(_speaks_of_one, [*func.cls.node.decorator_list, *prepared])):
            return True
    queue, seen = [*syntax.parameters(func.node)], set[str]()
    while queue:
        name = queue.pop()
        if _DEVICE.search(name):
            return True
        if name in fixtures and name not in seen:
            seen.add(name)
            if _speaks_of_one(fixtures[name]):
                return True
            queue += syntax.parameters(fixtures[name])
    return False


def _fixtures(project: Project, path: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the fixtures that pytest gives the tests of a file, its own first."""
    folder = path.rpartition("/")[0]
    parts = folder.split("/") if folder else []
    above = ["/".join((*parts[:count], "conftest.py")) for count in range(len(parts), -1, -1)]
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for each in (path, *above):
        tree = project.tree(each) if each in project.sources else None
        for node in tree.body if tree is not None else ():
            if isinstance(node, _FUNCTION) and any(
                "fixture" in ast.unparse(decorator) for decorator in node.decorator_list
            ):
                found.setdefault(node.name, node)
    return found


def _speaks_of_one(node: ast.AST) -> bool:
    """Tell whether code speaks of a device that is not the CPU."""
    queue: list[ast.AST] = [node]
    while queue:
        each = queue.pop()
        if isinstance(each, (ast.Call, ast.keyword)) and _is_cpu(each):
            continue
        text = ""
        if isinstance(each, ast.Name):
            text = each.id
        elif isinstance(each, ast.Attribute):
            text = each.attr
        elif isinstance(each, (ast.arg, ast.keyword)):
            text = each.arg or ""
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            text = each.value if each.value.startswith("cuda") else ""
        if _DEVICE.search(text):
            return True
        queue += ast.iter_child_nodes(each)
    return False


def _is_cpu(node: ast.Call | ast.keyword) -> bool:
    """Tell whether code says that something is on the CPU: `torch.device("cpu")`."""
    values: Iterable[ast.expr] = [node.value] if isinstance(node, ast.keyword) else node.args
    return any(
        isinstance(value, ast.Constant) and str(value.value).startswith("cpu") for value in values
    )
