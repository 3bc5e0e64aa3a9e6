"""Expressions that an edit inserted: what they are asked for has to be theirs."""

from __future__ import annotations

import ast
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from functools import cached_property

from samedevice.reading import syntax
from samedevice.verify.edited import Edited
from samedevice.verify.kinds import DATA, DEVICE, FLAG, MODULE, NUMBER, TENSOR, TEXT, Kinds

#: Modules of torch.nn that have no parameters, beside what is named like one of these.
_EMPTY = frozenset(
    {"Identity", "Flatten", "Unflatten", "Softmax", "LogSoftmax", "Upsample", "Fold"}
)
_EMPTY_ENDINGS = ("ReLU", "Dropout", "Loss", "Tanh", "Sigmoid", "GELU", "ELU", "SiLU", "Shuffle")
_EMPTY_PARTS = ("Pool", "Pad", "Dropout", "Unfold")
_MUTATIONS = frozenset(
    {"update", "pop", "append", "extend", "insert", "setdefault", "clear", "add"}
)
_PACKS = frozenset({"pack_padded_sequence", "pack_sequence", "PackedSequence"})
_NOT_TENSORS = {TEXT, NUMBER, FLAG, DEVICE, DATA}


def mistyped(edited: Edited) -> Iterator[tuple[ast.AST, str]]:
    """Yield new expressions that fail by what a file shows of their parts, each with why."""
    file = _File(edited)
    for node in edited.new:
        reason = ""
        match node:
            case (
                ast.Attribute(attr="type")
                | ast.Attribute(attr="index")
                | ast.Attribute(attr="device")
            ):
                reason = _attribute(file, node)
            case ast.keyword(arg="device", value=value) if TENSOR in file.kinds.of(value):
                reason = f"`{ast.unparse(value)}` may be a tensor rather than a device"
            case ast.Lambda():
                reason = _function(edited, node)
            case ast.Assign(targets=[ast.Name(id=name)]):
                reason = _rebinding(file, node, name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to" | "cpu" | "cuda")):
                if edited.is_new(node.func) and _tested_later(file, node, name):
                    reason = f"`{name}` may be None, which is asked below"
            case ast.Call(func=ast.Attribute(value=ast.Call() as before, attr="to" | "cuda")):
                if edited.is_new(node.func) and not edited.is_new(before.func) and _to_cpu(before):
                    reason = f"`{ast.unparse(before)}` was put on the CPU on purpose"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer")):
                if _is_before_super(file.edited, node):
                    reason = "a module takes buffers only after `super().__init__()`"
            case ast.keyword(arg=str()):
                reason = _several(file, node)
        if reason:
            yield node, reason
    yield from _numbered(edited, file.kinds)


class _File:
    """What an edited file says as a whole; each thing is looked for once."""

    def __init__(self, edited: Edited) -> None:
        self.edited = edited
        self.kinds = Kinds(edited.after, edited.parents)
        self._modules: dict[ast.AST, set[str]] = {}
        self._changed: dict[ast.AST, set[str]] = {}
        self._lines: dict[ast.AST, _Lines] = {}
        self._with_parameters: dict[tuple[ast.ClassDef, int], bool] = {}

    def modules_in(self, scope: ast.AST) -> set[str]:
        """Return the names that a function or the file asks for what only modules have."""
        if scope not in self._modules:
            self._modules[scope] = set(_used_as_modules(scope))
        return self._modules[scope]

    def changed_in(self, scope: ast.AST) -> set[str]:
        """Return the names whose values a function or the file changes in place, and did before."""
        if scope not in self._changed:
            self._changed[scope] = {
                name.id for name in _changed_in_place(scope) if not self.edited.is_new(name)
            }
        return self._changed[scope]

    def lines_in(self, scope: ast.AST) -> _Lines:
        """Return where a function or the file asks for names, and binds them."""
        if scope not in self._lines:
            self._lines[scope] = _Lines(scope)
        return self._lines[scope]

    def has_parameters(self, node: ast.ClassDef, depth: int = 5) -> bool:
        """Tell whether a module may have some: not if nothing that it is made of has any."""
        asked = node, depth
        if asked not in self._with_parameters:
            self._with_parameters[asked] = _has_parameters(self, node, depth)
        return self._with_parameters[asked]

    @cached_property
    def alternatives(self) -> dict[str, list[str]]:
        """What names stand for that each branch of a statement imports from elsewhere."""
        found: dict[str, list[str]] = {}
        for node in syntax.walk(self.edited.after):
            if isinstance(node, (ast.Try, ast.If)):
                handled = node.handlers if isinstance(node, ast.Try) else ()
                branches = [node.body, node.orelse, *(each.body for each in handled)]
                brought = [dict(_imported(branch)) for branch in branches]
                for name in {name for each in brought for name in each}:
                    meant = [each[name] for each in brought if name in each]
                    if len(meant) > 1:
                        found.setdefault(name, []).extend(meant)
        return found

    @cached_property
    def has_devices(self) -> bool:
        """Whether some class gives its instances a device."""
        for node in syntax.walk(self.edited.after):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr="device", ctx=ast.Store()):
                    return True
                case ast.FunctionDef(name="device"):
                    return True
        return False

    @cached_property
    def asked_before(self) -> set[str]:
        """What the program itself asks for its device."""
        return {
            ast.unparse(node)
            for node in syntax.walk(self.edited.before)
            if isinstance(node, ast.Attribute) and node.attr == "device"
        }


def _attribute(file: _File, node: ast.Attribute) -> str:
    kinds = file.kinds
    owner, code = kinds.of(node.value), ast.unparse(node.value)
    if node.attr != "device":
        return f"`{code}` may be a string, which has no {node.attr}" if TEXT in owner else ""
    if code == "next(self.parameters())":
        around = kinds.class_around(node)
        if around is not None and not file.has_parameters(around):
            return f"{around.name} has no parameters that could tell its device"
        return ""
    if _is_packed(file, node.value):
        return f"`{code}` is a packed sequence there, which has no device"
    wrong = owner & _NOT_TENSORS
    if wrong:
        return f"`{code}` may be {min(wrong)}, which has no device"
    is_module = MODULE in owner or _is_used_as_module(file, node.value)
    if is_module and not file.has_devices and ast.unparse(node) not in file.asked_before:
        return f"`{code}` is a module, which has no device of its own"
    return ""


def _to_cpu(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "cpu"


def _is_packed(file: _File, node: ast.expr) -> bool:
    """Tell whether a name was last bound to what packs sequences, above the line of a node."""
    if not isinstance(node, ast.Name):
        return False
    last: ast.Assign | None = None
    for part in syntax.walk(_function_around(file.edited, node)):
        if isinstance(part, ast.Assign) and part.lineno < node.lineno:
            bound = [each for target in part.targets for each in ast.walk(target)]
            if any(isinstance(each, ast.Name) and each.id == node.id for each in bound):
                last = part if last is None or part.lineno > last.lineno else last
    match last:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=func)):
            return syntax.dotted(func).rpartition(".")[2] in _PACKS
    return False


def _is_before_super(edited: Edited, node: ast.Call) -> bool:
    """Tell whether a constructor calls that of its base below a statement."""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "__init__"
        and part.lineno > node.lineno
        for part in syntax.walk(_function_around(edited, node))
    )


def _is_used_as_module(file: _File, node: ast.expr) -> bool:
    """Tell whether something asks a name for what only modules have."""
    if not isinstance(node, ast.Name):
        return False
    return node.id in file.modules_in(_function_around(file.edited, node))


def _used_as_modules(scope: ast.AST) -> Iterator[str]:
    for part in syntax.walk(scope):
        match part:
            case ast.Attribute(value=ast.Name(id=name), attr="state_dict" | "named_parameters"):
                yield name
            case ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cuda" | "to")),
                attr="parameters",
            ):
                yield name
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="parameters" | "eval" | "train")
            ):
                yield name


def _has_parameters(file: _File, node: ast.ClassDef, depth: int) -> bool:
    for name, base in file.kinds.bases(node):
        if base is None and name.rpartition(".")[2] not in ("Module", "ABC", "object"):
            return True  # another's class
        if base is not None and depth and file.has_parameters(base, depth - 1):
            return True
    for part in _constructing(node):
        match part:
            case ast.Call(func=func):
                name = getattr(func, "attr", "") or getattr(func, "id", "")
                if name in ("register_parameter", "add_module", "setattr", "register_module"):
                    return True
            case ast.Assign(targets=targets, value=value):
                if any(map(_is_of_self, targets)) and _may_hold(file, value, depth):
                    return True
            case ast.AnnAssign(target=target, value=value):
                if _is_of_self(target) and _may_hold(file, value, depth):
                    return True
    return False


def _constructing(node: ast.ClassDef) -> Iterator[ast.AST]:
    """Yield the code that certainly runs when an object of a class is built.

    A branch that is left out makes nothing: both have to, or what stands under no test.
    """
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    queue, seen = ["__init__"], {"__init__"}
    while queue:
        method = methods.get(queue.pop())
        for statement in _unconditional(method.body) if method is not None else ():
            for part in syntax.walk(statement):
                yield part
                match part:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                        if name not in seen:
                            seen.add(name)
                            queue.append(name)


def _unconditional(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block that no `if` without an `else` may leave out."""
    for statement in block:
        match statement:
            case ast.If(body=body, orelse=other):
                yield from _unconditional([*body, *other]) if other else ()
            case ast.For(body=body) | ast.With(body=body) | ast.While(body=body):
                yield from _unconditional(body)
            case ast.Try(body=body, finalbody=last):
                yield from _unconditional([*body, *last])
            case _:
                yield statement


def _is_of_self(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return any(isinstance(p, ast.Attribute) and ast.unparse(p.value) == "self" for p in parts)


def _may_hold(file: _File, value: ast.expr | None, depth: int) -> bool:
    """Tell whether a value may be, or hold, something with parameters."""
    match value:
        case None | ast.Constant() | ast.Compare() | ast.JoinedStr():
            return False
        case ast.BinOp() | ast.UnaryOp():
            return False  # numbers, as a rule
        case ast.Call(func=func):
            name = getattr(func, "attr", "") or getattr(func, "id", "")
            owner = ast.unparse(func.value) if isinstance(func, ast.Attribute) else ""
            if name in ("int", "float", "len", "str", "bool", "range"):
                return False
            if owner in ("torch", "th", "np", "numpy", "math"):
                return False
            empty = name in _EMPTY or name.endswith(_EMPTY_ENDINGS)
            if empty or any(part in name for part in _EMPTY_PARTS):
                return False
            known = file.kinds.classes.get(name)
            if known is not None and file.kinds.is_module(known) and depth:
                return file.has_parameters(known, depth - 1)
            return True
    return True


def _function(edited: Edited, node: ast.Lambda) -> str:
    """Return what is wrong with a new function: it is used as if it were what it returns."""
    parent = edited.parents.get(node)
    match parent:
        case ast.Subscript(value=value) | ast.Attribute(value=value) if value is node:
            return "the function itself would stand where its result is needed"
        case ast.BinOp() | ast.Compare():
            return "the function itself would stand where its result is needed"
    return ""


def _rebinding(file: _File, node: ast.Assign, name: str) -> str:
    """Return what is wrong with a copy under the same name: what is changed later is not it."""
    if not isinstance(node.value, (ast.DictComp, ast.ListComp, ast.SetComp, ast.Dict, ast.List)):
        return ""
    if not any(isinstance(p, ast.Name) and p.id == name for p in syntax.walk(node.value)):
        return ""
    if name in file.changed_in(_function_around(file.edited, node)):
        return f"`{name}` is changed in place, which would only change a copy"
    return ""


def _changed_in_place(scope: ast.AST) -> Iterator[ast.Name]:
    for part in syntax.walk(scope):
        match part:
            case ast.Subscript(value=ast.Name() as value, ctx=ast.Store() | ast.Del()):
                yield value
            case ast.Call(func=ast.Attribute(value=ast.Name() as value, attr=attr)):
                if attr in _MUTATIONS:
                    yield value


def _several(file: _File, node: ast.keyword) -> str:
    """Return what is wrong with a new argument: its function is another one where an import fails.

    `from utils import f` and `from .utils import f` bring the same one.
    """
    call = file.edited.parents.get(node)
    if not isinstance(call, ast.Call) or file.edited.is_new(call):
        return ""
    name, _, rest = ast.unparse(call.func).partition(".")
    meant = sorted(file.alternatives.get(name, ()), key=len)
    for one, other in zip(meant, meant[1:], strict=False):
        if one != other and not other.endswith(f".{one}"):
            both = " or ".join(f"`{each}.{rest}`" if rest else f"`{each}`" for each in (one, other))
            return f"`{name}` may be {both}, which may take other arguments"
    return ""


def _imported(block: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node in block:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}".lstrip(".")


def _tested_later(file: _File, node: ast.Call, name: str) -> bool:
    """Tell whether the program asks behind a place, and not around it, if a name is None."""
    at = file.edited.parents.get(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(at, (ast.If, ast.IfExp, ast.BoolOp)) and name in _names(at):
            return False  # it was asked already, perhaps
        at = file.edited.parents.get(at)
    lines = file.lines_in(at or file.edited.after)
    end = node.end_lineno or node.lineno
    asked = _first_behind(lines.asked.get(name, ()), end)
    stored = _first_behind(lines.stored.get(name, ()), end)
    return bool(asked) and not 0 < stored < asked


def _first_behind(lines: Sequence[int], line: int) -> int:
    at = bisect_right(lines, line)
    return lines[at] if at < len(lines) else 0


class _Lines:
    """In which lines of a function or file names are compared with None, and bound."""

    def __init__(self, scope: ast.AST) -> None:
        self.asked: dict[str, list[int]] = {}
        self.stored: dict[str, list[int]] = {}
        for part in syntax.walk(scope):
            match part:
                case ast.Name(id=name, ctx=ast.Store()):
                    insort(self.stored.setdefault(name, []), part.lineno)
                case ast.Compare(
                    left=ast.Name(id=name),
                    ops=[ast.Is() | ast.IsNot()],
                    comparators=[ast.Constant(value=None)],
                ):
                    insort(self.asked.setdefault(name, []), part.lineno)


def _names(test: ast.If | ast.IfExp | ast.BoolOp) -> set[str]:
    parts = syntax.walk(test if isinstance(test, ast.BoolOp) else test.test)
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _numbered(edited: Edited, kinds: Kinds) -> Iterator[tuple[ast.AST, str]]:
    """Yield the calls `torch.device(a_device, index)` that an edit made."""
    for node in syntax.walk(edited.after):
        match node:
            case ast.Call(func=ast.Attribute(attr="device")) if node.args or node.keywords:
                rest = [k for k in node.keywords if k.arg in ("type", "index")]
                first = node.args[0] if node.args else next(
                    (k.value for k in rest if k.arg == "type"), None
                )  # fmt: skip
                several = len(node.args) + len(rest) > 1
                is_new = any(edited.is_new(part) for part in syntax.walk(node))
                if several and is_new and first is not None and DEVICE in kinds.of(first):
                    yield node, _indexed(edited, first)


def _indexed(edited: Edited, first: ast.expr) -> str:
    """Return what is wrong with an index beside a device, by a name that the file has."""
    if isinstance(first, ast.Name) and not any(
        isinstance(each, ast.Name) and each.id == first.id for each in syntax.walk(edited.before)
    ):
        return "the device that would take its place is one already, and takes no index"
    return f"`{ast.unparse(first)}` may be a device, which takes no index"


def _function_around(edited: Edited, node: ast.AST) -> ast.AST:
    """Return the function that a node is in, or the file."""
    at = edited.parents.get(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        at = edited.parents.get(at)
    return at or edited.after
