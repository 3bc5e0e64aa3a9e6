"""Each process of a distributed program takes a CUDA device on every machine.

Why: the number of a process is the index of a GPU only where there are GPUs. `set_device`, the
backend "nccl" and `device_ids` stop on every other machine. One device for each process, made from
its number where there is CUDA, takes the place of all three, and lets the program run on CPUs over
gloo.

Example:

    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(Net().cuda(rank), device_ids=[rank])

becomes

    rank = int(os.environ["LOCAL_RANK"])
    device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    model = DistributedDataParallel(
        Net().to(device), device_ids=[rank] if device.type == "cuda" else None
    )

A program is changed as a whole or not at all. What Accelerate, Lightning, DeepSpeed or torch's own
FSDP and pipelines place is left to them.

Fix safety: safe. On a CPU-only machine the program could not run before. Where the program started
no process there and nothing else is changed, starting one waits for `--unsafe`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from samedevice.finding import DeviceExpression, Edit, Finding, Fix
from samedevice.inference import Solution, demands
from samedevice.inference.events import (
    ArmTaken,
    BranchTaken,
    Indexed,
    Loaded,
    Move,
    Placing,
    ProcessCall,
    device_of,
)
from samedevice.inference.nodes import Location
from samedevice.inference.probes import is_probe
from samedevice.inference.sites import Group, Site, SiteGroup
from samedevice.inference.values import Const, Device, ProcessIndex, Value
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import edit, finding, fix, short, to_device, with_comment
from samedevice.rules._runtime import respelled
from samedevice.rules._spawned import none_started

RULE = "processes-tied-to-cuda"
_ERASURE = "cuda-only-api"
_TIED = "`{}` needs a GPU for each process"
_HALF = "another part of this program cannot be changed, and changing only this part would break it"
#: Reductions that no other backend knows.
_OF_NCCL = ("AVG", "PREMUL_SUM")
_NO_NAME = "no variable here holds the number of this process"


def find(solution: Solution) -> Iterator[Finding]:
    """Report what ties the processes of a program to CUDA."""
    spread = set()
    for path in solution.programs.files():
        owner = solution.programs.owner(path)
        if owner is not None:
            spread.add(solution.programs.of(path))
            yield _owned(solution, path, *owner)
    tied = _Tied(solution)
    found = [each for each in tied.findings() if solution.programs.of(each.path) not in spread]
    spread |= _demanding(solution, {each.path for each in found})
    found = [each for each in found if solution.programs.of(each.path) not in spread]
    found += _reductions(tied, {each.path for each in found})
    stuck = {solution.programs.of(path) for path in {f.path for f in found} if tied.unseen(path)}
    workers = {solution.programs.of(each.path) for each in found}
    for group in solution.groups(ProcessCall):
        program = solution.programs.of(group.spot.path)
        if group.first.name == "spawn" and program not in spread and not tied.guarded(group.spot):
            spawned = program in workers
            found += none_started(solution, group, tied.guarded, with_workers=spawned)
    stuck |= {solution.programs.of(f.path) for f in found if f.fix is None and f.level != "note"}
    stuck |= tied.numbered()
    for each in found:
        if each.fix is not None and solution.programs.of(each.path) in stuck:
            each = replace(each, fix=None, unfixed=_HALF)
        yield each


def _owned(solution: Solution, path: str, name: str, statement: ast.stmt) -> Finding:
    noted = finding(
        solution, RULE, Location(path, statement),
        f"{name} decides where the models and batches of this file go: it is left as it is",
        None, unfixed="that is its job",
    )  # fmt: skip
    return replace(noted, level="note")


def _demanding(solution: Solution, paths: set[str]) -> set[frozenset[str]]:
    """Return the programs of files that say somewhere that they need CUDA: they stay as they are.

    `cuda-only-api` tells of what says so.
    """
    programs = {solution.programs.of(path) for path in paths}
    return {
        program
        for program in programs
        if any(True for path in program for _ in demands.believed(solution.programs.tree(path)))
    }


def _reductions(tied: _Tied, paths: set[str]) -> Iterator[Finding]:
    """Report reductions that only NCCL has, in the programs of files that would do without."""
    solution = tied.solution
    for path in sorted({other for each in paths for other in solution.programs.of(each)}):
        if not any(f"ReduceOp.{name}" in solution.project.sources[path].text for name in _OF_NCCL):
            continue
        for node in syntax.walk(solution.programs.tree(path)):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in _OF_NCCL
                and ast.unparse(node.value).endswith("ReduceOp")
                and not tied.guarded(Location(path, node))
            ):
                yield finding(
                    solution, RULE, Location(path, node),
                    f"`{ast.unparse(node)}` is a reduction that NCCL alone has", None,
                    unfixed="a sum divided by the number of processes would do for any backend",
                )  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """How a place asks whether its process has a GPU, and what the file needs for it."""

    test: str
    name: DeviceExpression


class _Tied:
    """The places of a project that give a GPU to a process."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.asking = {g.spot.node for g in solution.groups(BranchTaken)}
        self.asking |= {g.spot.node for g in solution.groups(ArmTaken)}
        self.homes: set[ast.AST] = set()  # functions that use the number of their process
        self.used: list[SiteGroup] = [
            group
            for kind in (Placing, Loaded, Indexed)
            for group in solution.groups(kind)
            if self._of_rank(group)
        ]
        self.homes.update(
            group.first.scope.node
            for group in self.used
            if not (isinstance(group.first, Indexed) and solution.is_stored(group.spot.node))
        )

    def findings(self) -> Iterator[Finding]:
        """Yield all of them, each with its fix as if it were alone."""
        for group in self.used:
            if all(site.under_device_test for site in group.sites):
                continue  # behind a test for CUDA
            name = self._name(group)
            repair = None if name is None else self._change(group, name)
            if repair is None and isinstance(group.first, Indexed):
                repair = self._question(group.spot, group.first.device)
            yield self._finding(group.spot, repair)
        for call in self.solution.groups(ProcessCall):
            change: Callable[[Group[ProcessCall]], Iterator[Finding]] | None
            change = getattr(self, "_" + call.first.name, None)
            if change is None or all(site.under_device_test for site in call.sites):
                continue
            if not self.guarded(call.spot):
                yield from change(call)

    def numbered(self) -> set[frozenset[str]]:
        """Return the programs that use the number of a process, as it is, for a device.

        Where other calls hand in a device, the code is not that of a process: it keeps the number.
        """
        return {
            self.solution.programs.of(group.spot.path)
            for group in self.solution.groups(Placing)
            for device in map(device_of, group.sites)
            if device is not None and device.rank is not None and device.rank.device is device
            if group not in self.used
        }

    def unseen(self, path: str) -> bool:
        """Tell whether a file moves something to a GPU of which nothing is known.

        That is `x.cuda()`, and `x.to(...)` with what stands for the number of this process.
        """
        tree = self.solution.project.tree(path)
        seen = {group.spot.node for group in self.solution.groups(Move)}
        unknown = [
            node
            for node in (syntax.walk(tree) if tree is not None else ())
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("cuda", "to")
            and node not in seen
            and not self.guarded(Location(path, node))
        ]
        return any(
            isinstance(node.func, ast.Attribute)
            and (node.func.attr == "cuda" or self._goes_by_number(path, node))
            for node in unknown
        )

    def _goes_by_number(self, path: str, call: ast.Call) -> bool:
        """Tell whether a call's first argument is a number by which something else moves."""
        numbers = {
            (ast.unparse(group.spot.node.args[0]), group.first.scope.node)
            for group in self.used
            if isinstance(group.first, Move)
            and group.spot.path == path
            and isinstance(group.spot.node, ast.Call)
            and group.spot.node.args
        }
        parents = self.solution.programs.parents(path)
        home = parents.get(call)
        while home is not None and not isinstance(
            home, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
        ):
            home = parents.get(home)
        return bool(call.args) and (ast.unparse(call.args[0]), home) in numbers

    def _finding(self, spot: Location, repair: Fix | None) -> Finding:
        message = _TIED.format(short(self.solution.code(spot)))
        return finding(self.solution, RULE, spot, message, repair, unfixed=_NO_NAME)

    # -- where a process's number is used as a device -----------------------------------------

    def _of_rank(self, group: SiteGroup) -> bool:
        """Tell whether a place goes to the GPU of this process, in every evaluation by its number.

        A device made from the number where there is CUDA is right.
        """
        ranked = False
        for site in group.sites:
            device = device_of(site)
            if isinstance(site, Loaded) and site.mapped is not None:
                given = site.mapped[0]
                device = given.device if isinstance(given, ProcessIndex) else None
            if device is None:
                return False
            if device.rank is None:  # a program of one process calls it with 0
                if device.is_number() or isinstance(site, Indexed):
                    continue
                return False
            if not isinstance(site, Indexed) and device.rank.device is not device:
                return False
            ranked = True
        return ranked

    def _name(self, group: SiteGroup) -> DeviceExpression | None:
        site = self.solution.reach.site_at(group.spot)
        name = device_names(self.solution).of_process(site) if site is not None else None
        if name is None and self.solution.programs.sets_device_once(group.spot.path):
            name = device_names(self.solution).name_at(group.spot)
            if name is not None and any("device" in each for each in self._numbers(site)):
                return None  # a number is handed in where a device is meant
        return name

    def _numbers(self, site: Site | None) -> list[str]:
        """Return what the code at a place calls the number of its process."""
        devices = site.devices if site is not None else []
        return [code for code, value, _ in devices if isinstance(value, ProcessIndex)]

    def _change(self, group: SiteGroup, name: DeviceExpression) -> Fix | None:
        spot, call, moved = group.spot, group.spot.node, isinstance(group.first, Move)
        if isinstance(group.first, Indexed):
            table = self.solution.programs.parents(spot.path).get(call)
            if self.solution.is_stored(call):
                return None  # this is the definition
            if isinstance(table, ast.Dict):  # of texts, by which torch maps one device to another
                if not self._maps(spot.path, table):
                    return None
                spot = Location(spot.path, table)
            return self._fix(name, edit(self.solution, spot, "replace", code=name.code))
        if not isinstance(call, ast.Call):
            return None
        if moved and group.first.name == "cuda":
            return self._fix(name, *to_device(self.solution, spot, name))
        wanted = "map_location" if isinstance(group.first, Loaded) else "device"
        given = next((k.value for k in call.keywords if k.arg == wanted), None)
        if given is None and moved and call.args:
            given = call.args[0]
        if given is None:
            return None
        place = Location(spot.path, given)
        return self._fix(name, edit(self.solution, place, "replace", code=name.code))

    def _maps(self, path: str, table: ast.Dict) -> bool:
        """Tell whether a table is what `map_location` is given: a device says the same."""
        given = self.solution.programs.parents(path).get(table)
        return isinstance(given, ast.keyword) and given.arg == "map_location"

    def _question(self, spot: Location, device: Device) -> Fix | None:
        """`f"cuda:{rank}"` by itself: that GPU, where there is one."""
        torch = device_names(self.solution).imports.alias(spot.path, "torch")
        if not torch:
            return None
        other = '"cpu"' if device.text else f'{torch}.device("cpu")'
        code = f"{{}} if {torch}.cuda.is_available() else {other}"
        return Fix((edit(self.solution, spot, "replace", code=code),), erasure=_ERASURE)

    def _fix(self, name: DeviceExpression, *edits: Edit) -> Fix:
        return replace(fix(name, *edits), erasure=_ERASURE)

    # -- calls that only processes with GPUs can make ------------------------------------------

    def guarded(self, spot: Location) -> bool:
        """Tell whether an expression stands under a test for CUDA, or may fail."""
        parents = self.solution.programs.parents(spot.path)
        node: ast.AST | None = spot.node
        while node is not None:
            parent = parents.get(node)
            if isinstance(parent, (ast.If, ast.IfExp)) and node is not parent.test:
                words = self.solution.code(Location(spot.path, parent.test))
                asks = ("cuda", "is_available", ".type", "use_gpu", "nccl")
                if parent in self.asking or any(word in words for word in asks):
                    return True
            if isinstance(parent, ast.Try) and node in parent.body and is_probe(parent):
                return True
            node = parent
        return False

    def _asked(self, group: SiteGroup, *, nccl: bool = False) -> _Asked | None:
        """Return how to ask at a call whether its process has a GPU, one for NCCL perhaps."""
        solution, path = self.solution, group.spot.path
        torch = device_names(solution).imports.alias(path, "torch")
        name = own = device_names(solution).of_process(group.first)
        if name is None or name.edits and group.first.scope.node not in self.homes:
            name = self._in_reach(group)
        if name is not None:
            kind = device_names(solution).kind_of(name, torch, group.spot)
            if kind and not (
                name is own and kind.startswith(f"{torch}.device(")
            ):  # a text, of CUDA
                other = device_names(solution).resolvers.accelerated(path) and not nccl
                return _Asked(f'{kind} != "cpu"' if other else f'{kind} == "cuda"', name)
        available = _available(solution, path, nccl=nccl)
        return _Asked(available, DeviceExpression("")) if available else None

    def _in_reach(self, group: SiteGroup) -> DeviceExpression | None:
        for code, value, _ in group.first.devices:
            if isinstance(value, Device) and not value.partial and not value.planned:
                if self.solution.on_device(value.node) and (value.resolved or value.rank):
                    return DeviceExpression(code, text=value.text)
        return None

    def _argument(
        self, group: Group[ProcessCall], name: str, position: int
    ) -> tuple[Value, Location] | None:
        call = group.first
        found = call.kwargs.get(name)
        if found is None and len(call.args) > position >= 0:
            found = call.args[position]
        if found is not None and isinstance(group.spot.node, ast.Call):
            several = (each.value for each in group.spot.node.keywords if each.arg is None)
            if any(found[1].node is each for each in several):
                return None  # `**options`, which are filled elsewhere
        return found

    def _either(
        self, group: SiteGroup, spot: Location, otherwise: str, *, nccl: bool = False
    ) -> Finding:
        """Give an expression where the process has a GPU, and something else where not."""
        asked = self._asked(group, nccl=nccl)
        repair: Fix | None = None
        if asked is not None:
            code = f"{{}} if {asked.test} else {otherwise}"
            repair = self._fix(asked.name, edit(self.solution, spot, "replace", code=code))
        return self._finding(spot, repair)

    def _count(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        """`rank % torch.cuda.device_count()`, which is 0 without CUDA."""
        if ast.unparse(group.spot.node).endswith(".device_count()"):
            change = edit(self.solution, group.spot, "replace", code="max({}, 1)")
            yield self._finding(group.spot, Fix((change,), erasure=_ERASURE))

    def _init_process_group(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        backend = self._argument(group, "backend", 0)
        if backend is not None and isinstance(backend[0], Const) and backend[0].value == "nccl":
            value, where = backend
            origin = value.spot if isinstance(value, Const) else None
            if isinstance(where.node, ast.Constant):
                if not self.guarded(where):
                    yield self._either(group, where, '"gloo"', nccl=True)
            elif origin is not None and isinstance(origin.node, ast.Constant):
                if not self.guarded(origin):
                    yield self._backend_elsewhere(origin)
        elif backend is not None:
            for arm in self._arms(group, backend[1]):
                if not self.guarded(arm):
                    yield self._backend_elsewhere(arm)
        device = self._argument(group, "device_id", -1)
        if device is not None and not isinstance(device[1].node, (ast.Constant, ast.IfExp)):
            yield self._either(group, device[1], "None")

    def _arms(self, group: Group[ProcessCall], given: Location) -> Iterator[Location]:
        """Yield where an argument is "nccl" under some condition, or the variable that is given."""
        node = given.node
        if isinstance(node, ast.Name):
            values = [
                statement.value
                for statement in syntax.statements(group.first.scope.node)
                if isinstance(statement, ast.Assign)
                and [ast.unparse(target) for target in statement.targets] == [node.id]
            ]
            node = values[0] if len(values) == 1 else node
        for arm in (node.body, node.orelse) if isinstance(node, ast.IfExp) else ():
            if isinstance(arm, ast.Constant) and arm.value == "nccl":
                yield Location(given.path, arm)

    def _backend_elsewhere(self, spot: Location) -> Finding:
        """`backend = "nccl"`, or an option's default: the question is asked there."""
        available = _available(self.solution, spot.path, nccl=True)
        repair: Fix | None = None
        if available:
            code = f'{{}} if {available} else "gloo"'
            change = edit(self.solution, spot, "replace", code=code)
            repair = Fix((change,), erasure=_ERASURE)
        return self._finding(spot, repair)

    def _init_device_mesh(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        given = self._argument(group, "device_type", 0)
        if given is None or not isinstance(given[1].node, ast.Constant):
            return
        if given[1].node.value != "cuda":
            return
        solution, spot = self.solution, given[1]
        torch = device_names(solution).imports.alias(spot.path, "torch")
        name = self._in_reach(group)
        kind = device_names(solution).kind_of(name, torch, group.spot) if name is not None else ""
        repair: Fix | None = None
        if kind or torch:
            code = kind or f'{{}} if {torch}.cuda.is_available() else "cpu"'
            change = edit(solution, spot, "replace", code=code)
            repair = Fix((change,), erasure=_ERASURE)
        yield self._finding(spot, repair)

    def _DistributedDataParallel(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        for position, name in ((1, "device_ids"), (2, "output_device")):
            given = self._argument(group, name, position)
            if given is None or isinstance(given[1].node, (ast.Constant, ast.IfExp)):
                continue
            one = given[1].node
            if name == "device_ids" and not (isinstance(one, ast.List) and len(one.elts) == 1):
                continue
            if name == "output_device" and self._says_twice(group, one):
                change = edit(self.solution, group.spot, "drop_keyword", name=name)
                yield self._finding(given[1], Fix((change,), erasure=_ERASURE))
                continue
            yield self._either(group, given[1], "None")

    def _says_twice(self, group: Group[ProcessCall], index: ast.AST) -> bool:
        """Tell whether the output goes where the one of `device_ids` is, as it does anyway."""
        ids = group.first.kwargs.get("device_ids")
        if ids is None or "output_device" not in group.first.kwargs:
            return False
        one = ids[1].node.body if isinstance(ids[1].node, ast.IfExp) else ids[1].node
        return (
            isinstance(one, ast.List)
            and len(one.elts) == 1
            and ast.unparse(one.elts[0]) == ast.unparse(index)
        )

    def _barrier(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        given = self._argument(group, "device_ids", 2)
        if given is not None and isinstance(given[1].node, ast.List):
            yield self._either(group, given[1], "None")

    def _convert_sync_batchnorm(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        """Normalization over the processes is for GPUs only."""
        call = group.spot.node
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Name):
            yield self._either(group, group.spot, call.args[0].id)

    def _set_device(self, group: Group[ProcessCall]) -> Iterator[Finding]:
        given = self._argument(group, "device", 0)
        if given is None or not (
            self._is_rank(given[0]) or self.solution.programs.is_distributed(group.spot.path)
        ):
            return
        statement = self.solution.programs.parents(group.spot.path).get(group.spot.node)
        asked = self._asked(group)
        repair: Fix | None = None
        if isinstance(statement, ast.Expr) and asked is not None:
            place = Location(group.spot.path, statement)
            code = respelled(self.solution, place.path, statement)
            code = f"if {asked.test}:\n    {with_comment(self.solution, place, code)}"
            change = edit(self.solution, place, "replace_statement", code=code)
            repair = self._fix(asked.name, change)
        yield self._finding(group.spot, repair)

    def _is_rank(self, value: Value) -> bool:
        return (
            isinstance(value, ProcessIndex) or isinstance(value, Device) and value.rank is not None
        )


def _available(solution: Solution, path: str, *, nccl: bool) -> str:
    """Return the question whether there is an accelerator; "" where torch has no name."""
    torch = device_names(solution).imports.alias(path, "torch")
    kind = (
        "accelerator" if device_names(solution).resolvers.accelerated(path) and not nccl else "cuda"
    )
    return f"{torch}.{kind}.is_available()" if torch else ""
