"""What can be asked about single values and expressions, once all places are found."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import choices, ways
from samedevice.inference.events import Structured
from samedevice.inference.evidence import Evidence
from samedevice.inference.movers import ANY, Structure
from samedevice.inference.nodes import ON_DEVICE, Cause, Location, Place, PlaceVar
from samedevice.inference.objects import Class, External, Instance, Scope
from samedevice.inference.sites import LeftOut
from samedevice.inference.united import Groups, united
from samedevice.inference.values import NONE, Const, Doubt, Tensor, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


class Answers:
    """The questions that need only the evaluation: who asks sees no node's relations."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.graph = interpreter.graph

    @cached_property
    def evidence(self) -> Evidence:
        """What shows for certain where values are."""
        return Evidence(self.graph)

    def clashing(self, node: PlaceVar | None) -> bool:
        """Tell whether a value is on the host but enters an operation on the device."""
        return node is not None and node.find() in self.graph.clashing

    def meets_others(self, node: PlaceVar | None) -> bool:
        """Tell whether a value meets, or is used in place of, a tensor that nothing puts on the
        device."""
        if node is None:
            return False
        root = node.find()
        others = [meet.right if meet.left.find() is root else meet.left for meet in root.meets]
        for target in (each.find() for each in root.flows_to):
            others += [each for each in target.flows_from if target.joins]
        known = (other for other in others if other.find() is not root and other.find().is_tensor)
        return any(not self.on_device(other) for other in known)

    def is_met(self, node: PlaceVar | None) -> bool:
        """Tell whether a value meets another one, wherever that is."""
        return node is not None and bool(node.find().meets)

    def left_out(self, given: Const) -> LeftOut | None:
        """Return the call that left a device parameter at this default, and the parameter."""
        return self.interpreter.left_out.get(given)

    def is_left_out(self, function: ast.AST, parameter: str) -> bool:
        """Tell whether a parameter is None for some caller, or nobody is seen to call its
        function."""
        scopes = self.interpreter.all_scopes.get(function, ())
        called = [one for one in scopes if one.call is None or one.call.node is not function]
        given = [one.names.get(parameter) for one in called]
        absent = [each for each in given if isinstance(each, Const) and each.value is None]
        return bool(absent) or bool(scopes) and not called

    def left_to_cpu(self) -> Iterator[LeftOut]:
        """Yield the calls that leave a device to its default, which is the CPU, and the parameter.

        Only of programs that use no other device: there the CPU stands for the device.
        """
        for given, left in self.interpreter.left_out.items():
            used = self.interpreter.consumed.get(given.spot.node) if given.spot else None
            if used is not None and used.node.find().place is Place.CENTRAL:
                if str(given.value).startswith("cpu"):
                    yield left

    def is_default(self, device: ast.AST) -> bool:
        """Tell whether a text that names a device is what a parameter is that a call leaves out."""
        left = self.interpreter.left_out
        return any(given.spot is not None and given.spot.node is device for given in left)

    @staticmethod
    def index_in(node: ast.AST) -> ast.expr | None:
        """Return the index in `x.cuda(index)`, `f"cuda:{index}"` and their like."""
        return choices.index_in(node)

    def is_counted(self, path: str, index: ast.expr) -> bool:
        """Tell whether a loop of a file counts the GPUs that an index stands for."""
        tree = self.interpreter.project.tree(path)
        return isinstance(index, ast.Name) and index.id in choices.counted(tree)

    def is_stored(self, device: ast.AST) -> bool:
        """Tell whether an expression of a device is what a name or option stands for."""
        return device in self.interpreter.stored_literals

    def is_meant(self, device: ast.AST) -> bool:
        """Tell whether an expression that looks like a device's is used as one."""
        return device in self.interpreter.meant

    def is_to_fail(self, node: ast.AST) -> bool:
        """Tell whether a test wants an expression to fail where there is no CUDA."""
        return node in self.interpreter.refused

    def says_how(self, branch: Location) -> bool:
        """Tell whether a branch says how something is done, and not where: both arms move it."""
        return ways.says_how(self.interpreter.project.tree(branch.path), branch.node)

    def gives_device(self, branch: Location) -> bool:
        """Tell whether a branch gives the name of a device, or makes one."""
        return ways.decides(branch.node)

    @property
    def has_default_device(self) -> bool:
        """Whether the program tells torch where new tensors are."""
        return self.interpreter.default_device

    def is_set_later(self, klass: Class, attr: str) -> bool:
        """Tell whether an attribute of a class is set to a library's class by another method."""
        return (klass.node, attr) in self.interpreter.set_later

    def scope_at(self, spot: Location) -> Scope | None:
        """Return the names that an expression sees."""
        return self.interpreter.scope_of(spot)

    def unknown(self) -> list[Location]:
        """Return the expressions of which nothing is known, of a project whose runs are asked."""
        return list(self.interpreter.unknown.values())

    def place(self, node: PlaceVar | None) -> Place:
        """Return where a value lives."""
        if node is None:
            return Place.UNKNOWN
        return node.find().place or Place.UNKNOWN

    def on_device(self, node: PlaceVar | None) -> bool:
        """Tell whether a value is, or has to be, on the central device or where its input is."""
        return self.place(node) in ON_DEVICE

    def is_needed_on_host(self, node: PlaceVar) -> bool:
        """Tell whether something asks for a value where only host memory can be."""
        return node.find().host_required_at is not None

    @staticmethod
    def structure(batch: Value) -> Structure:
        """Return what is in a batch."""
        found = Structure()
        found.add(batch)
        return found

    @staticmethod
    def structure_of_parts(batch: Structured) -> Structure:
        """Return what is in a batch of which only the parts are known that the program reads."""
        found = Structure()
        for part in (*batch.parts.values(), batch.others):
            if part is not None:
                found.add(part)
        found.kinds, found.rest = set(ANY), True
        return found

    def given(self, node: PlaceVar | None) -> Place | None:
        """Return where something puts a value, None where only its use says where it has to be."""
        root = node.find() if node is not None else None
        return root.pin if root is not None and root.cause is not Cause.SEED else None

    def is_tensor(self, node: PlaceVar | None) -> bool:
        """Tell whether a value is known to be a tensor, and not only used like one."""
        return node is not None and node.find().is_tensor

    def module_move(self, node: PlaceVar) -> tuple[Location, Cause] | None:
        """Return the move by which a module is on the CPU: one to the CPU, or one that comes later.

        None for what is no module, or is on the CPU for another reason.
        """
        root = node.find()
        if root.cause not in (Cause.TO_CPU, Cause.UNMOVED) or root.pin_spot is None:
            return None
        return root.pin_spot, root.cause

    def host_device(self, node: PlaceVar) -> Location | None:
        """Return where the only device is written by which a value is on the CPU."""
        root = node.find()
        if root.host_required_at is not None or len(root.flows_from) != 1:
            return None
        return root.flows_from[0].find().pin_spot

    def brought_to_host(self, node: PlaceVar) -> Iterator[Location]:
        """Yield where a value on the CPU, or what it is made of, is put there by name."""
        seen: set[PlaceVar] = set()
        queue = [node.find()]
        while queue:
            root = queue.pop()
            if root in seen or root.place is not Place.HOST:
                continue
            seen.add(root)
            if root.pin is Place.HOST and root.pin_spot is not None:
                yield root.pin_spot
            queue += [source.find() for source in root.flows_from]

    def entries(self, node: PlaceVar) -> list[Location]:
        """Return the expressions by which a value enters operations with what is on the device."""
        root = node.find()
        found: dict[ast.AST, Location] = {}
        for meet in root.meets:
            left = meet.left.find() is root
            if self.on_device(meet.right if left else meet.left):
                spot = meet.left_spot if left else meet.right_spot
                spot = self.entry(root, spot, meet.function)
                if isinstance(spot.node, ast.expr):
                    found[spot.node] = spot
        return list(found.values())

    def enters_module(self, node: PlaceVar | None) -> bool:
        """Tell whether a value, or what is computed from it alone, is what a module is called with.

        Modules take no tensor without dimensions.
        """
        queue = [node.find()] if node is not None else []
        seen = set(queue)
        while queue:
            root = queue.pop()
            for meet in root.meets:
                other = meet.right_spot if meet.left.find() is root else meet.left_spot
                call = meet.operation.node
                if isinstance(call, ast.Call) and other.node is call.func:
                    return True
            new = {target.find() for target in root.flows_to} - seen
            queue += [each for each in new if not each.joins]
            seen |= new
        return False

    def reads(self, node: PlaceVar, attr: str) -> list[Location]:
        """Return the reads of an attribute by which alone a value enters operations on the device.

        Empty where it goes to one in some other way, too: computed with, joined, indexed.
        """
        root = node.find()
        spots = self.entries(root)
        if any(target.find().joins for target in root.flows_to):
            return []
        if any(self.on_device(meet.right) for meet in root.indexed_by):
            return []
        if not all(isinstance(s.node, ast.Attribute) and s.node.attr == attr for s in spots):
            return []
        return spots

    def meets_certain(self, node: PlaceVar) -> bool:
        """Tell whether all that a value meets is certainly where it is, by what the code says."""
        root = node.find()
        others = [m.right if m.left.find() is root else m.left for m in root.meets]
        return all(
            other.find().place is Place.FOLLOWS or self.certain(other.find()) for other in others
        )

    def certain(self, node: PlaceVar) -> bool:
        """Tell whether something puts a value where it is, or computes it from what is there."""
        root = node.find()
        if self.given(root) is not None:
            return True
        return any(
            source.find().pin is not None and source.find().place is root.place
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

    @cached_property
    def _united(self) -> tuple[dict[PlaceVar, int], Groups]:
        return united(self.graph)

    def group_of(self, node: PlaceVar) -> int:
        """Return the number of the group of values that depend on one."""
        index, groups = self._united
        return groups.of(index[node.find()])

    def holds_only_tensors(self, scope: Scope, attr: str) -> bool:
        """Tell whether every object that a method was evaluated for holds a tensor under a name,
        or nothing: no parameter, which a move would copy if it were a buffer."""
        func = scope.func
        scopes = self.interpreter.all_scopes.get(func.node, ()) if func is not None else ()
        owners = (each.self_value for each in scopes)
        held = (owner.attrs.get(attr, NONE) for owner in owners if isinstance(owner, Instance))
        return all(
            isinstance(value, Tensor)
            and not (value.doubt is Doubt.OTHER or value.parameter or value.lent)
            or isinstance(value, Const)
            and value.value is None
            for value in held
        )

    def handed_there(self, scope: Scope, name: str) -> bool:
        """Tell whether a module was on the device when a function was called with it."""
        given = self.interpreter.modules_given.get(scope, {}).get(name)
        return given is not None and self.place(given) is Place.CENTRAL

    def functions_called(
        self, call: ast.AST
    ) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Yield the functions of the project that a call was evaluated by, and their files."""
        for node, scopes in self.interpreter.all_scopes.items():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
                scope.call is not None and scope.call.node is call for scope in scopes
            ):
                yield scopes[0].path, node

    def entry(self, node: PlaceVar, spot: Location, function: ast.AST | None) -> Location:
        """Return the outermost argument through which a value enters an operation.

        What is computed of an argument enters with it, but where it leaves the device again.
        """
        root = node.find()
        leaves = self.on_device(root)
        seen: set[ast.AST] = set()
        while function is not None and function not in seen:
            direct = frozenset({parameter_in(spot.node, function)} - {""})
            names = direct if leaves else self._parameters_of(spot.node, function)
            if not names:
                break  # it is made here, and only lives where some argument does
            seen.add(function)
            given = [
                each
                for each in self.interpreter.arguments.get(function, ())
                if each.node.find() is root and isinstance(each.where.node, ast.expr)
            ]
            if not given:
                break
            # Another argument may be where this one is.
            chosen = next((each for each in given if each.is_for(names, function)), given[0])
            spot, function = chosen.where, chosen.caller
        return spot

    def _parameters_of(
        self, node: ast.AST, function: ast.AST, within: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        """Return the parameters that an expression is, or that a library computes it of alone.

        None if there is anything else in it. `within` are the names whose values are asked for.
        """
        name = parameter_in(node, function)
        if name:
            return frozenset({name})
        match node:
            case ast.Name(id=name) if name not in within:
                value = syntax.bound_once(function).get(name)
                parts = [value] if value is not None else []
                within |= {name}
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                pass
            case ast.Call(func=func, args=parts) if self._computes(func, function):
                pass
            case (
                ast.Attribute(value=inner)
                | ast.Subscript(value=inner)
                | ast.Call(func=ast.Attribute(value=inner))
            ):
                parts = [inner]
            case _:
                return frozenset()
        asked = [part for part in parts if not isinstance(part, ast.Constant)]
        found = [self._parameters_of(part, function, within) for part in asked]
        return frozenset().union(*found) if all(found) else frozenset()

    def _computes(self, func: ast.expr, function: ast.AST) -> bool:
        """Tell whether a function of a library gives a tensor where those are that it gets."""
        root, _, rest = syntax.dotted(func).partition(".")
        scope = self.interpreter.scopes.get(function)  # type: ignore[call-overload]
        held = scope.lookup(root) if scope is not None else None
        if not isinstance(held, External):
            return False
        fact = torchfacts.lookup(f"{held.name}.{rest}" if rest else held.name)
        return fact is not None and fact.kind in ("op", "view", "like") and bool(fact.tensors)


def is_parameter(node: ast.AST, function: ast.AST) -> bool:
    """Tell whether an expression is a parameter of a function, or some part or view of one."""
    return bool(parameter_in(node, function))


def parameter_in(node: ast.AST, function: ast.AST) -> str:
    """Return the parameter of a function that an expression is, or some part or view of, or ""."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)) | ast.UnaryOp(operand=inner):
                node = inner
            case _:
                return ""
    spec = getattr(function, "args", None)
    named = spec is not None and any(
        isinstance(part, ast.arg) and part.arg == node.id for part in ast.walk(spec)
    )
    return node.id if named else ""
