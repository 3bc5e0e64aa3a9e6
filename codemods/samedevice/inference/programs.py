"""The files of a project as programs: which of them run together, and what each does as a whole."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from samedevice.inference.demonstrations import is_main as is_main
from samedevice.inference.doings import says_cpu
from samedevice.inference.markers import Markers, hides, markers
from samedevice.inference.nodes import Location
from samedevice.inference.unit_tests import is_test_file, replaces
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.reading.syntax import Parents

#: Libraries that own a program's devices: what they run is left alone.
_OWNERS = frozenset(
    (
        "accelerate", "colossalai", "composer", "deepspeed", "fairscale", "lightning", "megatron",
        "pytorch_lightning",
    )
)  # fmt: skip
#: Those of them that move whole modules, as `Module.to` does.
_MOVERS = frozenset(("accelerate", "composer", "deepspeed", "lightning", "pytorch_lightning"))


#: What spreads one model over several devices, in torch itself.
_SPREADERS = (
    "torch.distributed.fsdp", "torch.distributed._composable", "torch.distributed.pipelining",
    "torch.distributed.tensor", "torch.distributed._tensor",
)  # fmt: skip


#: Calls to other processes: where their results are cannot be known here.
_REMOTE = "torch.distributed.rpc"


class Programs:
    """What is known of files without evaluating them: their trees, imports and markers."""

    def __init__(self, project: Project, program: frozenset[str] | None) -> None:
        self.project = project
        self._program = program
        self._parents: dict[str, Parents] = {}
        self._markers: dict[str, Markers] = {}
        self._offered: dict[str, set[str]] = {}
        self._reached: dict[str, set[str]] = {}
        self._hiding: dict[frozenset[str], bool] = {}
        self._tests: dict[str, bool] = {}

    def is_test(self, path: str) -> bool:
        """Tell whether a file has tests for pytest or unittest."""
        if path not in self._tests:
            self._tests[path] = is_test_file(self.project, path)
        return self._tests[path]

    def pretends(self, spot: Location) -> bool:
        """Tell whether code is in a test that puts something else in the place of what it calls."""
        test = self.function_of(spot) if self.is_test(spot.path) else None
        return test is not None and replaces(test)

    def spawns(self, path: str) -> bool:
        """Tell whether the program of a file has processes spawned rather than forked."""
        return any(self.markers(each).spawns for each in self.of(path))

    def all(self) -> set[frozenset[str]]:
        """Return the programs that these files make up."""
        return {self.of(path) for path in self.files()}

    def with_what_they_run(self, paths: Iterable[str]) -> set[str]:
        """Return some files, and what they import, directly or not."""
        found = set(paths)
        return found.union(*map(self.reached_from, found))

    def runs(self, program: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield each script of a program, with the files that run when it does."""
        scripts = [path for path in sorted(program) if not self.is_imported(path)]
        for script in scripts or sorted(program):
            yield script, program & (self.reached_from(script) | {script})

    def scripts(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the scripts of all programs, each with the files that run when it does."""
        for program in self.all():
            yield from self.runs(program)

    def files(self) -> list[str]:
        """Return the files that this is the solution for."""
        program = self._program
        return self.project.ordered(self.project.sources if program is None else program)

    def of(self, path: str) -> frozenset[str]:
        """Return the files that are connected with this one."""
        return self.project.programs.get(path, frozenset((path,)))

    def writes_cpu(self, path: str) -> bool:
        """Tell whether a file writes for people that it uses the CPU."""
        return says_cpu(self.tree(path))

    def owner(self, path: str) -> tuple[str, ast.stmt] | None:
        """Return the library that decides the devices of a file, and the file's import of it."""
        tree = self.project.tree(path)
        return _owner(tree) if tree is not None else None

    def moves_modules(self, path: str) -> bool:
        """Tell whether the library that decides the devices of a file moves whole modules."""
        owner = self.owner(path)
        return owner is not None and owner[0].split(".")[0] in _MOVERS

    def parents(self, path: str) -> Parents:
        """Return the parents of the nodes of a file."""
        known = self._parents.get(path)
        if known is None:
            known = self._parents[path] = Parents(self.tree(path))
        return known

    def tree(self, path: str) -> ast.Module:
        """Return the tree of a file; an empty one for a file that does not parse."""
        return self.project.tree(path) or ast.Module([], [])

    def function_of(self, spot: Location) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the function that some code is in, or None for a file's own code."""
        parents = self.parents(spot.path)
        node = parents.get(spot.node)
        while node is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node = parents.get(node)
        return node

    def hides_gpus(self, program: frozenset[str]) -> bool:
        """Tell whether a program hides GPUs from itself, and must not ask for one on import."""
        if program not in self._hiding:
            self._hiding[program] = any(self.markers(path).hides_gpus for path in program)
        return self._hiding[program]

    def hides_some(self, path: str, code: ast.AST) -> bool:
        """Tell whether some code of a file says which GPUs a program sees."""
        return self.markers(path).hides_gpus and hides(code)

    def asks_before_hiding(self, path: str) -> bool:
        """Tell whether what a file asks on import comes before the program hides GPUs.

        From then on the choice of GPUs is ignored. A file that hides some itself is no such case:
        what it asks can stand behind that.
        """
        program = self.of(path)
        for hiding in program if self.hides_gpus(program) else ():
            if hiding == path or not self.markers(hiding).hides_gpus:
                continue
            line = self._hiding_line(hiding)
            for script in program:
                reached = self.reached_from(script) | {script}
                if path not in reached or hiding not in reached:
                    continue
                if script != hiding:
                    set_at = self._import_line(script, hiding) if line is not None else None
                else:
                    set_at = line
                if set_at is None or self._import_line(script, path) <= set_at:
                    return True
        return False

    def _hiding_line(self, path: str) -> int | None:
        """Return where a file hides GPUs when it is imported; None where a function does it."""
        for node in self.tree(path).body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if hides(node) and not is_main(node):
                    return node.lineno
        return None

    def _import_line(self, path: str, target: str) -> int:
        """Return the line of a file's first import that comes to another file; 0 without one."""
        lines = []
        for node in syntax.walk(self.tree(path)):
            for name, level in _imported(node):
                found = self.project.resolve(path, name, level)
                if found is not None and (found == target or target in self.reached_from(found)):
                    lines.append(getattr(node, "lineno", 0))
        return min(lines, default=0)

    def is_imported(self, path: str) -> bool:
        """Tell whether another file imports this one."""
        return path in self.project.importers

    def markers(self, path: str) -> Markers:
        """Return what a file does about processes and GPUs as a whole."""
        if path not in self._markers:
            self._markers[path] = markers(self.project, path)
        return self._markers[path]

    def is_distributed(self, path: str) -> bool:
        """Tell whether a file starts one process for each GPU: each has a device of its own."""
        return self.markers(path).is_distributed

    def sets_device_once(self, path: str) -> bool:
        """Tell whether each process of a program chooses its GPU once: "cuda" then means that."""
        return any(self.markers(other).sets_device_once for other in self.of(path))

    def asks(self, path: str) -> bool:
        """Tell whether a program asks the machine, the environment or a user about something."""
        return any(self.markers(other).asks for other in self.of(path))

    def taken_from(self, path: str) -> set[str]:
        """Return the names that other files may take from this one; "*" for all of them."""
        found: set[str] = set()
        for other in self.project.importers.get(path, ()):
            names = self._offered.get(other)
            if names is None:
                names = self._offered[other] = _taken_names(self.tree(other))
            found |= names
        return found

    def reached_from(self, path: str) -> set[str]:
        """The files that a file imports, directly or not."""
        if path in self._reached:
            return self._reached[path]
        found = self._reached[path] = set()
        queue = [path]
        while queue:
            for target in self.project.imports.get(queue.pop(), ()):
                if target not in found:
                    found.add(target)
                    queue.append(target)
        return found


def _imported(node: ast.AST) -> list[tuple[str, int]]:
    """Return the modules that an import names, each with the dots before it."""
    if isinstance(node, ast.Import):
        return [(alias.name, 0) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        inner = [f"{module}.{alias.name}".lstrip(".") for alias in node.names]
        return [(module, node.level), *((name, node.level) for name in inner)]
    return []


def _taken_names(tree: ast.Module) -> set[str]:
    """Return the names that a file may take from others."""
    found: set[str] = set()
    for node in syntax.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
    return found


@syntax.per_node
def _owner(tree: ast.Module) -> tuple[str, ast.stmt] | None:
    """Return the library that decides the devices of a file, and the file's import of it."""
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] in _OWNERS or name.startswith((_REMOTE, *_SPREADERS)):
                return name, node
    return None
