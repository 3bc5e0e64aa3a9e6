"""How code at a place names the device that it should use."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import cached_property

from samedevice.finding import DeviceExpression, Edit, Import
from samedevice.inference import Solution
from samedevice.inference.classes import has_fields
from samedevice.inference.events import Creation, LegacyCreated, Operand, is_bare
from samedevice.inference.instances import is_moved_by_library
from samedevice.inference.nodes import ON_DEVICE, Location, Place
from samedevice.inference.objects import Class, External, Func, Instance, Namespace, Scope
from samedevice.inference.programs import is_main
from samedevice.inference.reach import may_be_none, optional
from samedevice.inference.sites import Group, Site, SiteGroup
from samedevice.inference.values import (
    DEVICE,
    UNKNOWN,
    CliOption,
    Const,
    Device,
    Doubt,
    FunctionNode,
    PlannedDefinition,
    ProcessIndex,
    Tensor,
    Value,
    always_tensor,
    surely_tensor,
)
from samedevice.reading import syntax
from samedevice.repair import at_hand, definitions, handing, processes, spoken, words
from samedevice.repair.imports import Imports
from samedevice.repair.replicas import Replicas, named_tensor
from samedevice.repair.resolvers import Resolvers, edited

#: Methods that tensors have, and neither arrays nor modules.
_TENSORS_ONLY = frozenset(
    (
        "size", "unsqueeze", "permute", "contiguous", "detach", "expand", "expand_as", "new_zeros",
        "mul_", "div_", "add_", "sub_", "copy_", "masked_fill", "masked_fill_", "index_select",
    )
)  # fmt: skip
#: What tells of a tensor how it is, and is no part of it.
_DESCRIBING = frozenset(("device", "dim", "dtype", "ndim", "numel", "shape", "size"))
_MOVING = frozenset(("cpu", "cuda", "to", "type"))
_SHORT = 2  # `self.encoder[0].weight`
_SPEAKS = re.compile(r"device|cuda|gpu")


#: Methods of a module that a library moves which run before it does.
_BEFORE = frozenset(("__init__", "configure_model", "prepare_data", "setup"))


class DeviceNames:
    """Names for devices: the nearest one in reach, and a resolver's where there is none."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.project = solution.project
        self.interpreter = solution.interpreter
        self.programs = solution.programs
        self.reach = solution.reach
        self.imports = solution.view(Imports)
        self.resolvers = solution.view(Resolvers)
        self._named_before: dict[FunctionNode, ast.stmt | None] = {}
        self._of_main: dict[str, set[str]] = {}
        self._of_modules: set[str] = set()

    def creation_edit(self, group: Group[Creation], name: DeviceExpression) -> Edit:
        """Return the edit that puts a creation on the device: `device=` where the API has it."""
        node = group.spot.node
        called = isinstance(node, ast.Call)
        known = group.first.fact.device and not isinstance(group.first, LegacyCreated)
        if not called and syntax.dotted(node) == group.first.name:
            # `map(torch.tensor, arrays)`
            code = f"{self.solution.code(group.spot)}(data"
            code += f", device={name.code})" if known else f").to({name.code})"
            replaced = (("code", f"lambda data: {code}"),)
            return Edit(group.spot.path, self.solution.span(group.spot), "replace", replaced)
        if called and known:
            given = (("name", "device"), ("value", name.code))
            return Edit(group.spot.path, self.solution.span(group.spot), "keyword", given)
        end = self.solution.span(self.solution.chain_end(group.spot))
        return Edit(group.spot.path, end, "method", (("code", f".to({name.code})"),))

    def device_for(self, group: SiteGroup) -> DeviceExpression | None:
        """Return how the code at a place names the device it should use.

        What the function says already and what it is handed come first. Inside modules and helpers
        with a tensor parameter it follows that; elsewhere it takes the nearest name for the central
        device, and a resolver where there is none.
        """
        moved = _moved_by_library(group)
        if moved is not None and getattr(moved.node, "name", "") in _BEFORE:
            return None  # the library has yet to place it
        given = self._given(group) or self._said(group.first)
        if given is not None:
            return given
        if moved is not None:
            return DeviceExpression(f"{syntax.parameters(moved.node)[0]}.device")
        followed = self.reach.follow(group)
        if followed is not None and followed.removesuffix(".device") not in self._moved_here(
            group.spot
        ):
            return DeviceExpression(spoken.named(self.programs, group.spot, followed))
        central = self.central_for(group)
        return self._nearer(central, group.spot, group.first.scope)

    def _nearer(
        self, central: DeviceExpression | None, spot: Location, scope: Scope
    ) -> DeviceExpression | None:
        """Return the device of a tensor at hand instead of another file's name, of parameters that
        are asked, and of a definition that is only to come."""
        far = central is None or central.imports or "(" in central.code
        far = far or central is not None and central.code in self._of_modules
        defined = central is not None and bool(central.resolvers)
        if central is not None and any(each.module for each in central.resolvers):
            far, defined = True, False
        here = self._at_hand(spot, scope, only_certain=defined) if far or defined else None
        return here if here is not None else central

    def _at_hand(
        self, spot: Location, scope: Scope, *, only_certain: bool
    ) -> DeviceExpression | None:
        """Return the device of the tensor that a creation takes its type or its shape from, or
        that it meets next.

        What that is is known, or can be seen of its use (`only_certain`). Of two that are created
        and meet, neither says where the other belongs.
        """
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        described = list(at_hand.described_by(spot.node, scope.node))
        for name, certain in (*described, *at_hand.met_by(self.solution, spot)):
            held = [each.lookup(name) for each in scopes]
            if (name, certain) not in described and any(map(_is_created, held)):
                continue
            if only_certain and not (certain and scope.func is not None):
                continue
            if all(self._is_there(value) or certain and self._may_be(value) for value in held):
                return DeviceExpression(f"{name}.device")
        return None

    def _may_be(self, value: Value | None) -> bool:
        """Tell whether a value may be a tensor on the device, as far as is known."""
        known = isinstance(value, Tensor) and value.doubt is not Doubt.OTHER
        on_cpu = isinstance(value, Tensor) and self.solution.place(value.node) is Place.HOST
        return value is UNKNOWN or known and not on_cpu

    def _is_there(self, value: Value | None) -> bool:
        """Tell whether a value is a tensor on the device; `None` is none that has a shape."""
        return (
            isinstance(value, Tensor)
            and surely_tensor(value)
            and self.solution.on_device(value.node)
        )

    def _given(self, group: SiteGroup) -> DeviceExpression | None:
        """Return the parameter of a function that every call gives the central device."""
        func = group.first.scope.func
        if (
            func is None
            or isinstance(func.node, ast.Lambda)
            or self.reach.builds(group.first.scope)
        ):
            return None
        known = [
            {code: value for code, value, _ in site.devices if self.reach.is_central(value)}
            for site in group.sites
        ]
        left_out = optional(group.first.scope)
        for name in syntax.parameters(func.node):
            values = [devices.get(name) for devices in known]
            if not words.is_device(func.node, name):
                continue
            if name not in left_out and all(isinstance(v, Device) and v.resolved for v in values):
                return DeviceExpression(
                    name, text=any(v.text for v in values if isinstance(v, Device))
                )
        return None

    def built_at(self, site: Site) -> DeviceExpression | None:
        """Return the device's name for a part that the module which is built does not take along.

        Where the module itself is by then says nothing: it moves later.
        """
        return self._while_built(site, site.scope.path)

    def central_for(self, group: SiteGroup) -> DeviceExpression | None:
        """Return the nearest name for the central device at a place, or a resolver's."""
        site = self._with_own_name(group)
        module = self.reach.module_of(site.scope)
        if module is not None and is_bare(site):
            return self._while_built(site, site.scope.path)
        nearest, tested = self._nearest(site, module), self.reach.is_tested(site.scope)
        if nearest is not None:
            # Who imports the file has no name that only `__main__` binds.
            of_main = self.is_of_main(nearest.code, site.scope.function())
            return (handing.handed(self, group) if of_main else None) or nearest
        written = None if module is not None else self._of_imported(site)
        if written is not None:
            return written
        # A name of its own comes before that of an object that happens to have a device.
        names = sorted(site.devices, key=lambda known: "." in known[0].removeprefix("self."))
        for code, value, is_global in names:
            if isinstance(value, Device) and value.planned and not (is_global and tested):
                spot = value.planned.spot
                how = spot.path in self.solution.policy.saying_how
                if how or self._is_of_some(code, site, spot) or self._lack(value.planned):
                    continue
                func = site.scope.func
                if is_global and "." in code and func is not None and func.cls is not None:
                    continue  # a class does not know the objects that a script makes
                if not (is_global and module is not None):
                    return self._pending(code, value, site)
        if module is None:
            own = self.of_process(site)
            if own is not None:
                return own
        if module is not None and module.node is not None:
            if module.cls is not None and isinstance(module.cls.lookup("device"), Func):
                return DeviceExpression("self.device")
            if isinstance(site, Operand) and self.reach.left_on_host(site.scope):
                return self.resolvers.resolver(edited(site))
            return self._of_parameters(group) if module.stateful else None
        return self._from_elsewhere(group)

    def _with_own_name(self, group: SiteGroup) -> Site:
        """Return an evaluation of a place in which a name of its object or function is the device.

        In others that name may stand for the CPU, which one object was given; a name of the file is
        not what any of them was given.
        """
        own = {
            code
            for code, value, is_global in group.first.devices
            if not is_global and isinstance(value, Device) and not value.of_value
        }
        for site in group.sites if own else ():
            if any(code in own and self.reach.is_central(v) for code, v, _ in site.devices):
                return site
        return group.first

    def _nearest(self, site: Site, module: Instance | None) -> DeviceExpression | None:
        """Return the nearest name that stands for the central device by the time of a place."""
        left_out, tested = optional(site.scope), self.reach.is_tested(site.scope)
        for code, value, is_global in sorted(site.devices, key=_farness):
            if is_global and tested:
                continue
            if is_global and "." in code and self.is_of_main(code, site.scope.func):
                continue
            if site.in_constructor and module is not None and code.count(".") > 1:
                continue  # a part may be there already, and the module that is built is not
            if "." in code and not code.startswith("self.") and _is_written_out(value):
                continue  # what that object was given is to be repaired, and has a name then
            if code in left_out and not words.is_for_all(code):
                continue  # callers may have their own reason to choose another one
            if self._is_default(code, site):
                continue  # each object has a device of its own
            if self._says_otherwise(code, site) or self._is_of_some(code, site):
                continue
            if self._is_of_a_part(code, site.spot):
                continue
            if self.reach.is_central(value) and not (is_global and module is not None):
                if not (isinstance(value, Device) and value.planned):
                    return DeviceExpression(code, text=not isinstance(value, Device) or value.text)
        return None

    def _of_imported(self, site: Site) -> DeviceExpression | None:
        """Return the device of another file of the project that the class of a place writes."""
        func = site.scope.func
        if func is None or func.cls is None:
            return None
        for node in syntax.walk(func.cls.node):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr="device", ctx=ast.Load()):
                    held = site.scope.lookup(name)
                    if not isinstance(held, Namespace) or held.scope is None:
                        continue
                    value = held.scope.names.get("device")
                    if isinstance(value, Device) and value.planned is None and value.rank is None:
                        if self.reach.is_central(value) and not value.partial:
                            return DeviceExpression(f"{name}.device", text=value.text)
        return None

    def _from_elsewhere(self, group: SiteGroup) -> DeviceExpression | None:
        """Return what a place with no device in reach can ask: an argument, callers, a resolver."""
        site = group.first
        if site.callers_unknown and self.solution.place(site.node) is not Place.CENTRAL:
            return None
        likely = self._likely_tensor(group)
        if likely:
            return DeviceExpression(f"{likely}.device")
        if isinstance(site, Operand) and site.creates:
            made_of = _bare_names(group.spot.node)  # perhaps arrays
            made_of |= self._moved_here(group.spot)
            for name in self.reach.followed(site.scope, everywhere=True):
                if name not in made_of:
                    return DeviceExpression(f"{name}.device")
        handed = handing.handed(self, group)
        if handed is not None:
            return handed
        if self.reach.is_tested(site.scope):
            return None
        return self._unhidden(self.resolvers.resolver(edited(site)), site)

    @staticmethod
    def _unhidden(name: DeviceExpression | None, site: Site) -> DeviceExpression | None:
        """Return a file's name for the device, None where a function uses it for a value of its
        own."""
        scope: Scope | None = site.scope
        while name is not None and scope is not None and scope.func is not None:
            if name.code in scope.names:
                return None  # it is bound after this place, or else it would be known
            scope = scope.outer
        return name

    @staticmethod
    def _says_otherwise(code: str, site: Site) -> bool:
        """Tell whether a parameter that callers give a device has a name for something else."""
        func = site.scope.func
        return (
            func is not None
            and code in syntax.parameters(func.node)
            and not words.is_device(func.node, code)
        )

    def _is_of_some(self, code: str, site: Site, planned: Location | None = None) -> bool:
        """Tell whether only some of the classes that have a method have an attribute of `self`.

        `planned` is where one is to be defined.
        """
        owner, _, attr = code.partition(".")
        attr = attr.partition(".")[0]
        klass = site.scope.func.cls if site.scope.func is not None else None
        if owner != "self" or klass is None or self._binds(klass, attr, planned):
            return False
        heirs = [each for each in self.interpreter.classes if klass in each.mro()[1:]]
        binding = [each for each in heirs if self._binds(each, attr, planned)]
        return bool(binding) and len(binding) < len(heirs)

    def _is_of_a_part(self, code: str, spot: Location) -> bool:
        """Tell whether a name is the device of a part of the program, and not of what is here.

        Who gives `clip_device` another value means CLIP alone, of which the program has more.
        """
        part = words.part_of(code.rpartition(".")[2])
        if not part:
            return False
        here = self.solution.statement_of(spot)
        if here is not None and words.speaks_of(here, part):
            return False
        files = self.programs.of(spot.path)
        return any(words.speaks_of(self.programs.tree(path), part) for path in files)

    def _lack(self, planned: PlannedDefinition) -> bool:
        """Tell whether an attribute would be new in a class of which there are objects in files.

        Those that were written before do not have it.
        """
        if not planned.name.startswith("self."):
            return False
        return any(
            planned.spot.path == klass.scope.path and planned.spot.node in syntax.walk(klass.node)
            for klass in self.interpreter.pickled
        )

    def _binds(self, klass: Class, attr: str, planned: Location | None) -> bool:
        """Tell whether objects of a class have an attribute, as far as its code tells."""
        return any(
            attr in syntax.set_on_self(each.node)
            or each.lookup(attr) is not None
            or planned is not None
            and planned.path == each.scope.path
            and planned.node in syntax.walk(each.node)
            for each in klass.mro()
        )

    @staticmethod
    def _is_default(code: str, site: Site) -> bool:
        """Tell whether a name is that of a dataclass's default, which its objects may override."""
        owner, _, attr = code.partition(".")
        held = site.scope.lookup(owner) if attr else None
        return isinstance(held, Class) and has_fields(held)

    def is_of_main(self, code: str, func: Func | None) -> bool:
        """Tell whether a function would use an object that only `__main__` makes."""
        if func is None:
            return False
        path = func.scope.path
        if path not in self._of_main:
            body = self.programs.tree(path).body
            main = [part for part in body if is_main(part)]
            others = [part for part in body if not is_main(part)]
            self._of_main[path] = _stored(main) - _stored(others)
        return code.partition(".")[0] in self._of_main[path]

    def _of_parameters(self, group: SiteGroup) -> DeviceExpression | None:
        """Return the device of a module's parameters, None where none is known.

        By a name where several tensors need it.
        """
        code = "next(self.parameters()).device"
        func = group.first.scope.func
        module = self.reach.module_of(group.first.scope)
        set_here = syntax.set_on_self(func.node) if func is not None else set()
        if module is not None and not handing.has_parameters(module, set_here):
            other = _first_buffer(module) or self._beside(group, module)
            return self._of_module(other)
        if self.solution.view(Replicas).any:
            each = {self.reach.module_of(site.scope) for site in group.sites}
            known = [one for one in each if one is not None]
            named = named_tensor(known, set_here) if known else ""
            if named.count(".") + named.count("[") <= _SHORT:
                return self._of_module(named)
            if any(one.spread for one in known):
                return None  # a name that nobody would write
        if (
            not isinstance(group.first, Creation)
            or func is None
            or isinstance(func.node, ast.Lambda)
        ):
            return DeviceExpression(code)
        if func.node not in self._named_before:
            self._named_before[func.node] = self._first_of_several(func.node)
        first = self._named_before[func.node]
        if first is None:
            return DeviceExpression(code)
        place = self.solution.span(Location(func.scope.path, first))
        definition = (("code", f"device = {code}"),)
        return DeviceExpression(
            "device", edits=(Edit(func.scope.path, place, "before", definition),)
        )

    def _of_module(self, attr: str) -> DeviceExpression | None:
        if not attr:
            return None
        self._of_modules.add(f"self.{attr}.device")
        return DeviceExpression(f"self.{attr}.device")

    def _beside(self, group: SiteGroup, module: Instance) -> str:
        """Return the attribute of a module that is the other operand of an operation, or ""."""
        end = self.solution.chain_end(group.spot)
        around = self.programs.parents(end.path).get(end.node)
        if not isinstance(around, ast.BinOp):
            return ""
        match around.right if around.left is end.node else around.left:
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                held = module.attrs.get(attr)
                if isinstance(held, Tensor) and always_tensor(held):
                    return attr if self.solution.on_device(held.node) else ""
        return ""

    @cached_property
    def _creations_in(self) -> dict[ast.AST, list[Group[Creation]]]:
        """The creations in each function, kind by kind."""
        found: dict[ast.AST, list[Group[Creation]]] = {}
        for group in self.solution.groups(Creation):
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
            and any(self.solution.on_device(site.node) for site in group.sites)
            and not any("device" in site.kwargs for site in group.sites)
            and self.reach.follow(group) is None
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
        spare = optional(group.first.scope) | self._moved_here(group.spot)
        for name in group.first.unknown:
            if name in spare or any(name not in site.unknown for site in group.sites):
                continue
            for node in syntax.walk(func.node):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=known), attr=attr)):
                        if known == name and attr in _TENSORS_ONLY:
                            return name
        return ""

    def of_process(self, site: Site) -> DeviceExpression | None:
        """Return the name of this process's device at a place, to be defined where there is none.

        None where nothing at the place says which process it is.
        """
        for code, value, _ in site.devices:
            if isinstance(value, Device) and value.rank is not None and not value.partial:
                return DeviceExpression(code, text=value.text)
        ranks = {code: v for code, v, _ in site.devices if isinstance(v, ProcessIndex)}
        for scope in self.interpreter.all_scopes.get(site.scope.node, ()):
            for code, value in scope.names.items():  # in another evaluation
                if isinstance(value, ProcessIndex) and value.device is not None:
                    ranks[code] = value
        for code, rank in sorted(ranks.items(), key=lambda pair: not pair[0].startswith("self.")):
            found = processes.definition(self, code, rank, site)
            if found is not None:
                return DeviceExpression(found[0], edits=found[1])
        return None

    def _pending(self, code: str, device: Device, site: Site) -> DeviceExpression | None:
        """Return a name that is to be defined after the user's choice, where that comes first."""
        assert device.planned is not None
        spot = device.planned.spot
        if spot.path in self.solution.policy.saying_how:
            return None
        read = [each.code for each in device.planned.choices]
        read += [device.planned.index] if device.planned.index else []
        if read and self.solution.rival(spot.path, read):
            return None
        if "." not in code and spot.path != site.scope.path:
            return None  # the file that defines it may do so for its own script only
        where = self.interpreter.scope_of(spot)
        if where is not None and site.scope.node is where.node:
            if getattr(site.spot.node, "lineno", 0) <= getattr(spot.node, "lineno", 0):
                return None
        elif (
            isinstance(self.programs.parents(spot.path).get(spot.node), ast.If) and site.scope.func
        ):
            if self.programs.is_imported(spot.path):
                return None  # `if __name__ == "__main__":` is not run for those who import this
        change = Edit(
            spot.path,
            self.solution.span(spot),
            "after",
            (("code", definitions.written(device.planned)),),
        )
        imports = (Import(spot.path, "torch"),) if device.planned.imports_torch else ()
        return DeviceExpression(code, edits=(change,), imports=imports)

    def name_at(self, spot: Location, *, itself: bool = False) -> DeviceExpression | None:
        """Return how an operand names the device it has to go to.

        `itself`: it is the module whose code this is, which cannot follow its own parameters.
        """
        site = self.reach.site_at(spot)
        if site is None:
            return None
        group, scope = SiteGroup(spot, [site]), site.scope
        # A value cannot follow itself, nor anything while the module is still being built.
        moved = self._moved_with(spot)
        site.creates = _is_made(spot.node, scope)
        building = self.reach.builds(scope)
        said = None if building or itself else self._said(site, moved) or self._own(site)
        if said is not None:
            return said
        if not (building or itself) and (self.reach.in_module(scope) or not moved):
            elsewhere = moved | self._moved_here(spot)
            for name in self.reach.followed(scope):
                if name.split("[")[0] in elsewhere:
                    continue
                if not self.reach.is_made_of(moved, name, scope):
                    return DeviceExpression(spoken.named(self.programs, spot, f"{name}.device"))
        if (building or itself) and self.reach.module_of(scope) is not None:
            return self._while_built(site, spot.path)
        central = self.central_for(group)
        if not (building or itself):
            central = self._nearer(central, spot, scope)
        if central is not None and not (central.resolvers or central.imports or central.edits):
            return central
        planned = central is not None and any(edit.verb == "after" for edit in central.edits)
        handed = self._handed(site, moved) if not planned else None
        if handed is not None:
            return handed
        if central is not None and (central.resolvers or central.imports):
            sure = [known for known, node in site.tensors if self.solution.is_tensor(node)]
            if any(known.split("[")[0] not in moved for known in sure):
                return None  # who hands other tensors in decides where such a function computes
        return central

    def _own(self, site: Site) -> DeviceExpression | None:
        """Return the variable of the function itself that stands for the device."""
        given = syntax.parameters(site.scope.func.node) if site.scope.func is not None else ()
        for code, value, is_global in site.devices:
            if isinstance(value, Device) and not (is_global or "." in code or code in given):
                if value.planned is None and code in site.scope.names:
                    if not value.of_value and self.reach.is_central(value):
                        if not self._is_of_a_part(code, site.spot):
                            return DeviceExpression(code, text=value.text)
        return None

    def _handed(self, site: Site, without: set[str]) -> DeviceExpression | None:
        """Return the device of a tensor that every caller hands in from the device.

        One that the function itself moves says nothing.
        """
        moved = without | self._moved_here(site.spot)
        for name in self.reach.followed(site.scope, everywhere=True):
            if name.split("[")[0] not in moved:
                return DeviceExpression(f"{name}.device")
        return None

    def _said(self, site: Site, without: Collection[str] = ()) -> DeviceExpression | None:
        """Return the device of a value that the function has put something on before."""
        scope = site.scope
        scopes, absent = self.interpreter.all_scopes.get(scope.node, [scope]), may_be_none(scope)
        for code in spoken.spoken(self.programs, site.spot, without):
            held = [one.lookup(code.partition(".")[0]) for one in scopes]
            if "." not in code:
                usable = code not in absent and not any(map(self._is_elsewhere, held))
            elif any(isinstance(value, (Instance, Class)) for value in held):
                known = (value for name, value, _ in site.devices if name == code)
                usable = any(map(self.reach.is_central, known))
            else:
                places = {self.solution.place(v.node) for v in held if isinstance(v, Tensor)}
                usable = not places or not places.isdisjoint(ON_DEVICE)
            if usable:
                return self.as_said(code, site)
        return None

    def as_said(self, code: str, site: Site) -> DeviceExpression:
        """Return a device as a place names it: a text, unless all that arrives is a `torch.device`.

        What is not known may be a text as well.
        """
        scopes = self.interpreter.all_scopes.get(site.scope.node, [site.scope])
        held = [one.lookup(code.partition(".")[0]) for one in scopes]
        if "." in code and not all(isinstance(value, Tensor) for value in held):
            held = [value for name, value, _ in site.devices if name == code]
        devices = [value for value in held if not (isinstance(value, Tensor) and "." in code)]
        known = all(isinstance(value, Device) and not value.text for value in devices)
        return DeviceExpression(code, text=not (held and known))

    def _moved_here(self, spot: Location) -> set[str]:
        """Return the names of what the function of a place puts on the device itself."""
        home = self.programs.function_of(spot)
        return _moved_in(home, getattr(spot.node, "lineno", 0)) if home is not None else set()

    def _is_elsewhere(self, value: Value | None) -> bool:
        """Tell whether what a function calls `device` may be another one than the central one."""
        if isinstance(value, Device):
            return not self.reach.is_central(value) or value.planned is not None
        return value is not UNKNOWN

    def _moved_with(self, spot: Location) -> set[str]:
        """Return the names in what is moved at a place, and by the operation that this is part of.

        Two that may be apart do not follow each other: they would change places.
        """
        moved = _moved_names(spot.node)
        around = self.programs.parents(spot.path).get(spot.node)
        if isinstance(around, ast.Call) and spot.node in around.args:
            for other in around.args:
                moved |= _moved_names(other) if isinstance(other, ast.Call) else set()
        return moved

    def _while_built(self, site: Site, path: str) -> DeviceExpression | None:
        """Return the device's name where a module has nothing yet that could be followed."""
        for code, value, _ in sorted(site.devices, key=_farness):
            if self.reach.is_central(value):
                if not (isinstance(value, Device) and value.planned):
                    return DeviceExpression(code, text=not isinstance(value, Device) or value.text)
                defined = self._pending(code, value, site)
                if defined is not None:
                    return defined
        return self.resolvers.resolver(path)

    def kind_of(self, name: DeviceExpression, torch: str, spot: Location) -> str:
        """Return the expression for a device's type ("cuda", "cpu"), or "" where it may have none.

        That is a string without torch's name to convert it, or a parameter that may be None. A
        string that has no index for certain is its own type.
        """
        if any(edit.verb == "parameter" for edit in name.edits):
            return ""  # callers outside of the project leave it out
        parents = self.programs.parents(spot.path)
        node: ast.AST | None = spot.node
        while node is not None:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                spec = node.args
                optional = [a.arg for a in spec.args[len(spec.args) - len(spec.defaults) :]]
                if name.code in (*optional, *(a.arg for a in spec.kwonlyargs)):
                    return ""
            node = parents.get(node)
        known = words.kind_at(self.programs.tree(spot.path), parents, spot.node, name.code)
        if known:
            return known
        if not name.text:
            return f"{name.code}.type"
        if words.is_word(self.programs.tree(spot.path), parents, spot.node, name.code):
            return name.code
        return f"{torch}.device({name.code}).type" if torch else ""


def _moved_by_library(group: SiteGroup) -> Func | None:
    """Return the method that some code is in, of a module that a library moves: such a module
    knows its device."""
    func = group.first.scope.function()
    if func is None or func.cls is None or func.static or isinstance(func.node, ast.Lambda):
        return None
    return func if is_moved_by_library(func.cls) else None


def _is_created(value: Value | None) -> bool:
    return isinstance(value, Tensor) and isinstance(value.site, Creation)


def _is_written_out(value: Value) -> bool:
    """Tell whether a device is a word that the program says for every machine ("cuda")."""
    if isinstance(value, Device):
        return not (value.resolved or value.of_value or value.planned or value.rank)
    if isinstance(value, CliOption):
        return DEVICE.fullmatch(str(value.value)) is not None
    return isinstance(value, Const)


def _farness(known: tuple[str, Value, bool]) -> tuple[bool, int, bool]:
    """Return how far a name is from the code at a place: what is least comes first.

    A name of the function comes before one of the file, a variable before an attribute, that of the
    object itself before that of another one.
    """
    code, _, is_global = known
    return is_global, code.count("."), not code.startswith("self.")


def _moved_names(node: ast.AST) -> set[str]:
    """Return the names in an operand that is moved; what a call creates is not in its arguments.

    Nor does a value move that only gives its shape or type.
    """
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in _MOVING):
            return set()
        node = node.func.value
    found, queue = set(), [node]
    while queue:
        part = queue.pop()
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif not (isinstance(part, ast.Attribute) and part.attr in _DESCRIBING):
            queue += ast.iter_child_nodes(part)
    return found


def _moved_in(function: ast.AST, line: int) -> set[str]:
    """Return the names of what a function puts on the device: they say nothing about where that is.

    But those that are bound to what was moved, above a line.
    """
    moved, bound = _moves_of(function)
    return set(moved) - {name for name, end in bound.items() if end < line}


@syntax.per_node
def _moves_of(function: ast.AST) -> tuple[frozenset[str], dict[str, int]]:
    """Return the names of what a function puts on the device, and where its names are first bound.

    That is the last line of the statement.
    """
    moved: set[str] = set()
    bound: dict[str, int] = {}
    for node in syntax.walk(function):
        if isinstance(node, ast.Call) and _puts_on_device(node):
            moved |= _moved_names(node)
        elif isinstance(node, ast.Assign):
            end = node.end_lineno or 0
            for target in node.targets:
                if isinstance(target, ast.Name):
                    bound[target.id] = min(end, bound.get(target.id, end))
    return frozenset(moved), bound


def _puts_on_device(call: ast.Call) -> bool:
    """Tell whether a call moves what it is called on to a device, by its words."""
    match call:
        case ast.Call(func=ast.Attribute(attr="cuda")):
            return True
        case ast.Call(func=ast.Attribute(attr="to" | "type"), args=[where, *_]):
            return _SPEAKS.search(ast.unparse(where)) is not None
    return False


def _is_made(node: ast.AST, scope: Scope) -> bool:
    """Tell whether an operand is what a library's function makes (`torch.randn(n).cuda()`)."""
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and isinstance(scope.lookup(node.id), External)


def _bare_names(node: ast.AST) -> set[str]:
    """Return the names of which an operand uses the values, and not only an attribute.

    What `zeros_like` and its kin take is a tensor.
    """
    found: set[str] = set()
    queue = [node]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_like"):
            queue += [node.func, *node.args[1:], *(keyword.value for keyword in node.keywords)]
        elif not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            queue += ast.iter_child_nodes(node)
    return found


def _first_buffer(module: Instance) -> str:
    """Return the name of the first buffer of a module, or ""."""
    for name, value in module.attrs.items():
        if isinstance(value, Tensor) and name.isidentifier() and module.holds(value):
            return name
    return ""


def _stored(body: list[ast.stmt]) -> set[str]:
    """Return the names that some statements bind."""
    return {
        node.id
        for node in syntax.walk_all(body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
