"""Expressions that an edit inserted: what they are asked for has to be theirs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice import syntax
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
_NOT_TENSORS = {TEXT, NUMBER, FLAG, DEVICE, DATA}


def mistyped(edited: Edited) -> Iterator[tuple[ast.AST, str]]:
    """Yield new expressions that fail by what a file shows of their parts, each with why."""
    kinds = Kinds(edited.after, edited.parents)
    for node in edited.new:
        reason = ""
        match node:
            case (
                ast.Attribute(attr="type")
                | ast.Attribute(attr="index")
                | ast.Attribute(attr="device")
            ):
                reason = _attribute(edited, kinds, node)
            case ast.keyword(arg="device", value=value) if TENSOR in kinds.of(value):
                reason = f"`{ast.unparse(value)}` may be a tensor rather than a device"
            case ast.Lambda():
                reason = _function(edited, node)
            case ast.Assign(targets=[ast.Name(id=name)]):
                reason = _rebinding(edited, node, name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to" | "cpu" | "cuda")):
                if edited.is_new(node.func) and _tested_later(edited, node, name):
                    reason = f"`{name}` may be None, which is asked below"
        if reason:
            yield node, reason
    yield from _numbered(edited, kinds)


def _attribute(edited: Edited, kinds: Kinds, node: ast.Attribute) -> str:
    owner, code = kinds.of(node.value), ast.unparse(node.value)
    if node.attr != "device":
        return f"`{code}` may be a string, which has no {node.attr}" if TEXT in owner else ""
    if code == "next(self.parameters())":
        around = kinds.class_around(node)
        if around is not None and not _has_parameters(kinds, around):
            return f"{around.name} has no parameters that could tell its device"
        return ""
    wrong = owner & _NOT_TENSORS
    if wrong:
        return f"`{code}` may be {min(wrong)}, which has no device"
    is_module = MODULE in owner or _is_used_as_module(edited, node.value)
    if is_module and not _has_devices(edited.after) and not _was_asked(edited, node):
        return f"`{code}` is a module, which has no device of its own"
    return ""


def _is_used_as_module(edited: Edited, node: ast.expr) -> bool:
    """Tell whether something asks a name for what only modules have."""
    if not isinstance(node, ast.Name):
        return False
    scope = _function_around(edited, node)
    for part in syntax.walk(scope):
        match part:
            case ast.Attribute(value=ast.Name(id=name), attr="state_dict" | "named_parameters"):
                if name == node.id:
                    return True
            case ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cuda" | "to")),
                attr="parameters",
            ):
                if name == node.id:
                    return True
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="parameters" | "eval" | "train")
            ):
                if name == node.id:
                    return True
    return False


def _has_devices(tree: ast.Module) -> bool:
    """Tell whether some class of a file gives its instances a device."""
    for node in syntax.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr="device", ctx=ast.Store()):
                return True
            case ast.FunctionDef(name="device"):
                return True
    return False


def _was_asked(edited: Edited, node: ast.Attribute) -> bool:
    """Tell whether the program itself asks the same for its device."""
    code = ast.unparse(node)
    return any(
        isinstance(old, ast.Attribute) and old.attr == "device" and ast.unparse(old) == code
        for old in syntax.walk(edited.before)
    )


def _has_parameters(kinds: Kinds, node: ast.ClassDef, depth: int = 5) -> bool:
    """Tell whether a module may have parameters: not if nothing that it is made of has any."""
    for name, base in kinds.bases(node):
        if base is None and name.rpartition(".")[2] not in ("Module", "ABC", "object"):
            return True  # another's class
        if base is not None and depth and _has_parameters(kinds, base, depth - 1):
            return True
    for part in syntax.walk(node):
        match part:
            case ast.Call(func=func):
                name = getattr(func, "attr", "") or getattr(func, "id", "")
                if name in ("register_parameter", "add_module", "setattr", "register_module"):
                    return True
            case ast.Assign(targets=targets, value=value):
                if any(_is_of_self(target) for target in targets) and _may_hold(
                    kinds, value, depth
                ):
                    return True
            case ast.AnnAssign(target=target, value=value):
                if _is_of_self(target) and _may_hold(kinds, value, depth):
                    return True
    return False


def _is_of_self(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return any(isinstance(p, ast.Attribute) and ast.unparse(p.value) == "self" for p in parts)


def _may_hold(kinds: Kinds, value: ast.expr | None, depth: int) -> bool:
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
            known = kinds.classes.get(name)
            if known is not None and kinds.is_module(known) and depth:
                return _has_parameters(kinds, known, depth - 1)
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


def _rebinding(edited: Edited, node: ast.Assign, name: str) -> str:
    """Return what is wrong with a copy under the same name: what is changed later is not it."""
    if not isinstance(node.value, (ast.DictComp, ast.ListComp, ast.SetComp, ast.Dict, ast.List)):
        return ""
    if not any(isinstance(p, ast.Name) and p.id == name for p in syntax.walk(node.value)):
        return ""
    for part in syntax.walk(_function_around(edited, node)):
        changed: ast.expr | None = None
        match part:
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                changed = value
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _MUTATIONS:
                changed = value
        if isinstance(changed, ast.Name) and changed.id == name and not edited.is_new(changed):
            return f"`{name}` is changed in place, which would only change a copy"
    return ""


def _tested_later(edited: Edited, node: ast.Call, name: str) -> bool:
    """Tell whether the program asks behind a place, and not around it, if a name is None."""
    at = edited.parents.get(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(at, (ast.If, ast.IfExp, ast.BoolOp)) and name in _names(at):
            return False  # it was asked already, perhaps
        at = edited.parents.get(at)
    asked = stored = 0
    for part in sorted(syntax.walk(at or edited.after), key=lambda n: getattr(n, "lineno", 0)):
        if getattr(part, "lineno", 0) <= (node.end_lineno or node.lineno) or asked:
            continue
        match part:
            case ast.Name(id=known, ctx=ast.Store()) if known == name:
                stored = stored or part.lineno
            case ast.Compare(
                left=ast.Name(id=known),
                ops=[ast.Is() | ast.IsNot()],
                comparators=[ast.Constant(value=None)],
            ) if known == name:
                asked = part.lineno
    return bool(asked) and not (stored and stored < asked)


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
                    yield node, f"`{ast.unparse(first)}` may be a device, which takes no index"


def _function_around(edited: Edited, node: ast.AST) -> ast.AST:
    """Return the function that a node is in, or the file."""
    at = edited.parents.get(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        at = edited.parents.get(at)
    return at or edited.after
