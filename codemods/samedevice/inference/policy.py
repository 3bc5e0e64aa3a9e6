"""What a program means where it leaves places open: for the CPU, on the device, or spread out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from samedevice.inference import choices
from samedevice.inference.at_work import computing
from samedevice.inference.events import (
    Built,
    Cloned,
    Creation,
    DefaultSet,
    DeviceChosen,
    Indexed,
    Literal,
    Move,
    Optimizes,
    Placing,
    ProcessCall,
    is_bare,
)
from samedevice.inference.focus import Target
from samedevice.inference.forks import forks
from samedevice.inference.nodes import Cause, Place, PlaceVar
from samedevice.inference.open_events import GivenAway
from samedevice.inference.purposes import Purposes
from samedevice.inference.sites import Group, Site, SiteGroup, is_told
from samedevice.inference.values import Device
from samedevice.inference.ways import saying_how

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution


class Policy:
    """Pins what programs leave open, by what else they do."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.project = solution.project
        self.programs = solution.programs
        self.interpreter = solution.interpreter
        self.graph = solution.graph
        self.purposes = Purposes(solution)
        self._rest = solution.told
        self._spread: dict[frozenset[str], list[SiteGroup]] | None = None
        self._managed: dict[str, bool] = {}
        self._apart: set[PlaceVar] | None = None
        self.for_the_cpu: set[str] = set()  # the files of programs for the CPU, which are converted
        self.converting: set[str] = set()  # these, and those whose device is called the CPU so far

    def model_parallel(self) -> dict[frozenset[str], list[SiteGroup]]:
        """Return the programs that spread a model over GPUs by their numbers, and where they do.

        Which layer is where is their design: they are left alone.
        """
        if self._spread is None:
            numbered = [
                group
                for group in self.solution.all_groups(Literal)
                if re.fullmatch(r"cuda:\d+", group.first.name) and not group.first.in_worker
            ]
            self._spread = {}
            for program in {self.programs.of(group.spot.path) for group in numbered}:
                for _, files in self.programs.runs(program):
                    groups = [group for group in numbered if group.spot.path in files]
                    if len({group.first.name for group in groups}) > 1:
                        self._spread.setdefault(program, []).extend(groups)
            self._spread.update(self._by_computed_numbers())
        return self._spread

    def _by_computed_numbers(self) -> dict[frozenset[str], list[SiteGroup]]:
        """Return the programs with a class or function that uses two GPUs whose numbers it
        computed."""
        homes: dict[ast.AST, dict[str, SiteGroup]] = {}
        for group in self.solution.all_groups(Placing):
            device, func = group.first.device, group.first.scope.func
            if device is None or not device.counted or func is None or device.spot is None:
                continue
            home = func.cls.node if func.cls is not None else func.node
            homes.setdefault(home, {}).setdefault(ast.unparse(device.spot.node), group)
        return {
            self.programs.of(group.spot.path): list(groups.values())
            for groups in homes.values()
            if len(groups) > 1
            for group in groups.values()
        }

    def settle(self) -> None:
        """Pin what the program leaves open, solve, and make all evaluations of a place agree."""
        self.graph.forget_aside()
        devices = self.interpreter.cpu_devices
        beside = self._beside_accelerators() | self._staying()
        at_work = self._with_what_runs(computing(self.solution, perhaps=True)) if devices else ()
        self.graph.open = False  # these are written out, whoever calls what they are in
        chosen: set[str] = set()
        for device in devices:
            spot = device.spot
            if spot is None:
                continue
            idle = spot.path in beside or spot.path not in at_work
            place = Place.HOST if idle else Place.CENTRAL
            self.graph.pin(device.node, place, spot, "cpu")
            chosen |= {spot.path} if place is Place.CENTRAL else set()
        self.graph.open = True
        self._take_only_accelerators()
        self.for_the_cpu = self._for_the_cpu()
        self.converting = self.for_the_cpu | self._with_what_runs(chosen)
        self._seed(self.for_the_cpu)
        for group in self.solution.all_groups(Cloned):
            for site in group.sites:
                module = site.module
                if site.node is None or module.node is None:
                    continue
                if not (module.has_moved() or site.is_of_whole()):
                    self.graph.same(site.node, module.node)  # it moves when it is built
        self.graph.solve()
        if any([self._agree(group) for group in self.solution.groups(Creation)]):
            self.graph.solve()

    def _agree(self, group: Group[Creation]) -> bool:
        """Pin what some evaluations of a creation leave open and others want on the device."""
        if len(group.sites) < 2 or self.solution.reach.follow(group) is not None:
            return False
        if any(is_bare(site) and not self.stays_behind(site) for site in group.sites):
            return False  # the module is on the CPU while it is built
        if any("device" in site.kwargs for site in group.sites):
            return False  # the callers who want it there have to say so
        if len({site.name for site in group.sites}) > 1:
            return False  # they do, by the type of tensor that they hand in
        if any(site.by_default for site in group.sites):
            return False  # each process has its own default
        places = {self.solution.place(site.node) for site in group.sites}
        if not {Place.CENTRAL, Place.UNKNOWN} <= places:
            return False
        if not any(self._demanded(site.node) for site in group.sites):
            return False
        if any(map(self._meets_host, (site.node for site in group.sites))):
            return False  # it is right where it is for one of them
        changed = False
        for site in group.sites:
            if site.node is not None and self.solution.place(site.node) is Place.UNKNOWN:
                self.graph.pin(site.node, Place.CENTRAL, group.spot)
                changed = True
        return changed

    def _meets_host(self, node: PlaceVar | None) -> bool:
        """Tell whether a value meets what is on the CPU for certain."""
        root = node.find() if node is not None else None
        return root is not None and any(
            other.pin is Place.HOST and not meet.open
            for meet in root.meets
            for other in (meet.left.find(), meet.right.find())
            if other is not root
        )

    def _take_only_accelerators(self) -> None:
        """A program's only accelerator is the device it computes on, whatever its number is."""
        numbered = [
            group
            for group in self.solution.all_groups(Literal)
            if not group.first.name.startswith(("cpu", "meta"))
        ]
        others = {
            group.spot.path
            for kind in (Indexed, DeviceChosen, ProcessCall, Move)
            for group in self.solution.all_groups(kind)
            if not _to_literal(group)
        }
        for program in {self.programs.of(group.spot.path) for group in numbered}:
            for _, files in self.programs.runs(program):
                groups = [group for group in numbered if group.spot.path in files]
                if files & others or len({group.first.name for group in groups}) > 1:
                    continue
                for site in (site for group in groups for site in group.sites):
                    root = site.node.find() if site.node is not None else None
                    if root is not None and root.pin is Place.FIXED:
                        root.pin = Place.CENTRAL

    def _demanded(self, node: PlaceVar | None) -> bool:
        """Tell whether something needs a value on the device, or puts it there."""
        root = node.find() if node is not None else None
        return (
            root is not None
            and root.place is Place.CENTRAL
            and (root.reason is not None or root.pin is not None)
        )

    def active(self) -> set[frozenset[str]]:
        """The programs that put something on a device somewhere, or that are left as they are."""
        return {self.programs.of(path) for path in self.left_alone() | self._active_files()}

    def using_devices(self) -> set[str]:
        """The files whose own code puts something on a device, or names an accelerator."""
        named = {group.spot.path for group in self._accelerators()}
        return named | self._active_files()

    def left_alone(self) -> set[str]:
        """The files that start processes, and those that hand a module to an unknown library, or
        import one that decides about devices.

        Whether a script can leave the CPU is not known where such a library feeds its module.
        """
        if self._rest is not None and self._rest.active:
            return set(self.programs.files())
        files = self.programs.files()
        owned = {path for path in files if self.programs.owner(path) is not None}
        return self._of_processes() | self._in_libraries() | owned

    def _of_processes(self) -> set[str]:
        """The files that make a script one of several processes, and those that fork."""
        distributed = filter(self.programs.is_distributed, self.programs.files())
        return self._forking().union(distributed)

    def _in_libraries(self) -> set[str]:
        """The files that hand a module to a library of which nothing is known."""
        return {group.spot.path for group in self.solution.all_groups(GivenAway)}

    def kept_back(self) -> set[str]:
        """The files for the CPU that only such a library keeps from being converted."""
        given = self._in_libraries()
        if not given or self._rest is not None and self._rest.active:
            return set()
        settled = self._of_processes() | self._active_files()
        free = [
            reached
            for script, reached in self.programs.scripts()
            if reached & given and not reached & settled
            if not self.purposes.of(script, reached).stays
        ]
        return set().union(*free)

    def _active_files(self, *, chosen: bool = False) -> set[str]:
        """The files whose own code puts something on a device, or in which that was `chosen`."""
        found: set[str] = set()
        named = {device.node.find() for device in self.interpreter.cpu_devices}
        for group in self.solution.all_groups(Placing):
            for site in group.sites:
                root = site.device.node.find() if site.device is not None else None
                if root is None or site.callers_unknown or root in named:
                    continue
                if root.name == "meta":
                    continue  # nothing is computed there
                if root.pin in (Place.CENTRAL, Place.FIXED):
                    follows = site.device is not None and site.device.of_value
                    spot = root.pin_spot if chosen or follows else None
                    found.add(spot.path if spot is not None else site.spot.path)
        for told in self.solution.all_groups(DefaultSet):
            if not all(site.callers_unknown for site in told.sites):
                found.add(told.spot.path)
        return found

    def _for_the_cpu(self) -> set[str]:
        """The files of which no script that runs them uses a device, by what it reaches.

        A script that is left alone keeps others back where they share code that builds modules:
        what they would have on the device, it would have there, too.
        """
        settled, active = self.left_alone(), self._active_files()
        waiting = [
            reached
            for script, reached in self.programs.scripts()
            if not reached & active and self.purposes.of(script, reached).served
        ]
        alone = {path for reached in waiting if reached & settled for path in reached}
        waiting = [reached for reached in waiting if not reached & settled]
        building = self.building() if alone else set()
        while kept := [reached for reached in waiting if reached & alone & building]:
            alone = alone.union(*kept)
            waiting = [reached for reached in waiting if not reached & alone & building]
        return set().union(*waiting) - alone - self._with_what_runs(active)

    def building(self) -> set[str]:
        """The files whose own code builds modules, or computes what goes to the device."""
        found = {spot.path for _, spot, _, _ in self.interpreter.seeds}
        for group in self.solution.all_groups(Built):
            if any(not site.in_constructor and not site.callers_unknown for site in group.sites):
                found.add(group.spot.path)
        return found

    def _forking(self) -> set[str]:
        """The files whose forked processes compute with modules, which CUDA does not allow."""
        return {spot.path for spot in forks(self.solution)}

    def naming(self) -> set[frozenset[str]]:
        """The programs that name an accelerator somewhere: a CPU beside it is a choice."""
        if self._rest is not None and self._rest.naming:
            return self.programs.all()
        return {self.programs.of(group.spot.path) for group in self._accelerators()}

    def _beside_accelerators(self) -> set[str]:
        """The files that run in scripts which name an accelerator: a CPU is meant there."""
        named = self._active_files() | {group.spot.path for group in self._accelerators()}
        if self._rest is not None and (self._rest.naming or self._rest.active):
            return set(self.programs.files())
        return self._with_what_runs(named | self.left_alone())

    def _staying(self) -> set[str]:
        """The files that only scripts run which stay on the CPU for what they are for."""
        if not self.interpreter.cpu_devices:
            return set()
        files: dict[bool, set[str]] = {True: set(), False: set()}
        for script, reached in self.programs.scripts():
            files[self.purposes.of(script, reached).stays] |= reached
        return files[True] - files[False]

    def _accelerators(self) -> Iterator[SiteGroup]:
        """The places that name an accelerator."""
        for kind in (Literal, Indexed, DeviceChosen):
            for group in self.solution.all_groups(kind):
                if not group.first.name.startswith(("cpu", "meta")):
                    yield group

    def _seed(self, free: set[str]) -> None:
        """A program for the CPU only: its models, and its heavy arithmetic, go to the device."""
        for group in self.solution.all_groups(Built):
            for site in group.sites:
                made = site.module
                if (
                    site.spot.path in free
                    and made.used
                    and made.node is not None
                    and not site.in_constructor
                    and not site.in_worker
                    and not site.callers_unknown
                    and not self.managed(site.spot.path)
                    and not site.stays
                ):
                    self.graph.pin(site.node or made.node, Place.CENTRAL, None, cause=Cause.SEED)
        free = free - self._with_what_runs(group.spot.path for group in self.trained_unseen())
        in_worker = self.graph.feeding_host()
        for node, spot, scope, path in self.interpreter.seeds:
            if not {spot.path, path} <= free or self.managed(spot.path):
                continue
            # Workers do it, too: it prepares data.
            if self.programs.is_test(path) or spot.node in self.interpreter.host_work:
                continue
            if scope.func is not None and scope.func.cls is not None:
                if scope.func.cls.family in ("module", "function", "dataset"):
                    continue
            root = node.find()
            idle = spot.node in self.interpreter.made_leaves and not (root.meets or root.flows_to)
            if root.pin is None and root not in in_worker and not idle:
                self.graph.pin(root, Place.CENTRAL, None, cause=Cause.SEED)

    def trained_unseen(self) -> Iterator[Group[Optimizes]]:
        """The optimizers of programs for the CPU whose module is not known, or not called in sight.

        Data without the model stays on the CPU. Where one script calls what a statement has built,
        another one that does not only leaves it alone.
        """
        for group in self.solution.groups(Optimizes):
            if group.spot.path not in self.for_the_cpu:
                continue
            known = [site for site in group.sites if not site.callers_unknown]
            wholes = (w for site in known for module in site.modules for w in module.wholes())
            if known and not any(whole.used for whole in wholes):
                yield group

    def _with_what_runs(self, paths: Iterable[str]) -> set[str]:
        """All files of the scripts that run these files."""
        wanted, found = set(paths), set[str]()
        for _, reached in self.programs.scripts() if wanted else ():
            found |= reached if reached & wanted else set()
        return found

    def managed(self, path: str) -> bool:
        """Tell whether a library, a design over several GPUs, or its purpose decides for a file."""
        if (known := self._managed.get(path)) is None:
            known = (
                self.placement_is_deliberate(frozenset((path,)))
                or self.programs.owner(path) is not None
                or bool(self.purposes.about_gpus(path))
            )
            self._managed[path] = known
        return known

    def placement_is_deliberate(self, files: frozenset[str]) -> bool:
        """Tell whether it is the design of what runs files which of its devices what is on."""
        return (
            self._rest is not None
            and self._rest.placement_is_deliberate
            or bool(files & self._designed)
        )

    @cached_property
    def _designed(self) -> set[str]:
        # So it is that models go to the CPU and back.
        found = {spot.path for spot in self.interpreter.wandering}
        for groups in self.model_parallel().values():
            found.update(group.spot.path for group in groups)
        return self._with_what_runs(found)

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

    def is_offered(self, path: str) -> bool:
        """Tell whether the user of a program chooses on the command line where it runs."""
        return path in self._choosing

    @cached_property
    def _choosing(self) -> set[str]:
        return self.programs.with_what_they_run(self.offering())

    def has_device(self, path: str) -> bool:
        """Tell whether code that runs a file, or the file, has a chosen device, or a user's."""
        return path in self._having or self.is_offered(path)

    @cached_property
    def _having(self) -> set[str]:
        return self.programs.with_what_they_run(path for path, _ in self.choosing())

    def choosing(self) -> frozenset[Target]:
        """The definitions whose code moves things to a device that somebody has chosen."""
        focus, definition = self.interpreter.focus, self.interpreter.definition
        known = focus.rest.choosing - focus.changed if focus is not None else frozenset()
        return known | {
            (group.spot.path, definition(group.spot.path, group.spot.node))
            for group in self.solution.all_groups(Placing)
            if any(self._is_chosen(site.device) and not is_told(site) for site in group.sites)
        }

    def _is_chosen(self, device: object) -> bool:
        """Tell whether a device is what somebody chose for this run: no process's, no value's.

        That is where it is asked for, or an option whose default is written out.
        """
        if not isinstance(device, Device) or not device.resolved or device.rank is not None:
            return False
        if device.of_value:
            return False
        spot, spots = device.spot, device.node.spots
        if spot is None or not spots or isinstance(spot.node, ast.Call) and _asks_cuda(spot.node):
            return False
        chosen = spots[0].node
        if chosen in self.interpreter.stored_literals:
            return device.node.find().pin is Place.CENTRAL
        return any(node is chosen for node in ast.walk(spot.node))

    @cached_property
    def saying_how(self) -> frozenset[str]:
        """The files of programs whose options choose no device."""
        return saying_how(self.solution)

    def offering(self) -> tuple[str, ...]:
        """The files that run with a user's choice: whose code comes to it, or imports it."""
        found = dict.fromkeys(self._rest.offering if self._rest is not None else ())
        queue: list[str] = []
        for spot in self.interpreter.offers:
            if spot.path in self.saying_how and not self.programs.hides_some(spot.path, spot.node):
                continue
            func = self.programs.function_of(spot)
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

    def decided_by(self, path: str, code: str) -> bool:
        """Tell whether an index that the user chose, or a copy of it, decides the device."""
        return self.is_offered(path) and code in choices.indexes(self.interpreter, path)


def _asks_cuda(call: ast.Call) -> bool:
    """Tell whether a device is what CUDA says it is (`torch.cuda.current_device()`)."""
    return "cuda" in ast.unparse(call.func)


def _to_literal(group: SiteGroup) -> bool:
    """Tell whether a place of a device is a move to one that is a constant, or to the CPU."""
    device = group.first.device if isinstance(group.first, Move) else None
    if device is None:
        return False
    if device.node.find().pin is Place.HOST:
        return True
    return device.spot is not None and isinstance(device.spot.node, ast.Constant)
