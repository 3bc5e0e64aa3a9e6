"""What the words for a device say: a kind of device with no index, or what it is a device for."""

from __future__ import annotations

import ast
import re

from samedevice.reading import syntax
from samedevice.reading.syntax import Parents

_KINDS = frozenset(("cuda", "cpu", "mps", "xpu", "hpu", "npu", "xla", "meta"))
#: What a name for the device to compute on is made of.
_COMPUTING = frozenset(
    (
        "", "central", "compute", "current", "d", "default", "dev", "device", "gpu", "cuda", "id",
        "index", "local", "main", "model", "my", "name", "process", "rank", "run", "str", "target",
        "the", "to", "torch", "train", "use",
    )
)  # fmt: skip
#: What a name for it says of the work that is done there, which is no part of a program.
_WORK = frozenset(
    (
        "computation", "computing", "exec", "execution", "global", "inference", "job", "net",
        "network", "nn", "self", "training", "worker", "working",
    )
)  # fmt: skip
#: Where a word of a name in capital letters ends: `CLIPModel` is of `clip`.
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: What a name for a device has in it, in one spelling or another.
_SPEAKING = re.compile(r"(?i)dev|cuda|gpu|cpu|accel|place|where|loc|target|rank|host|mps|[xnth]pu")
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_word(tree: ast.Module, parents: Parents, place: ast.AST, name: str) -> bool:
    """Tell whether a file gives a name nothing but such words, as far as code at a place sees it.

    An attribute may be set from elsewhere, and a parameter is what callers hand in.
    """
    if not name.isidentifier():
        return False
    node: ast.AST | None = place
    while node is not None:
        if isinstance(node, _Function) and any(
            isinstance(part, ast.arg) and part.arg == name for part in syntax.walk(node.args)
        ):
            return False
        node = parents.get(node)
    given = [
        part.value
        for part in syntax.statements(tree)
        if isinstance(part, ast.Assign)
        and [target.id for target in part.targets if isinstance(target, ast.Name)] == [name]
        and len(part.targets) == 1
    ]
    bound = sum(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        for part in syntax.walk(tree)
    )
    return bool(given) and len(given) == bound and all(map(_is_choice, given))


def is_for_all(name: str) -> bool:
    """Tell whether a name says no more than that it is a device: not `output_device`, say."""
    return _COMPUTING.issuperset(name.lower().split("_"))


def part_of(name: str) -> str:
    """Return what a name says that it is the device of: "clip" for `clip_device`, "" for all."""
    words = [word for word in name.lower().split("_") if word]
    if "device" not in words and "dev" not in words:
        return ""
    return "_".join(word for word in words if word not in _COMPUTING and word not in _WORK)


def speaks_of(code: ast.AST, part: str) -> bool:
    """Tell whether some code has a name of a part, or of something that it has.

    `clip`, `clip_batch_size` and `load_clip` are of `clip`; another device of it says nothing.
    """
    return any(f"_{part}_" in f"_{name}_" for name in _named(code))


@syntax.per_node
def _named(code: ast.AST) -> frozenset[str]:
    """Return the names in some code, in small letters, but those for devices and for modules."""
    found: set[str] = set()
    modules: set[str] = set()
    for node in syntax.walk(code):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.keyword(arg=str(name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                modules.update(alias.asname or alias.name for alias in names)
    spelled = (_CAPITALS.sub("_", name).lower() for name in found - modules)
    return frozenset(name for name in spelled if not part_of(name))


def is_device(function: _Function, parameter: str) -> bool:
    """Tell whether a parameter is a device by its name, by its annotation, or by what is done.

    Callers may give one by its position to what is called `epoch` and never read.
    """
    if _SPEAKING.search(parameter) or parameter == "d":
        return True
    spec = function.args
    for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        if arg.arg == parameter and arg.annotation is not None:
            return _SPEAKING.search(ast.unparse(arg.annotation)) is not None
    for node in syntax.walk(function):
        match node:
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [k.value for k in keywords if k.arg is not None and k.arg == "device"]
                if isinstance(func, ast.Attribute) and func.attr in ("to", "cuda", "device"):
                    given += args
                if any(isinstance(each, ast.Name) and each.id == parameter for each in given):
                    return True
    return False


def as_text(function: _Function, parameter: str, device: str) -> str:
    """Return how a function is handed a `torch.device` for a parameter that is a text to it.

    That is its kind, where it is compared with one; the device itself, where it is none.
    """
    for node in syntax.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="type" | "index") if name == parameter:
                return device
    for node in syntax.walk(function):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, ast.Name) and one.id == parameter and _is_kind(other):
                        return f"{device}.type"
    spec = function.args
    for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        if arg.arg == parameter and isinstance(arg.annotation, ast.Name):
            return f"str({device})" if arg.annotation.id == "str" else device
    return device


def kind_at(tree: ast.Module, parents: Parents, place: ast.AST, device: str) -> str:
    """Return the name that holds the kind of a device above a place, or "".

    `device_type = "cuda" if "cuda" in device else "cpu"`, or what asks `torch.device` for it.
    """
    line, root = getattr(place, "lineno", 0), device.partition(".")[0]
    homes: list[list[ast.stmt]] = []
    node: ast.AST | None = place
    while node is not None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            homes.append(node.body)
            if root in syntax.parameters(node):
                break  # what is outside is about another one
        node = parents.get(node)
    else:
        homes.append(tree.body)
    for statement in (each for home in homes for each in syntax.certain(home)):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                above = (statement.end_lineno or 0) < line
                if above and _says_kind(value, device) and name in syntax.bound_once(tree):
                    return name
    return ""


def _says_kind(value: ast.expr, device: str) -> bool:
    match value:
        case ast.IfExp(
            test=test, body=ast.Constant(value="cuda"), orelse=ast.Constant(value="cpu")
        ):
            said = {ast.unparse(each) for each in ast.walk(test) if isinstance(each, ast.expr)}
            return device in said and "'cuda'" in said
        case ast.Attribute(value=ast.Call(args=[given]) as made, attr="type"):
            return ast.unparse(given) == device and ast.unparse(made.func).endswith("device")
        case ast.Attribute(value=held, attr="type"):
            return ast.unparse(held) == device
    return False


def _is_choice(value: ast.expr) -> bool:
    """Tell whether a value is decided: what is written out may become another one's device."""
    return isinstance(value, ast.IfExp) and _is_kind(value)


def _is_kind(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_kind(value.body) and _is_kind(value.orelse)
    return isinstance(value, ast.Constant) and value.value in _KINDS
