"""The answer of the inference, as rules ask for it."""

from __future__ import annotations

import ast
import gc
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from samedevice import syntax, torchfacts
from samedevice.finding import Edit, Finding, Import, Origin, Resolver, Span
from samedevice.places import processes
from samedevice.places.expressions import parameters
from samedevice.places.focus import Focus, Rest
from samedevice.places.graph import Clash, Node, Place, Spot
from samedevice.places.interpret import Interpreter
from samedevice.places.markers import Markers, markers
from samedevice.places.values import (
    Const,
    Device,
    Ext,
    Func,
    FunctionNode,
    Klass,
    Obj,
    Option,
    Rank,
    Scope,
    Site,
    Tensor,
    Value,
)
from samedevice.project import Project
from samedevice.syntax import Parents

#: Libraries that own a program's devices: what they run is left alone.
_OWNERS = frozenset(
    (
        "accelerate", "colossalai", "composer", "deepspeed", "fairscale", "lightning", "megatron",
        "pytorch_lightning",
    )
)  # fmt: skip
#: What spreads one model over several devices, in torch itself.
_SPREADERS = (
    "torch.distributed.fsdp", "torch.distributed._composable", "torch.distributed.pipelining",
    "torch.distributed.tensor", "torch.distributed._tensor",
)  # fmt: skip
#: Calls to other processes: where their results are cannot be known here.
_REMOTE = "torch.distributed.rpc"
_PROCESSES = frozenset(("multiprocessing.Process", "torch.multiprocessing.Process"))
_ON_DEVICE = (Place.CENTRAL, Place.FOLLOWS)
_CREATIONS = ("create", "share", "legacy")
#: Rules about what stays on the CPU and meets the device.
_LEFT_BEHIND = frozenset(
    (
        "batch-not-moved",
        "generator-device",
        "host-boundary",
        "layers-apart",
        "loss-not-moved",
        "module-left-behind",
        "module-not-moved",
        "modules-in-plain-container",
        "numpy-boundary",
        "pinned-to-host",
        "tensor-not-a-buffer",
        "tensor-not-following",
        "tensor-without-device",
    )  # fmt: skip
)
#: Methods that tensors have, and neither arrays nor modules.
_TENSORS_ONLY = frozenset(
    (
        "size", "unsqueeze", "permute", "contiguous", "detach", "expand", "expand_as", "new_zeros",
        "mul_", "div_", "add_", "sub_", "copy_", "masked_fill", "masked_fill_", "index_select",
    )
)  # fmt: skip
#: What may take a mapping or a tuple apart.
_TAKEN_APART = (".items", ".keys", "[0]", "[1]")
#: Names of files that exist for others to import from.
_SHARED_NAMES = re.compile(
    r"device|config|setting|const|util|common|global|helper|option|param|env|base|__init__"
)


@dataclass
class SiteGroup:
    """One place in the code, with every evaluation of it."""

    kind: str
    spot: Spot
    sites: list[Site] = field(default_factory=list)

    @property
    def first(self) -> Site:
        """The first evaluation."""
        return self.sites[0]


@dataclass(frozen=True)
class Name:
    """An expression for a device, and what the file needs for it."""

    code: str
    resolvers: tuple[Resolver, ...] = ()
    imports: tuple[Import, ...] = ()
    edits: tuple[Edit, ...] = ()
    text: bool = False


class Solution:
    """Where everything in a project lives."""

    def __init__(self, project: Project, interpreter: Interpreter) -> None:
        self.project = project
        self.interpreter = interpreter
        self.graph = interpreter.graph
        self._groups: dict[str, list[SiteGroup]] = {}
        self._by_node: dict[str, dict[ast.AST, list[SiteGroup]]] = {}
        self._rest = interpreter.focus.rest if interpreter.focus is not None else None
        self._resolvers: dict[str, Name | None] = {}
        self._lent: dict[str, Name | None] = {}
        self._named_before: dict[FunctionNode, ast.stmt | None] = {}
        self._needy: dict[frozenset[str], set[str]] | None = None
        self._owned: dict[str, bool] = {}
        self._spread: dict[frozenset[str], list[SiteGroup]] | None = None
        self._parents: dict[str, Parents] = {}
        self._of_main: dict[str, set[str]] = {}
        self._markers: dict[str, Markers] = {}
        self._taken: dict[str, set[str]] = {}
        self._libraries: dict[str, list[tuple[str, str]]] = {}
        self._bound: dict[ast.AST, dict[str, int]] = {}
        self._offered: dict[str, set[str]] = {}
        self._choosing: set[str] | None = None
        self._reached: dict[str, set[str]] = {}
        self._relative: dict[frozenset[str], bool] = {}
        self._hiding: dict[frozenset[str], bool] = {}
        self._held: dict[ast.AST, set[str]] = {}
        self._modules: dict[tuple[str, str], str | None] = {}
        self._tests: dict[str, bool] = {}
        self._apart: set[Node] | None = None
        self._seeded: set[str] = set()  # the files of programs for the CPU, which are converted
        self._group()
        self._settle()

    # -- solving ----------------------------------------------------------------------------

    def _group(self) -> None:
        by_place: dict[tuple[str, ast.AST], SiteGroup] = {}
        for site in self.interpreter.sites:
            key = (site.kind, site.spot.node)
            group = by_place.get(key)
            if group is None:
                group = by_place[key] = SiteGroup(site.kind, site.spot)
                self._groups.setdefault(site.kind, []).append(group)
            group.sites.append(site)

    def model_parallel(self) -> dict[frozenset[str], list[SiteGroup]]:
        """Return the programs that spread a model over GPUs by their numbers, and where they do.

        Which layer is where is their design: they are left alone.
        """
        if self._spread is None:
            numbered: dict[frozenset[str], list[SiteGroup]] = {}
            for group in self._groups.get("literal", ()):
                if re.fullmatch(r"cuda:\d+", group.first.name) and not group.first.hosted:
                    numbered.setdefault(self.program(group.spot.path), []).append(group)
            self._spread = {
                program: groups
                for program, groups in numbered.items()
                if len({group.first.name for group in groups}) > 1
            }
            self._spread.update(self._by_computed_numbers())
        return self._spread

    def _by_computed_numbers(self) -> dict[frozenset[str], list[SiteGroup]]:
        """Return the programs with a class or function that goes to two GPUs that it computed."""
        homes: dict[ast.AST, dict[str, SiteGroup]] = {}
        for kind in ("move", "module-move", "placed"):
            for group in self._groups.get(kind, ()):
                device, func = group.first.detail["device"], group.first.scope.func
                if device is None or not device.counted or func is None or device.spot is None:
                    continue
                home = func.cls.node if func.cls is not None else func.node
                homes.setdefault(home, {}).setdefault(ast.unparse(device.spot.node), group)
        return {
            self.program(group.spot.path): list(groups.values())
            for groups in homes.values()
            if len(groups) > 1
            for group in groups.values()
        }

    def _settle(self) -> None:
        """Pin what the program leaves open, solve, and make all evaluations of a place agree."""
        active = self._active_programs()
        chosen_from = active | self._naming_programs()
        for device in self.interpreter.cpu_devices:
            spot = device.spot
            if spot is None:
                continue
            chosen = self.program(spot.path) not in chosen_from
            place = Place.CENTRAL if chosen else Place.HOST
            self.graph.pin(device.node, place, spot, "cpu")
        self._take_only_accelerators()
        self._seeded = self._for_the_cpu()
        self._seed(self._seeded)
        for group in self._groups.get("clone", ()):
            for site in group.sites:
                module = site.detail["module"]
                if site.node is not None and module.node is not None and not module.moves:
                    self.graph.same(site.node, module.node)  # it moves when it is built
        self.graph.solve()
        changed = False
        for kind in _CREATIONS:
            for group in self.groups(kind):
                if len(group.sites) < 2 or self.follow(group) is not None:
                    continue
                if any(is_bare(site) and not self.stays_behind(site) for site in group.sites):
                    continue  # the module is on the CPU while it is built
                if any("device" in site.detail["kwargs"] for site in group.sites):
                    continue  # the callers who want it there have to say so
                if any(site.detail.get("default") for site in group.sites):
                    continue  # each process has its own default
                colors = {self.place(site.node) for site in group.sites}
                if (
                    Place.CENTRAL in colors
                    and Place.UNKNOWN in colors
                    and any(self._demanded(site.node) for site in group.sites)
                ):
                    for site in group.sites:
                        if site.node is not None and self.place(site.node) is Place.UNKNOWN:
                            self.graph.pin(site.node, Place.CENTRAL, group.spot)
                            changed = True
        if changed:
            self.graph.solve()

    def _take_only_accelerators(self) -> None:
        """A program's only accelerator is the device it computes on, whatever its number is."""
        numbered: dict[frozenset[str], list[SiteGroup]] = {}
        for group in self._groups.get("literal", ()):
            if not group.first.name.startswith(("cpu", "meta")):
                numbered.setdefault(self.program(group.spot.path), []).append(group)
        others = {
            self.program(group.spot.path)
            for kind in ("indexed", "resolver", "process", "move", "module-move")
            for group in self._groups.get(kind, ())
            if not _to_literal(group)
        }
        for program, groups in numbered.items():
            if program in others or len({group.first.name for group in groups}) > 1:
                continue
            for site in (site for group in groups for site in group.sites):
                root = site.node.find() if site.node is not None else None
                if root is not None and root.pin is Place.FIXED:
                    root.pin = Place.CENTRAL

    def _demanded(self, node: Node | None) -> bool:
        """Tell whether something needs a value on the device, or puts it there."""
        root = node.find() if node is not None else None
        return (
            root is not None
            and root.color is Place.CENTRAL
            and (root.because is not None or root.pin is not None)
        )

    def _active_programs(self) -> set[frozenset[str]]:
        """The programs that put something on a device somewhere, or that are left as they are."""
        return self._settled_programs() | {self.program(path) for path in self._active_files()}

    def _settled_programs(self) -> set[frozenset[str]]:
        """The programs that are spread over processes, or fork, or are fed by unknown libraries.

        Nor is it known that a program can leave the CPU where a library that is not known feeds
        its module.
        """
        found = {self.program(path) for path in self.files() if self.ranked(path)}
        found |= self._forking_programs()
        found |= {self.program(spot.path) for spot in self.interpreter.foreign}
        if self._rest is not None and self._rest.active:
            found |= self._programs()
        return found

    def _active_files(self) -> set[str]:
        """The files whose own code puts something on a device."""
        found: set[str] = set()
        for kind in ("module-move", "move", "placed", "default-device"):
            for group in self._groups.get(kind, ()):
                for site in group.sites:
                    device = site.detail.get("device")
                    if site.detail.get("symbolic"):
                        continue
                    if kind == "default-device" or (
                        isinstance(device, Device) and device.node.find().pin is Place.CENTRAL
                    ):
                        found.add(site.spot.path)
        return found

    def _for_the_cpu(self) -> set[str]:
        """The files of which no script that runs them uses a device, by what it reaches."""
        settled, active = self._settled_programs(), self._active_files()
        using: set[str] = set()
        free: set[str] = set()
        for program in self._programs() - settled:
            scripts = [path for path in program if not self._imported(path)]
            for script in scripts or program:
                reached = (self._reach(script) | {script}) & program
                if reached & active:
                    using |= reached
                elif not self._is_test(script):
                    free |= reached
        return free - using

    def _is_test(self, path: str) -> bool:
        """Tell whether a file has tests for pytest or unittest: those run on the CPU on purpose.

        A script that tests a model may be called test.py, too.
        """
        known = self._tests.get(path)
        if known is None:
            known = _TEST_FILE.fullmatch(path.rpartition("/")[2]) is not None
            known = known and _TEST.search(self.project.sources[path].text) is not None
            self._tests[path] = known
        return known

    def _forking_programs(self) -> set[frozenset[str]]:
        """The programs whose forked processes compute with modules, which CUDA does not allow."""
        spots = list(self.interpreter.forks)
        processes = {k for k in self.interpreter.classes if any(map(_is_process, k.mro()))}
        for klass in processes:
            for value in klass.symbolic.attrs.values() if klass.symbolic is not None else ():
                if self.interpreter.modules_in(value):
                    spots.append(Spot(klass.scope.path, klass.node))
        for group in self._groups.get("module", ()) if processes else ():
            for site in group.sites:
                if site.scope.func is not None and site.scope.func.cls in processes:
                    spots.append(site.spot)
        forking = {self.program(spot.path) for spot in spots}
        return {program for program in forking if not any(map(self._spawning, program))}

    def _spawning(self, path: str) -> bool:
        return self.markers(path).spawns

    def _naming_programs(self) -> set[frozenset[str]]:
        """The programs that name an accelerator somewhere: a CPU beside it is a choice."""
        if self._rest is not None and self._rest.naming:
            return self._programs()
        return {
            self.program(group.spot.path)
            for kind in ("literal", "indexed", "resolver")
            for group in self._groups.get(kind, ())
            if not group.first.name.startswith(("cpu", "meta"))
        }

    def _seed(self, free: set[str]) -> None:
        """A program for the CPU only: its models, and its heavy arithmetic, go to the device."""
        for group in self._groups.get("module", ()):
            for site in group.sites:
                made = site.detail["object"]
                if (
                    site.spot.path in free
                    and made.used
                    and made.node is not None
                    and not site.constructing
                    and not site.hosted
                    and not site.detail.get("symbolic")
                    and not self.owned(site.spot.path)
                    and not self._in_demonstration(site)
                ):
                    self.graph.pin(site.node or made.node, Place.CENTRAL, None, "seed")
        hosted = self._feeding_host()
        for node, spot, scope, path in self.interpreter.seeds:
            if spot.path not in free or self.owned(spot.path) or self._is_test(path):
                continue
            if spot.node in self.interpreter.host_work:
                continue  # workers do it too: it prepares data
            if scope.func is not None and scope.func.cls is not None:
                if scope.func.cls.family in ("module", "function", "dataset"):
                    continue
            root = node.find()
            if root.pin is None and root not in hosted:
                self.graph.pin(root, Place.CENTRAL, None, "seed")

    def _feeding_host(self) -> set[Node]:
        """The values that a dataset holds, and what they are computed from."""
        found = {node.find() for node in self.graph.nodes if node.find().wants_host is not None}
        queue = list(found)
        while queue:
            for source in queue.pop().flows_from:
                root = source.find()
                if root not in found:
                    found.add(root)
                    queue.append(root)
        return found

    def release(self) -> None:
        """Take the solution apart, so that its memory is free at once: it is of no use then.

        Its parts refer to each other, and would wait for the collection of garbage otherwise.
        """
        self.interpreter.release()
        vars(self).clear()

    def rest(self) -> Rest:
        """Return what an inference of some of this program has to know of all of it."""
        program = frozenset(self.files())
        interpreter = self.interpreter
        return Rest(
            interpreter.callers(),
            interpreter.work,
            program in self._active_programs(),
            program in self._naming_programs(),
            self._designed(program),
            interpreter.default_device,
            interpreter.class_devices,
            self._offering(),
            frozenset(self._needy_files().get(program, ())),
            self._lent,
        )

    # -- questions --------------------------------------------------------------------------

    def _programs(self) -> set[frozenset[str]]:
        return {self.program(path) for path in self.files()}

    def files(self) -> list[str]:
        """Return the files that this is the solution for."""
        program = self.interpreter.program
        return self.project.ordered(self.project.sources if program is None else program)

    def groups(self, kind: str) -> Iterator[SiteGroup]:
        """Return the places of a kind that may be changed, in the order of evaluation."""
        for group in self._groups.get(kind, ()):
            if group.first.hosted or self.owned(group.spot.path):
                continue
            yield group

    def groups_at(self, kind: str, node: ast.AST) -> list[SiteGroup]:
        """Return the places of a kind that are this node and may be changed: one, or none."""
        if kind not in self._by_node:
            self._by_node[kind] = {}
            for group in self.groups(kind):
                self._by_node[kind].setdefault(group.spot.node, []).append(group)
        return self._by_node[kind].get(node, [])

    def hosted_groups(self, kind: str) -> Iterator[SiteGroup]:
        """Return the places of a kind in code of datasets and workers."""
        for group in self._groups.get(kind, ()):
            if group.first.hosted and not self.owned(group.spot.path):
                yield group

    def clashing(self, node: Node | None) -> bool:
        """Tell whether a value is on the host but enters an operation on the device."""
        return node is not None and node.find() in self.graph.clashing

    def call_without(self, given: Const) -> tuple[Spot, str] | None:
        """Return the call that left a device parameter at this default, and the parameter."""
        return self.interpreter.left_out.get(given)

    def defaulted(self, node: Node) -> bool:
        """Tell whether a value is where a parameter's default put it, for want of an argument."""
        return node.find() in self._by_default

    @cached_property
    def _by_default(self) -> set[Node]:
        return {
            site.node.find()
            for group in self._groups.get("pinned", ())
            for site in group.sites
            if site.node is not None
            and isinstance(site.detail["device"][0], Const)
            and self.call_without(site.detail["device"][0]) is not None
        }

    def serves_host(self, node: Node) -> bool:
        """Tell whether a value is also read where only host memory can be."""
        return node.find() in self._read_on_host

    @cached_property
    def _read_on_host(self) -> set[Node]:
        return {
            site.node.find()
            for kind in ("host", "lengths")
            for group in self._groups.get(kind, ())
            for site in group.sites
            if site.node is not None
        }

    def alias(self, path: str, name: str) -> str:
        """Return how a file calls the library `name`, or an empty string."""
        names = self._libraries.get(path)
        if names is None:
            scope = self.interpreter.files.get(path)
            names = self._libraries[path] = [
                (bound, value.name)
                for bound, value in (scope.names if scope is not None else {}).items()
                if isinstance(value, Ext)
            ]
        for bound, known in names:
            if known == name:
                return bound
        for bound, known in names:
            if name.startswith(known + "."):
                return bound + name[len(known) :]
        return ""

    def torch(self, path: str) -> tuple[str, tuple[Import, ...]]:
        """Return torch's name in a file and the import that it needs, or "" where it is taken."""
        alias = self.alias(path, "torch")
        if alias or self._free_name(path, "torch") != "torch":
            return alias, ()
        return "torch", (Import(path, "torch"),)

    def code_of(self, path: str, node: ast.AST) -> str:
        """Return an expression as it is written."""
        return self.project.sources[path].segment(node)

    def place(self, node: Node | None) -> Place:
        """Return where a value lives."""
        if node is None:
            return Place.UNKNOWN
        return node.find().color or Place.UNKNOWN

    def place_of(self, group: SiteGroup) -> Place:
        """Return the strongest word about where the value of a site has to be."""
        places = {self.place(site.node) for site in group.sites}
        for place in (Place.CENTRAL, Place.FOLLOWS, Place.HOST):
            if place in places:
                return place
        return Place.UNKNOWN

    def on_device(self, node: Node | None) -> bool:
        """Tell whether a value is, or has to be, on the central device or where its input is."""
        return self.place(node) in _ON_DEVICE

    def program(self, path: str) -> frozenset[str]:
        """Return the files that are connected with this one."""
        return self.project.programs.get(path, frozenset((path,)))

    def owned(self, path: str) -> bool:
        """Tell whether a library, or a design over several GPUs, decides the devices of a file."""
        known = self._owned.get(path)
        if known is None:
            known = self._designed(self.program(path)) or self.owner(path) is not None
            self._owned[path] = known
        return known

    def _designed(self, program: frozenset[str]) -> bool:
        """Tell whether it is a program's design which of its devices what is on."""
        if self._rest is not None and self._rest.designed:
            return True
        # So it is that models go to the CPU and back.
        wanders = any(spot.path in program for spot in self.interpreter.wandering)
        return wanders or program in self.model_parallel()

    def owner(self, path: str) -> tuple[str, ast.stmt] | None:
        """Return the library that decides the devices of a file, and the file's import of it."""
        tree = self.project.tree(path)
        for node in tree.body if tree is not None else ():
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if name.split(".")[0] in _OWNERS or name.startswith((_REMOTE, *_SPREADERS)):
                    return name, node
        return None

    def clashes(self) -> Iterator[tuple[Clash, Spot]]:
        """Return the values that are firmly elsewhere and enter an operation on the device.

        Each comes with the outermost expression through which it enters: the argument of a call
        rather than the parameter inside the function.
        """
        for clash in self.graph.clashes:
            spot = self.entry(clash.node, clash.spot, clash.meet.function)
            if not self.owned(spot.path) and not self._on_hearsay(clash):
                yield clash, spot

    def _on_hearsay(self, clash: Clash) -> bool:
        """Tell whether only a parameter that no caller is known of says that this is a clash."""
        places = (self.place(clash.node), self.place(clash.other))
        if Place.FOLLOWS not in places or clash.meet.function is None:
            return False
        scope = self.interpreter.scopes.get(clash.meet.function)  # type: ignore[call-overload]
        return scope is not None and not self.in_module(scope)

    def operands(self, path: str, first: int, last: int) -> list[tuple[Spot, Node]]:
        """Return the operands that meet in lines `first` to `last` of a file, in reading order."""
        found: dict[ast.AST, tuple[Spot, Node]] = {}
        for node in self.graph.nodes:
            for meet in (*node.meets, *node.indexes):
                for spot, operand in ((meet.left_spot, meet.left), (meet.right_spot, meet.right)):
                    line = getattr(spot.node, "lineno", 0)
                    if spot.path == path and first <= line <= last:
                        found[spot.node] = (spot, operand)
        return sorted(found.values(), key=lambda pair: self.span(pair[0]))

    def undecided(self) -> Iterator[SiteGroup]:
        """Return the places where something meets the device of which nothing is known.

        What a module's method hands on of its own arguments is left to those who call it.
        """
        for group in self.groups("undecided"):
            for site in group.sites:
                if site.detail["symbolic"] or self.place(site.node) is not Place.CENTRAL:
                    continue
                func = site.scope.func
                if func is None or not _is_parameter(group.spot.node, func.node):
                    yield group
                    break
        yield from self._perhaps_numbers()

    def _perhaps_numbers(self) -> Iterator[SiteGroup]:
        """Return what was loaded onto the CPU and meets the device, if it is no number."""
        seen: set[ast.AST] = set()
        for clash in self.graph.clashes:
            for node, spot, other in (
                (clash.meet.left, clash.meet.left_spot, clash.meet.right),
                (clash.meet.right, clash.meet.right_spot, clash.meet.left),
            ):
                if not perhaps_number(node) or spot.node in seen:
                    continue
                seen.add(spot.node)
                site = self.site_at(spot)
                if site is not None and not self.owned(spot.path):
                    yield SiteGroup("undecided", spot, [replace(site, node=other)])

    def incomplete(self, findings: Iterable[Finding]) -> tuple[str, ...]:
        """Return what keeps a program for the CPU from being converted: "main.py:83", ...

        That is what is not decided, and what stays on the CPU for want of a repair. Empty for a
        program that uses a device already.
        """
        if not self._seeded:
            return ()
        places = [
            (group.spot.path, getattr(group.spot.node, "lineno", 0)) for group in self.undecided()
        ]
        places += [
            (found.path, found.span.line)
            for found in findings
            if found.fix is None and found.level != "note" and found.rule in _LEFT_BEHIND
        ]
        return tuple(f"{path}:{line}" for path, line in places if path in self._seeded)

    def certain(self, node: Node) -> bool:
        """Tell whether something puts a value where it is, or computes it from what is there."""
        root = node.find()
        if root.pin is not None and root.name != "seed":
            return True
        return any(
            source.find().pin is not None and source.find().color is root.color
            for source in root.flows_from
        )

    def evaluations(self, scope: Scope, node: ast.AST) -> int:
        """Return how often the function of a scope was evaluated; if `node` is a name, with it."""
        if scope.func is None:
            return 1
        count = self.interpreter.contexts.get(scope.func.node, 1)
        for each in self.interpreter.all_scopes.get(scope.func.node, ()):
            value = each.names.get(node.id) if isinstance(node, ast.Name) else None
            count -= isinstance(value, Const) and value.value is None
        return count

    def entry(self, node: Node, spot: Spot, function: ast.AST | None) -> Spot:
        """Return the outermost argument through which a value enters an operation."""
        root = node.find()
        seen: set[ast.AST] = set()
        while function is not None and function not in seen:
            if not _is_parameter(spot.node, function):
                break  # it is made here, and only lives where some argument does
            seen.add(function)
            for passed, where, caller in self.interpreter.arguments.get(function, ()):
                if passed.find() is root and isinstance(where.node, ast.expr):
                    spot, function = where, caller
                    break
            else:
                break
        return spot

    def span(self, spot: Spot) -> Span:
        """Return the range of an expression or statement."""
        return self.project.sources[spot.path].span(spot.node)

    def code(self, spot: Spot) -> str:
        """Return an expression as it is written."""
        return self.project.sources[spot.path].segment(spot.node)

    def parents(self, path: str) -> Parents:
        """Return the parents of the nodes of a file."""
        known = self._parents.get(path)
        if known is None:
            known = self._parents[path] = Parents(self._tree(path))
        return known

    def _tree(self, path: str) -> ast.Module:
        """Return the tree of a file; an empty one for a file that does not parse."""
        return self.project.tree(path) or ast.Module([], [])

    def statement_of(self, spot: Spot) -> ast.stmt | None:
        """Return the innermost statement that an expression is in, or the statement itself."""
        parents = self.parents(spot.path)
        node: ast.AST | None = spot.node
        while node is not None and not isinstance(node, ast.stmt):
            node = parents.get(node)
        return node

    def chain_end(self, spot: Spot) -> Spot:
        """Return the end of a chain of methods that only look at or convert the value."""
        parents = self.parents(spot.path)
        node = spot.node
        while True:
            attribute = parents.get(node)
            call = parents.get(attribute) if attribute is not None else None
            if not (
                isinstance(attribute, ast.Attribute)
                and isinstance(call, ast.Call)
                and call.func is attribute
            ):
                return Spot(spot.path, node)
            fact = torchfacts.tensor_method(attribute.attr)
            if fact is None or fact.kind != "view" or fact.out not in ("tensor", "self"):
                return Spot(spot.path, node)
            node = call

    def origin(self, node: Node | None, text: str) -> tuple[Origin, ...]:
        """Return where a value's place comes from."""
        if node is None:
            return ()
        root = node.find()
        spot = root.because or root.pin_spot or (root.spots[0] if root.spots else None)
        if spot is None or spot.path not in self.project.sources:
            return ()
        if not hasattr(spot.node, "lineno"):
            return ()
        return (Origin(spot.path, self.span(spot), text),)

    # -- names for devices ------------------------------------------------------------------

    def in_module(self, scope: Scope) -> bool:
        """Tell whether code belongs to a module's or an autograd function's methods."""
        level: Scope | None = scope
        while level is not None:
            if level.func is not None and level.func.cls is not None:
                return level.func.cls.family in ("module", "function")
            level = level.outer
        return False

    def follow(self, group: SiteGroup) -> str | None:
        """Return the expression of a device that every evaluation of this place can follow."""
        common: list[str] | None = None
        certain: set[str] = set()
        looked_at = [s for s in group.sites if len(group.sites) == 1 or self.on_device(s.node)]
        for site in looked_at:
            names: list[str] = []
            for name, node in site.tensors:
                root = node.find()
                # A host tensor may be moved where it is handed in, so one caller is no veto.
                if root.sure and (root.color in _ON_DEVICE or root.color is Place.HOST):
                    names.append(name)
                    if root.color in _ON_DEVICE:
                        certain.add(name)
            names += site.unknown  # what other callers hand in tells
            common = names if common is None else [n for n in common if n in names]
        usable = [
            name
            for name in common or ()
            if name in certain
            and not self._other_type(name, group)
            and not self._holds_tensors(name, group.first.scope)
        ]
        if len(usable) > 1:
            near = {
                name
                for site in looked_at
                for name, node in site.tensors
                if site.node is not None and name in usable and self._adjacent(site.node, node)
            }
            spoken = {n.id for n in syntax.walk(group.spot.node) if isinstance(n, ast.Name)}
            optional = _optional(group.first.scope)
            usable.sort(key=lambda name: (name in optional, name not in spoken, name not in near))
        return f"{usable[0]}.device" if usable else None

    def _other_type(self, name: str, group: SiteGroup) -> bool:
        """Tell whether some evaluation of a place has a name for what is no tensor."""
        return any(
            name in site.scope.names
            and name not in site.unknown
            and all(name != tensor for tensor, _ in site.tensors)
            for site in group.sites
        )

    def _holds_tensors(self, name: str, scope: Scope) -> bool:
        """Tell whether a function uses a parameter as a mapping, or takes it apart as a tuple."""
        level: Scope | None = scope
        while level is not None:
            if level.func is not None and name in parameters(level.func.node):
                node = level.func.node
                if node not in self._held:
                    text = self.project.sources[level.path].lines(node)
                    told = any(word in text for word in _TAKEN_APART)
                    self._held[node] = _held(node) if told else set()
                return name in self._held[node]
            level = level.outer
        return False

    def _adjacent(self, node: Node, other: Node) -> bool:
        root, other = node.find(), other.find()
        return any(
            (m.right if m.left.find() is root else m.left).find() is other for m in root.meets
        )

    def creation_edit(self, group: SiteGroup, name: Name) -> Edit:
        """Return the edit that puts a creation on the device: `device=` where the API has it."""
        node = group.spot.node
        called = isinstance(node, ast.Call)
        if not called and self.interpreter.dotted(node) == group.first.name:
            # `map(torch.tensor, arrays)`
            code = f"{self.code(group.spot)}(data"
            known = group.first.detail["fact"].device and group.kind != "legacy"
            code += f", device={name.code})" if known else f").to({name.code})"
            replaced = (("code", f"lambda data: {code}"),)
            return Edit(group.spot.path, self.span(group.spot), "replace", replaced)
        if called and group.first.detail["fact"].device and group.kind != "legacy":
            given = (("name", "device"), ("value", name.code))
            return Edit(group.spot.path, self.span(group.spot), "keyword", given)
        end = self.span(self.chain_end(group.spot))
        return Edit(group.spot.path, end, "method", (("code", f".to({name.code})"),))

    def device_for(self, group: SiteGroup) -> Name | None:
        """Return how the code at a place names the device it should use.

        Inside modules and helpers with a tensor parameter it follows that; elsewhere it takes the
        nearest name for the central device, and a resolver where there is none.
        """
        followed = self.follow(group)
        if followed is not None:
            return Name(followed)
        return self.central_for(group)

    def central_for(self, group: SiteGroup) -> Name | None:
        """Return the nearest name for the central device at a place, or a resolver's."""
        site = group.first
        module = self._module_of(site.scope)
        if module is not None and is_bare(site):
            return self._while_built(site, site.scope.path)
        for code, value, is_global in site.devices:
            if is_global and "." in code and self._is_of_main(code, site):
                continue
            if site.constructing and module is not None and code.count(".") > 1:
                continue  # a part may be there already, and the module that is built is not
            if self._is_central(value) and not (is_global and module is not None):
                if not (isinstance(value, Device) and value.pending):
                    return Name(code, text=not isinstance(value, Device) or value.text)
        # A name of its own comes before that of an object that happens to have a device.
        names = sorted(site.devices, key=lambda known: "." in known[0].removeprefix("self."))
        for code, value, is_global in names:
            if isinstance(value, Device) and value.pending:
                if not (is_global and module is not None):
                    return self._pending(code, value, site)
        if module is None:
            own = self.of_process(site)
            if own is not None:
                return own
        if module is not None and module.node is not None:
            if module.cls is not None and isinstance(module.cls.lookup("device"), Func):
                return Name("self.device")
            if module.stateful:
                return self._of_parameters(group)
            return None
        if site.detail.get("symbolic") and self.place(site.node) is not Place.CENTRAL:
            return None
        likely = self._likely_tensor(group)
        if likely:
            return Name(f"{likely}.device")
        handed = self._parameter(group)
        if handed is not None:
            return handed
        if self.offered(_edited(site)):  # the user chooses, elsewhere
            path = _edited(site)
            return self._unhidden(self._existing(path, self.program(path)), site)
        return self._unhidden(self.resolver(_edited(site)), site)

    @staticmethod
    def _unhidden(name: Name | None, site: Site) -> Name | None:
        """Return a file's name for the device, None where a function gives it to its own value."""
        scope: Scope | None = site.scope
        while name is not None and scope is not None and scope.func is not None:
            if name.code in scope.names:
                return None  # it is bound behind this place, or else it would be known
            scope = scope.outer
        return name

    def stays_behind(self, site: Site) -> bool:
        """Tell whether a tensor of a constructor goes into what does not move with the module.

        That is a list, or an object of a library; what becomes a parameter or a buffer does.
        """
        if self._apart is None:
            self._apart = set()
            queue = [node.find() for node in self.interpreter.held]
            while queue:
                root = queue.pop()
                if root not in self._apart and root.pin is None:
                    self._apart.add(root)
                    queue += [source.find() for source in root.flows_from]
        return site.node is not None and site.node.find() in self._apart

    def _in_demonstration(self, site: Site) -> bool:
        """Tell whether code shows how a module works that others import: no program of its own."""
        path = site.spot.path
        if site.scope.func is not None or not self._imported(path):
            return False
        node = site.spot.node
        parents = self.parents(path)
        while (outer := parents.get(node)) is not None:
            node = outer
            if isinstance(node, ast.If) and _is_main(node):
                return True
        return False

    def _is_of_main(self, code: str, site: Site) -> bool:
        """Tell whether a function would speak of an object that only `__main__` makes."""
        if site.scope.func is None:
            return False
        path = site.scope.path
        if path not in self._of_main:
            body = self._tree(path).body
            main = [part for part in body if _is_main(part)]
            others = [part for part in body if not _is_main(part)]
            self._of_main[path] = _stored(main) - _stored(others)
        return code.partition(".")[0] in self._of_main[path]

    def _of_parameters(self, group: SiteGroup) -> Name:
        """Return the device of a module's parameters; by a name where several tensors need it."""
        code = "next(self.parameters()).device"
        func = group.first.scope.func
        module = self._module_of(group.first.scope)
        if module is not None and not _has_parameters(module):
            buffer = _first_buffer(module)
            return Name(f"self.{buffer}.device" if buffer else code)
        if group.kind not in _CREATIONS or func is None or isinstance(func.node, ast.Lambda):
            return Name(code)
        if func.node not in self._named_before:
            self._named_before[func.node] = self._first_of_several(func.node)
        first = self._named_before[func.node]
        if first is None:
            return Name(code)
        place = self.span(Spot(func.scope.path, first))
        definition = (("code", f"device = {code}"),)
        return Name("device", edits=(Edit(func.scope.path, place, "before", definition),))

    @cached_property
    def _creations_in(self) -> dict[ast.AST, list[SiteGroup]]:
        """The creations in each function, kind by kind."""
        found: dict[ast.AST, list[SiteGroup]] = {}
        for kind in _CREATIONS:
            for group in self.groups(kind):
                if group.first.scope.func is not None:
                    found.setdefault(group.first.scope.func.node, []).append(group)
        return found

    def _first_of_several(self, function: FunctionNode) -> ast.stmt | None:
        """Return the statement of a function that creates the first of several tensors.

        None where there are not several that have nothing to follow, and where `device` is taken.
        """
        lines = [
            group.spot.node.lineno
            for group in self._creations_in.get(function, ())
            if isinstance(group.spot.node, ast.expr)
            and any(self.on_device(site.node) for site in group.sites)
            and not any("device" in site.detail["kwargs"] for site in group.sites)
            and self.follow(group) is None
        ]
        for node in syntax.walk(function):
            if isinstance(node, ast.Name) and node.id == "device":
                return None
            if isinstance(node, ast.arg) and node.arg == "device":
                return None
        body = function.body if not isinstance(function, ast.Lambda) else []
        if len(lines) < 2:
            return None
        return next((stmt for stmt in body if (stmt.end_lineno or 0) >= min(lines)), None)

    def _likely_tensor(self, group: SiteGroup) -> str:
        """Return a parameter that nothing is known of but what the function does with it."""
        func = group.first.scope.func
        if func is None or isinstance(func.node, ast.Lambda) or func.cls is not None:
            return ""
        optional = _optional(group.first.scope)
        for name in group.first.unknown:
            if name in optional or any(name not in site.unknown for site in group.sites):
                continue
            for node in syntax.walk(func.node):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=known), attr=attr)):
                        if known == name and attr in _TENSORS_ONLY:
                            return name
        return ""

    def _parameter(self, group: SiteGroup) -> Name | None:
        """Hand a function the device that its callers have, where it can import none.

        Only for a helper whose every call is known and can name the device: one of another file,
        or of a program in which each process has a device of its own, or the user chooses it.
        """
        func = group.first.scope.func
        if func is None or isinstance(func.node, ast.Lambda) or func.cls is not None:
            return None
        path = func.scope.path
        if func.scope.outer is not None or self._existing(path, self.program(path)) is not None:
            return None
        names = {a.arg for a in ast.walk(func.node.args) if isinstance(a, ast.arg)}
        if "device" in names:
            return None
        local = self.ranked(path) or self.offered(path)
        place = self.span(Spot(path, func.node))
        edits = [Edit(path, place, "parameter", (("name", "device"), ("default", "None")))]
        for caller in self.interpreter.all_scopes.get(func.node, ()):
            call = caller.call
            if call is None or not isinstance(call.node, ast.Call):
                return None
            if ast.unparse(call.node.func).rpartition(".")[2] != func.node.name:
                return None  # it is handed on, to be called by another
            around = self.interpreter.scope_of(call)
            if around is not None and around.node is func.node:
                value = (("name", "device"), ("value", "device"))  # it calls itself
                edits.append(Edit(path, self.span(call), "keyword", value))
                continue
            given = self.name_at(call) if call.path != path or local else None
            if given is None or given.resolvers or given.imports:
                return None
            if given.edits and not local:
                return None
            value = (("name", "device"), ("value", given.code))
            edits += [*given.edits, Edit(call.path, self.span(call), "keyword", value)]
        return Name("device", edits=tuple(dict.fromkeys(edits)))

    def of_process(self, site: Site) -> Name | None:
        """Return the name of this process's device at a place, to be defined where there is none.

        None where nothing at the place says which process it is.
        """
        for code, value, _ in site.devices:
            if isinstance(value, Device) and value.rank is not None and not value.partial:
                return Name(code, text=value.text)
        ranks = {code: v for code, v, _ in site.devices if isinstance(v, Rank)}
        for scope in self.interpreter.all_scopes.get(site.scope.node, ()):
            for code, value in scope.names.items():  # in another evaluation
                if isinstance(value, Rank) and value.device is not None:
                    ranks[code] = value
        for code, rank in sorted(ranks.items(), key=lambda pair: not pair[0].startswith("self.")):
            found = processes.definition(self, code, rank, site)
            if found is not None:
                return Name(found[0], edits=found[1])
        return None

    def offered(self, path: str) -> bool:
        """Tell whether the user of a program chooses on the command line where it runs."""
        if self._choosing is None:
            self._choosing = set(self._offering())
            for chosen in tuple(self._choosing):
                self._choosing |= self._reach(chosen)
        return path in self._choosing

    def _offering(self) -> tuple[str, ...]:
        """The files that run with a user's choice: whose code comes to it, or imports it."""
        found = dict.fromkeys(self._rest.offering if self._rest is not None else ())
        queue: list[str] = []
        for spot in self.interpreter.offers:
            func = self._function_of(spot)
            callers = self.interpreter.reached.get(func, ()) if func is not None else ()
            found.update(dict.fromkeys(sorted(path for path, _ in callers)))
            if not callers:
                queue.append(spot.path)
        imported: set[str] = set()
        while queue:
            path = queue.pop()
            if path not in imported:
                imported.add(path)
                queue += self.project.importers.get(path, ())
        return tuple(dict.fromkeys((*found, *sorted(imported))))

    def _function_of(self, spot: Spot) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the function that some code is in, or None for a file's own code."""
        parents = self.parents(spot.path)
        node = parents.get(spot.node)
        while node is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node = parents.get(node)
        return node

    def decided_by(self, path: str, code: str) -> bool:
        """Tell whether an index that the user chose, or a copy of it, decides the device."""
        return self.offered(path) and code in self.interpreter.indexes(path)

    def _pending(self, code: str, device: Device, site: Site) -> Name | None:
        """Return a name that is to be defined behind the user's choice, where that comes first."""
        assert device.pending is not None
        spot = device.pending.spot
        where = self.interpreter.scope_of(spot)
        if where is not None and site.scope.node is where.node:
            if getattr(site.spot.node, "lineno", 0) <= getattr(spot.node, "lineno", 0):
                return None
        elif isinstance(self.parents(spot.path).get(spot.node), ast.If) and site.scope.func:
            if self._imported(spot.path):
                return None  # `if __name__ == "__main__":` is not run for those who import this
        change = Edit(spot.path, self.span(spot), "after", (("code", device.pending.code),))
        imports = (Import(spot.path, "torch"),) if device.pending.imports_torch else ()
        return Name(code, edits=(change,), imports=imports)

    def site_at(self, spot: Spot) -> Site | None:
        """Return a site for an expression, with what the code there could name a device by."""
        scope = self.interpreter.scope_of(spot)
        if scope is None:
            return None
        site = Site("operand", spot, None, scope)
        self.interpreter.snapshot(site, scope)
        bound = self._bound_in(scope)
        line = getattr(self.statement_of(spot) or spot.node, "lineno", 0)
        site.devices = [d for d in site.devices if bound.get(d[0].split(".")[0], -1) < line]
        site.detail["symbolic"] = False
        return site

    def returned(self, group: SiteGroup) -> bool:
        """Tell whether what is made at a place is what its function returns, to known callers."""
        func = group.first.scope.func
        if func is None or isinstance(func.node, ast.Lambda):
            return False
        if not all(self.on_device(s.node) and s.scope.call is not None for s in group.sites):
            return False
        match self.statement_of(group.spot):
            case ast.Return(value=value):
                return value is group.spot.node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                uses = [n for n in syntax.walk(func.node) if isinstance(n, ast.Name)]
                stored = sum(n.id == name and isinstance(n.ctx, ast.Store) for n in uses)
                ends = [n.value for n in syntax.walk(func.node) if isinstance(n, ast.Return)]
                return (
                    value is group.spot.node
                    and stored == 1
                    and all(isinstance(end, ast.Name) and end.id == name for end in ends)
                )
        return False

    def moves_itself(self, group: SiteGroup) -> bool:
        """Tell whether a method moves its own module, or a part of it."""
        if group.kind != "module-move":
            return False
        module = self._module_of(group.first.scope)
        moved: Obj = group.first.detail["object"]
        return module is not None and module in moved.wholes()

    def name_at(self, spot: Spot, *, itself: bool = False) -> Name | None:
        """Return how an operand names the device it has to go to.

        `itself`: it is the module whose code this is, which cannot follow its own parameters.
        """
        site = self.site_at(spot)
        if site is None:
            return None
        group, scope = SiteGroup("operand", spot, [site]), site.scope
        # A value cannot follow itself, nor anything while the module is still being built.
        moved = _moved_names(spot.node)
        building = scope.func is not None and getattr(scope.func.node, "name", "") == "__init__"
        if not (building or itself) and (self.in_module(scope) or not moved):
            for name in self._followed(scope):
                if name.split("[")[0] not in moved:
                    return Name(f"{name}.device")
        if (building or itself) and self._module_of(scope) is not None:
            return self._while_built(site, spot.path)
        return self.central_for(group)

    def _while_built(self, site: Site, path: str) -> Name | None:
        """Return the device's name where a module has nothing yet that could be followed."""
        for code, value, _ in site.devices:
            if self._is_central(value):
                if not (isinstance(value, Device) and value.pending):
                    return Name(code, text=not isinstance(value, Device) or value.text)
                defined = self._pending(code, value, site)
                if defined is not None:
                    return defined
        return self.resolver(path)

    def _bound_in(self, scope: Scope) -> dict[str, int]:
        """Return in which line a function or file first binds each of its names."""
        if scope.node not in self._bound:
            self._bound[scope.node] = _first_bound(scope.node)
        return self._bound[scope.node]

    def _followed(self, scope: Scope) -> Iterator[str]:
        """The tensor parameters of a function that some caller hands in from the device."""
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        found: dict[str, list[Node]] = {}
        for one in scopes:
            site = Site("operand", Spot(scope.path, scope.node), None, one)
            self.interpreter.snapshot(site, one)
            for name, node in site.tensors:
                found.setdefault(name, []).append(node.find())
        for name in dict.fromkeys(name for one in scopes for name in one.names):
            held = [one.names.get(name) for one in scopes]
            if any(isinstance(value, Obj) for value in held):
                continue  # a module, which some caller hands in, has no device
            if any(root.color in _ON_DEVICE and root.sure for root in found.get(name, ())):
                if not self._holds_tensors(name, scope):
                    yield name

    def _module_of(self, scope: Scope) -> Obj | None:
        level: Scope | None = scope
        while level is not None:
            owner = level.self_value
            if (
                isinstance(owner, Obj)
                and owner.family == "module"
                and "self" in level.names
                and level.func is not None
            ):
                return owner
            level = level.outer
        return None

    def _is_central(self, value: Value) -> bool:
        if isinstance(value, Device):
            return self.place(value.node) in _ON_DEVICE
        if isinstance(value, Option):
            return value.device is not None and self.place(value.device.node) in _ON_DEVICE
        if isinstance(value, Const) and value.spot is not None:
            used = self.interpreter.consumed.get(value.spot.node)
            return used is not None and self.place(used.node) in _ON_DEVICE
        return False

    def resolver(self, path: str) -> Name | None:
        """Return the name of the central device in a file that has none in reach."""
        if path not in self._resolvers:
            self._resolvers[path] = self._resolver(path)
        return self._resolvers[path]

    def _resolver(self, path: str) -> Name | None:
        program = self.program(path)
        if self.project.resolver_function:
            return self._chosen(path)
        existing = self._existing(path, program)
        if existing is not None:
            return existing
        if self.ranked(path) and not self.settled(path):
            return None  # one device for all processes would be the wrong one for most
        needy = self._needy_files().get(program, set()) | {path}
        name = self._free_name(path, "device")
        if len(needy) == 1 or self._hides(program):
            return Name(name, (Resolver(path, name),))
        for folder in (_common_folder(needy), *sorted(self._packages(needy))):
            module_path = posixpath.join(folder, "device.py") if folder else "device.py"
            module = self._module_name(path, module_path)
            if module is None or module_path in self.project.sources:
                continue
            if all(self._module_name(other, module_path) is not None for other in needy):
                return Name(name, (Resolver(path, name, module, module_path),))
        return Name(name, (Resolver(path, name),))

    def _hides(self, program: frozenset[str]) -> bool:
        """Tell whether a program hides GPUs from itself, and must not ask for one on import."""
        if program not in self._hiding:
            self._hiding[program] = any(self.markers(path).hides_gpus for path in program)
        return self._hiding[program]

    def _packages(self, paths: set[str]) -> set[str]:
        """Return the outermost packages that some of these files are in."""
        found: set[str] = set()
        for path in paths:
            folder = posixpath.dirname(posixpath.normpath(path))
            while folder and self.project.is_package(posixpath.join(folder, "module")):
                parent = posixpath.dirname(folder)
                if not parent or not self.project.is_package(posixpath.join(parent, "module")):
                    found.add(folder)
                folder = parent
        return found

    def _chosen(self, path: str) -> Name | None:
        """Return a call of the function that the user named."""
        module, _, function = self.project.resolver_function.partition(":")
        home = self.project.resolve(path, module)
        if home == path:
            return None
        tree = self.project.tree(path)
        imported = any(
            isinstance(node, ast.ImportFrom)
            and any(alias.name == function and alias.asname is None for alias in node.names)
            and (home or module)
            in (node.module, self.project.resolve(path, node.module or "", node.level))
            for node in (tree.body if tree else ())
        )
        if not imported and self._free_name(path, function) != function:
            return None  # the file means something else by this name
        return Name(f"{function}()", imports=() if imported else (Import(path, module, function),))

    def _existing(self, path: str, program: frozenset[str]) -> Name | None:
        """Return the program's resolver: a constant that this file has, or one it can import."""
        if path not in self._lent:
            found = self._find_existing(path, program)
            if found is None and self._rest is not None:
                found = self._rest.existing.get(path)
            self._lent[path] = found
        return self._lent[path]

    def _find_existing(self, path: str, program: frozenset[str]) -> Name | None:
        for other in sorted(program, key=lambda p: (p != path, p)):
            scope = self.interpreter.files.get(other)
            if scope is None:
                continue
            for name, value in scope.names.devices.items():
                if not (isinstance(value, Device) and value.resolved and self._is_central(value)):
                    continue
                if value.pending or value.partial:
                    continue
                if other == path:
                    return Name(name, text=value.text)
                if path in self._reach(other) or not self._imported(other):
                    continue
                module = self._module_name(path, other)
                if module is None or not self._lends(other, name, path):
                    continue
                return Name(name, imports=(Import(path, module, name),), text=value.text)
        return None

    def _lends(self, path: str, name: str, borrower: str) -> bool:
        """Tell whether a file is one to take the device from: not some unrelated script."""
        stem = posixpath.splitext(posixpath.basename(path))[0]
        return (
            path in self.project.imports.get(borrower, ())
            or bool(_SHARED_NAMES.search(stem))
            or any(
                isinstance(node, ast.ImportFrom)
                and any(alias.name == name for alias in node.names)
                and self.project.resolve(other, node.module or "", node.level) == path
                for other, targets in self.project.imports.items()
                if path in targets
                for node in ast.walk(self.project.tree(other) or ast.Module([], []))
            )
        )

    def _imported(self, path: str) -> bool:
        return path in self.project.importers

    def kind_of(self, name: Name, torch: str, spot: Spot) -> str:
        """Return the expression for a device's type ("cuda", "cpu"), or "" where it may have none.

        That is a string without torch's name to convert it, or a parameter that may be None.
        """
        if any(edit.verb == "parameter" for edit in name.edits):
            return ""  # callers outside of the project leave it out
        parents = self.parents(spot.path)
        node: ast.AST | None = spot.node
        while node is not None:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                spec = node.args
                optional = [a.arg for a in spec.args[len(spec.args) - len(spec.defaults) :]]
                if name.code in (*optional, *(a.arg for a in spec.kwonlyargs)):
                    return ""
            node = parents.get(node)
        if not name.text:
            return f"{name.code}.type"
        return f"{torch}.device({name.code}).type" if torch else ""

    def markers(self, path: str) -> Markers:
        """Return what a file does about processes and GPUs as a whole."""
        if path not in self._markers:
            self._markers[path] = markers(self.project, path)
        return self._markers[path]

    def ranked(self, path: str) -> bool:
        """Tell whether a file starts one process for each GPU: each has a device of its own."""
        return self.markers(path).is_distributed

    def accelerated(self, path: str) -> bool:
        """Tell whether a program's device is, or is to be, what torch.accelerator finds."""
        if self.project.resolver == "accelerator":
            return True
        program = self.program(path)
        if any(self.markers(other).asks_accelerator for other in program):
            return True
        if self.project.style != "accelerator" or self.ranked(path):
            return False
        return self._existing(path, program) is None

    def settled(self, path: str) -> bool:
        """Tell whether each process of a program chooses its GPU once: "cuda" then means that."""
        return any(self.markers(other).sets_device_once for other in self.program(path))

    def taken_from(self, path: str) -> set[str]:
        """Return the names that other files may take from this one; "*" for all of them."""
        found: set[str] = set()
        for other in self.project.importers.get(path, ()):
            names = self._offered.get(other)
            if names is None:
                names = self._offered[other] = _taken_names(self._tree(other))
            found |= names
        return found

    def _reach(self, path: str) -> set[str]:
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

    def _needy_files(self) -> dict[frozenset[str], set[str]]:
        """The files of each program whose own code has to name the central device."""
        if self._needy is None:
            self._needy = {}
            if self._rest is not None:
                self._needy = {program: set(self._rest.needy) for program in self._programs()}
            for kind in (*_CREATIONS, "module", "batch", "load", "generator"):
                for group in self.groups(kind):
                    site = group.first
                    if site.constructing or not any(
                        self.on_device(s.node) or s.detail.get("into_module") for s in group.sites
                    ):
                        continue
                    if kind == "module":
                        made = site.detail["object"]
                        if made.moves or made.parent is not None or not made.stateful:
                            continue
                    if self._module_of(site.scope) is not None or self.follow(group):
                        continue
                    if any(self._is_central(value) for _, value, _ in site.devices):
                        continue
                    path = _edited(site)
                    self._needy.setdefault(self.program(path), set()).add(path)
            for kind in ("move", "module-move"):
                for group in self.groups(kind):
                    path = group.spot.path
                    if group.first.name == "cuda" and path not in self._needing(path):
                        name = self._within_reach(group)
                        if name is None:
                            self._needing(path).add(path)
        return self._needy

    def _needing(self, path: str) -> set[str]:
        assert self._needy is not None
        return self._needy.setdefault(self.program(path), set())

    def _within_reach(self, group: SiteGroup) -> Name | None:
        """Return how a place could name the device without a resolver: what it follows, or has."""
        site = group.first
        if self._module_of(site.scope) is not None or site.detail["guarded"]:
            return Name("self")
        self.interpreter.snapshot(site, site.scope)
        followed = self.follow(group)
        if followed is not None:
            return Name(followed)
        return next((Name(n) for n, value, _ in site.devices if self._is_central(value)), None)

    def is_free(self, path: str, name: str) -> bool:
        """Tell whether a file binds no such name."""
        if name not in self.project.sources[path].text:
            return True
        taken = self._taken.get(path)
        if taken is None:
            taken = self._taken[path] = _bound_names(self._tree(path))
        return name not in taken

    def _free_name(self, path: str, wanted: str) -> str:
        """Return a name that the file uses for nothing else."""
        for name in (wanted, f"torch_{wanted}", f"central_{wanted}"):
            if self.is_free(path, name):
                return name
        return f"samedevice_{wanted}"

    def _module_name(self, path: str, target: str) -> str | None:
        """Return how a file of the project imports another one; None if that cannot be told."""
        if (path, target) not in self._modules:
            self._modules[path, target] = self._find_module_name(path, target)
        return self._modules[path, target]

    def _find_module_name(self, path: str, target: str) -> str | None:
        folder = posixpath.dirname(posixpath.normpath(path))
        place = posixpath.splitext(posixpath.normpath(target))[0]
        shown = list(self._roots(path))
        if self.project.is_package(path) and folder not in shown:
            program = self.program(path)
            if program not in self._relative:
                self._relative[program] = any(
                    isinstance(node, ast.ImportFrom) and node.level
                    for other in program
                    for node in self._tree(other).body
                )
            if self._relative[program]:
                dots, base = 1, folder
                while base and not place.startswith(base + "/"):
                    base = posixpath.dirname(base)
                    dots += 1
                if base and self.project.is_package(base + "/module"):
                    return "." * dots + place[len(base) + 1 :].replace("/", ".")
                # Above the package no relative import reaches it, but the scripts' imports may.
                scripts = list(self._entries(path))
                if all(posixpath.dirname(other) in self._roots(other) for other in scripts):
                    shown += [posixpath.dirname(other) for other in scripts]
                return next((_below(place, root) for root in shown if _is_in(place, root)), None)
            base = folder
            while base and posixpath.join(base, "__init__.py") in self.project.sources:
                base = posixpath.dirname(base)
            if _is_in(place, base):
                return _below(place, base)
        # A script's own folder is on the path, and whatever its imports show to be there.
        for root in (folder, *shown, *(posixpath.dirname(other) for other in self._entries(path))):
            if _is_in(place, root):
                return _below(place, root)
        return None

    def _roots(self, path: str) -> Iterator[str]:
        """The folders on the module path, by the absolute imports of a file that work."""
        for node in syntax.statements(self._tree(path)):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                found = self.project.resolve(path, name)
                if found is None:
                    continue
                place = posixpath.splitext(posixpath.normpath(found))[0]
                place = place.removesuffix("/__init__")
                dotted = name.replace(".", "/")
                if place == dotted:
                    yield ""
                elif place.endswith("/" + dotted):
                    yield place[: -len(dotted) - 1]

    def _entries(self, path: str) -> Iterator[str]:
        """The scripts that import this file: their folders are on the path when it runs."""
        for other in sorted(self.program(path)):
            if path in self._reach(other) and not self._imported(other):
                if posixpath.basename(other) != "__init__.py":
                    yield posixpath.normpath(other)


def _is_parameter(node: ast.AST, function: ast.AST) -> bool:
    """Tell whether an expression is a parameter of a function, or some part or view of one."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)) | ast.UnaryOp(operand=inner):
                node = inner
            case _:
                return False
    spec = getattr(function, "args", None)
    return spec is not None and any(
        isinstance(part, ast.arg) and part.arg == node.id for part in ast.walk(spec)
    )


def _optional(scope: Scope) -> set[str]:
    """Return the parameters of a function that may be left out."""
    if scope.func is None:
        return set()
    spec = scope.func.node.args
    given = [*spec.posonlyargs, *spec.args]
    names = {a.arg for a in given[len(given) - len(spec.defaults) :]}
    return names | {
        a.arg for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None
    }


def _is_in(place: str, folder: str) -> bool:
    """Tell whether a file is in a folder, or below it."""
    return not folder or place.startswith(folder + "/")


def _below(place: str, folder: str) -> str:
    """Return the name of a module whose top folder is on the module path."""
    return (place[len(folder) + 1 :] if folder else place).replace("/", ".")


def _held(function: ast.AST) -> set[str]:
    """Return the names that a function uses as mappings, or only one member at a time."""
    mappings: set[str] = set()
    members: dict[str, set[int]] = {}
    uses: Counter[str] = Counter()
    for node in syntax.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="items" | "keys"):
                mappings.add(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=index)):
                if type(index) is int:
                    members.setdefault(name, set()).add(index)
                    uses[name] -= 1
            case ast.Name(id=name, ctx=ast.Load()):
                uses[name] += 1
    return mappings | {n for n, taken in members.items() if len(taken) > 1 and not uses[n]}


def _is_process(klass: Klass) -> bool:
    return any(isinstance(base, Ext) and base.name in _PROCESSES for base in klass.bases)


_MOVING = frozenset(("cpu", "cuda", "to", "type"))


def _moved_names(node: ast.AST) -> set[str]:
    """Return the names in an operand that is moved; what a call creates is not in its arguments."""
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in _MOVING):
            return set()
        node = node.func.value
    return {n.id for n in syntax.walk(node) if isinstance(n, ast.Name)}


def _bound_names(tree: ast.Module) -> set[str]:
    """Return the names that a file binds."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = {node.name for node in tree.body if isinstance(node, defined)}
    for node in syntax.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found


#: What pytest and unittest take for tests by their names.
_TEST_FILE = re.compile(r"test_[^/]*\.py|[^/]*_test\.py|tests?\.py|conftest\.py")
_TEST = re.compile(r"^\s*(?:async )?def (?:test\w*|pytest_\w+)\(|@pytest\.fixture", re.MULTILINE)


def _to_literal(group: SiteGroup) -> bool:
    """Tell whether a place of a device is a move, and to one that is written as a constant."""
    device = group.first.detail.get("device")
    return (
        group.kind in ("move", "module-move")
        and isinstance(device, Device)
        and device.spot is not None
        and isinstance(device.spot.node, ast.Constant)
    )


def perhaps_number(node: Node) -> bool:
    """Tell whether a value was loaded onto the CPU, and nothing says that it is a tensor."""
    root = node.find()
    return root.name == "loaded" and not root.sure


def is_bare(site: Site) -> bool:
    """Tell whether a module is being built here that has nothing yet to ask for its device."""
    if not site.constructing:
        return False
    func = site.scope.func
    own = func is not None and getattr(func.node, "name", "") == "__init__"
    return own or not site.detail.get("has_state")


def _has_parameters(module: Obj, depth: int = 6) -> bool:
    """Tell whether a module, or a part of it, has parameters, and not only buffers."""
    if module.fact is not None and module.fact.state or not depth:
        return True
    return any(
        isinstance(value, Tensor)
        and (value.leaf or value.parameter)
        or isinstance(value, Obj)
        and value.family == "module"
        and value.stateful
        and _has_parameters(value, depth - 1)
        for value in module.attrs.values()
    )


def _first_buffer(module: Obj) -> str:
    """Return the name of the first buffer of a module, or ""."""
    for name, value in module.attrs.items():
        if isinstance(value, Tensor) and module.node is not None and name.isidentifier():
            if value.node.find() is module.node.find():
                return name
    return ""


def _is_main(statement: ast.stmt) -> bool:
    """Tell whether a statement is `if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _stored(body: list[ast.stmt]) -> set[str]:
    """Return the names that some statements bind."""
    return {
        node.id
        for node in syntax.walk_all(body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _first_bound(tree: ast.AST) -> dict[str, int]:
    """Return the line in which a function or file first binds each name, but its parameters."""
    first: dict[str, int] = {}
    parameters: set[str] = set()
    for node in syntax.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                first[node.id] = min(node.lineno, first.get(node.id, node.lineno))
        elif isinstance(node, ast.arg):
            parameters.add(node.arg)
    return {name: line for name, line in first.items() if name not in parameters}


def _taken_names(tree: ast.Module) -> set[str]:
    """Return the names that a file may take from others."""
    found: set[str] = set()
    for node in syntax.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
    return found


def _edited(site: Site) -> str:
    """Return the file in which the fix of a site is written."""
    if "bind" in site.detail:
        bound: Spot = site.detail["bind"][1]
        return bound.path
    returned: Spot = site.detail.get("returned", site.spot)
    return returned.path


def _common_folder(paths: set[str]) -> str:
    folders = [posixpath.dirname(posixpath.normpath(path)) for path in paths]
    common = posixpath.commonpath(folders) if all(folders) else ""
    return common


def infer(
    project: Project,
    program: frozenset[str] | None = None,
    step: Callable[[int], None] = lambda files: None,
    focus: Focus | None = None,
) -> Solution:
    """Find where everything in a project lives. Nothing of it is imported or run.

    With `program`, one of the values of `project.programs`, only for those files: no file outside
    of it has a say in the places there. `step` is called now and then with how many files more are
    done, about; what it raises ends the inference. A `focus` leaves out what it does not name.
    """
    enabled = gc.isenabled()
    gc.disable()  # all that is made here lives until the answer does
    try:
        interpreter = Interpreter(project, program, focus)
        interpreter.step = step
        interpreter.run()
        return Solution(project, interpreter)
    finally:
        if enabled:
            gc.enable()
