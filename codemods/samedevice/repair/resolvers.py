"""The resolver of a program: the name of its central device, and the file where that is defined."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from samedevice.finding import DeviceExpression, Import, Resolver
from samedevice.inference import Solution
from samedevice.inference.events import (
    Built,
    Creation,
    Drawn,
    GeneratorMade,
    Literal,
    Loaded,
    ModuleMade,
    ModuleMoved,
    Move,
    PlainContainer,
    Produced,
)
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Scope
from samedevice.inference.sites import Site, SiteGroup
from samedevice.inference.values import Device
from samedevice.reading import syntax
from samedevice.repair.imports import Imports

if TYPE_CHECKING:
    from samedevice.repair.asked import Asked

#: Names of files that exist for others to import from.
_SHARED_NAMES = re.compile(
    r"device|config|setting|const|util|common|global|helper|option|param|env|base|__init__"
)


class Resolvers:
    """What files that have no device in reach can call the central one."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.project = solution.project
        self.interpreter = solution.interpreter
        self.programs = solution.programs
        self.reach = solution.reach
        self.imports = solution.view(Imports)
        self._rest = solution.told
        self._known: dict[str, DeviceExpression | None] = {}
        self._needy: dict[frozenset[str], set[str]] | None = None
        self.lent: dict[str, DeviceExpression | None] = {}

    def resolver(self, path: str) -> DeviceExpression | None:
        """Return the name of the central device in a file that has none in reach.

        That is the program's own where the file can import it. A new one is defined only where
        no code that runs the file has chosen a device: a second choice could be another one.
        """
        if path not in self._known:
            self._known[path] = self._find(path)
        return self._known[path]

    def _find(self, path: str) -> DeviceExpression | None:
        program = self.programs.of(path)
        existing = self.existing(path, program)
        if existing is not None:
            return existing
        if self.project.resolver_function:
            return self.chosen(path)
        if self.solution.policy.has_device(path):
            return None
        if self.programs.is_distributed(path) and not self.programs.sets_device_once(path):
            return None  # one device for all processes would be the wrong one for most
        if self.programs.asks_before_hiding(path):
            return None  # asked on import, CUDA would not hear which GPUs the program chose
        name, gpu = self.imports.free_name(path, "device"), self._number(program)
        if self.imports.is_local(path, "device"):
            name = "device"
        own = self._global(path, "device")
        if name != "device" and isinstance(own, Device):
            if path in self.solution.policy.for_the_cpu and not (own.partial or own.planned):
                # The CPU so far, and the device once that is repaired: a later round moves the
                # definition above what uses it.
                return DeviceExpression("device", text=own.text)
            return None  # the file has a device of this name, if not in each of its branches
        if self._is_notebook(path):
            return DeviceExpression(name, (Resolver(path, name, gpu=gpu),))
        planned = None if self.programs.hides_gpus(program) else self._planned(path, name, gpu)
        if planned is not None:
            return planned
        users = {f for f in self.needing().get(program, ()) if not self._is_notebook(f)} | {path}
        needs_device = {f for f in users if not self.solution.policy.has_device(f)}
        if len(needs_device) == 1 or self.programs.hides_gpus(program):
            return DeviceExpression(name, (Resolver(path, name, gpu=gpu),))
        # Files with a device of their own may want this one, too, where they have no other.
        common = self.imports.root(_common_folder(users))
        for folder in (common, *sorted(self._packages(needs_device))):
            module_path = posixpath.join(folder, "device.py") if folder else "device.py"
            module = self.imports.module_name(path, module_path)
            if module is None or module_path in self.project.sources:
                continue
            if any(
                self.imports.module_name(other, module_path) is not None
                for other in needs_device - {path}
            ):
                return DeviceExpression(name, (Resolver(path, name, module, module_path, gpu),))
        return DeviceExpression(name, (Resolver(path, name, gpu=gpu),))

    def _planned(self, path: str, name: str, gpu: str) -> DeviceExpression | None:
        """Return the resolver that another file of the program is about to get, if this one can
        import it."""
        for other, known in self._known.items():
            if known is None or other not in self.programs.of(path) or self._is_notebook(other):
                continue
            for wanted in known.resolvers:
                module = self.imports.module_name(path, wanted.module_path or other)
                if module is None:
                    continue
                if wanted.module_path is not None:
                    resolver = Resolver(path, name, module, wanted.module_path, gpu)
                    return DeviceExpression(name, (resolver,))
                if self._may_borrow(path, other, wanted.name):
                    return DeviceExpression(
                        wanted.name, imports=(Import(path, module, wanted.name),)
                    )
        return None

    def _may_borrow(self, path: str, other: str, name: str) -> bool:
        """Tell whether a file may import the device of another one."""
        return (
            path not in self.programs.reached_from(other)
            and self.programs.is_imported(other)
            and self.lends(other, name, path)
            and not self._needs_more(path, other)
        )

    def _needs_more(self, path: str, other: str) -> bool:
        """Tell whether a script that runs a file would need other libraries for another one's sake.

        They may not be installed where it ran so far.
        """
        brought = {other} | self.programs.reached_from(other)
        return any(
            path in files and not self._libraries(brought - files) <= self._libraries(files)
            for _, files in self.programs.runs(self.programs.of(path))
        )

    def _libraries(self, paths: Iterable[str]) -> set[str]:
        """Return what some files import at the top that is no file of the project."""
        return {
            module.partition(".")[0]
            for path in paths
            for module in _imported(self.programs.tree(path))
            if self.project.resolve(path, module) is None
        } - sys.stdlib_module_names

    def _global(self, path: str, name: str) -> object:
        scope = self.interpreter.files.get(path)
        return scope.names.get(name) if scope is not None else None

    def _number(self, program: frozenset[str]) -> str:
        """Return the number of the one GPU that a program names, "" if it is not only one.

        "mps" of a program that names a Mac's: where it ran, it goes on.
        """
        named = {
            group.first.name
            for group in self.solution.all_groups(Literal)
            if group.spot.path in program and not group.first.name.startswith("cpu")
        }
        if any(name.startswith("mps") for name in named):
            return "mps"
        number = named.pop().partition(":")[2] if len(named) == 1 else ""
        return number if number > "0" else ""

    def _is_notebook(self, path: str) -> bool:
        """Tell whether a file is a notebook: it can import the project's modules only behind what
        it says of paths and of what to install, so it has a definition of its own."""
        return self.project.sources[path].is_notebook

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

    def chosen(self, path: str) -> DeviceExpression | None:
        """Return a call of the function that the user named; None in its own file."""
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
        if not imported and self.imports.free_name(path, function) != function:
            return None  # the file means something else by this name
        return DeviceExpression(
            f"{function}()", imports=() if imported else (Import(path, module, function),)
        )

    def existing(self, path: str, program: frozenset[str]) -> DeviceExpression | None:
        """Return the program's resolver: a constant that this file has, or one it can import."""
        if path not in self.lent:
            found = self._find_existing(path, program)
            if found is None and self._rest is not None:
                found = self._rest.existing.get(path)
            self.lent[path] = found
        return self.lent[path]

    def _find_existing(self, path: str, program: frozenset[str]) -> DeviceExpression | None:
        for other in sorted(program, key=lambda p: (p != path, p)):
            scope = self.interpreter.files.get(other)
            if scope is None:
                continue
            for name, value in scope.names.devices.items():
                if not (
                    isinstance(value, Device) and value.resolved and self.reach.is_central(value)
                ):
                    continue
                if value.planned or value.partial:
                    continue
                if other == path:
                    return DeviceExpression(name, text=value.text)
                if self._is_notebook(path) or not self._may_borrow(path, other, name):
                    continue
                held = self.imports.held_as(path, other)
                if held:
                    return DeviceExpression(f"{held}.{name}", text=value.text)
                if name in self.imports.own_names(path):
                    continue  # the file binds this name itself, further down
                module = self.imports.module_name(path, other)
                if module is None:
                    continue
                return DeviceExpression(
                    name, imports=(Import(path, module, name),), text=value.text
                )
        return None

    def lends(self, path: str, name: str, borrower: str) -> bool:
        """Tell whether a file is one to take a name from: not some unrelated script."""
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

    def accelerated(self, path: str) -> bool:
        """Tell whether a program's device is, or is to be, what torch.accelerator finds."""
        if self.project.resolver == "accelerator":
            return True
        program = self.programs.of(path)
        if any(self.programs.markers(other).asks_accelerator for other in program):
            return True
        if self.project.style != "accelerator" or self.programs.is_distributed(path):
            return False
        return self.existing(path, program) is None

    @cached_property
    def moving(self) -> set[str]:
        """The files that put modules on the device, or are to do so."""
        built = (site for group in self.solution.groups(Built) for site in group.sites)
        found = {
            edited(site)
            for site in built
            if site.module.parent is None
            and site.module.stateful
            and site.node is not None
            and self.solution.place(site.node) is Place.CENTRAL
        }
        moved = (site for group in self.solution.groups(ModuleMoved) for site in group.sites)
        return found | {site.spot.path for site in moved if site.name == "cuda"}

    def wanting(self, path: str) -> set[str]:
        """Return the files of a file's program that have to name the device, and have none."""
        users = self.needing().get(self.programs.of(path), ())
        return {file for file in users if not self.solution.policy.has_device(file)}

    def needing(self) -> dict[frozenset[str], set[str]]:
        """The files of each program whose own code has to name the central device."""
        if self._needy is None:
            self._needy = {}
            if self._rest is not None:
                self._needy = {
                    program: set(self._rest.needs_device) for program in self.programs.all()
                }
            listed = {
                module
                for group in self.solution.groups(PlainContainer)
                for module in group.first.left_behind()
            }
            for kind in (Creation, Built, Drawn, Loaded, GeneratorMade):
                for group in self.solution.groups(kind):
                    site = group.first
                    alone = isinstance(site, Built) and site.module in listed
                    if (
                        site.in_constructor
                        and not alone
                        or not any(
                            self.solution.on_device(s.node)
                            or isinstance(s, Produced)
                            and s.into_module
                            for s in group.sites
                        )
                    ):
                        continue
                    if isinstance(site, Built):
                        made = site.module
                        if made.moves or made.parent is not None or not made.stateful:
                            continue
                    inside = self.reach.module_of(site.scope) is not None
                    if not alone and (inside or self.reach.follow(group)):
                        continue
                    if any(self.reach.is_central(value) for _, value, _ in site.devices):
                        continue
                    path = edited(site)
                    self._needy.setdefault(self.programs.of(path), set()).add(path)
            for asked in (*self.solution.groups(Move), *self.solution.groups(Literal)):
                path = asked.spot.path
                if self._asks_for_cuda(asked) and path not in self._needing(path):
                    if self._within_reach(asked) is None:
                        self._needing(path).add(path)
        return self._needy

    def _asks_for_cuda(self, group: SiteGroup) -> bool:
        """Tell whether a place names CUDA where the device's name will stand: it defines none."""
        if isinstance(group.first, Move):
            return group.first.name == "cuda"
        outer = self.programs.parents(group.spot.path).get(group.spot.node)
        return (
            group.first.name.startswith("cuda")
            and isinstance(outer, (ast.Call, ast.keyword))
            and not self.solution.is_stored(group.spot.node)
        )

    def _needing(self, path: str) -> set[str]:
        assert self._needy is not None
        return self._needy.setdefault(self.programs.of(path), set())

    def _within_reach(self, group: SiteGroup) -> DeviceExpression | None:
        """Return how a place could name the device without a resolver: what it follows, or has."""
        site = group.first
        if self.reach.module_of(site.scope) is not None or site.under_device_test:
            return DeviceExpression("self")
        self.interpreter.snapshot(site, site.scope)
        followed = self.reach.follow(group)
        if followed is not None:
            return DeviceExpression(followed)
        return next(
            (DeviceExpression(n) for n, value, _ in site.devices if self.reach.is_central(value)),
            None,
        )


def shared(asked: Asked) -> DeviceExpression | None:
    """Return the program's own name for its device, with what brings it into the file.

    None where other callers hand tensors in, or test with what is on the CPU: they decide where
    such a function computes.
    """
    names = asked.names
    if not asked.chooses or names.reach.is_tested(asked.first.scope):
        return None
    name = _unhidden(names.resolvers.resolver(edited(asked.first)), asked.first)
    if name is not None and asked.kind == "operand" and (name.resolvers or name.imports):
        sure = [code for code, node in asked.first.tensors if names.solution.is_tensor(node)]
        if any(code.split("[")[0] not in asked.moved for code in sure):
            return None
    return name


def _unhidden(name: DeviceExpression | None, site: Site) -> DeviceExpression | None:
    """Return a file's name for the device, None where a function uses it for a value of its
    own."""
    scope: Scope | None = site.scope
    while name is not None and scope is not None and scope.func is not None:
        if name.code in scope.names:
            return None  # it is bound after this place, or else it would be known
        scope = scope.outer
    return name


def edited(site: Site) -> str:
    """Return the file in which the fix of a site is written."""
    if isinstance(site, Drawn) and site.bound is not None:
        return site.bound.spot.path
    if isinstance(site, ModuleMade) and site.returned is not None:
        return site.returned.path
    return site.spot.path


def _common_folder(paths: set[str]) -> str:
    folders = [posixpath.dirname(posixpath.normpath(path)) for path in paths]
    common = posixpath.commonpath(folders) if all(folders) else ""
    return common


@syntax.per_node
def _imported(tree: ast.Module) -> frozenset[str]:
    """Return the modules that a file's own statements import, relative ones aside."""
    found: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            found.update(alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            found.add(statement.module)
    return frozenset(found)
