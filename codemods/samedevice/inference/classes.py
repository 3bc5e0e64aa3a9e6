"""How classes and instances are made, and how attributes are found by computed names."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from samedevice.inference import (
    assignment,
    attributes,
    calls,
    escapes,
    functions,
    iteration,
    libraries,
    namespaces,
    subscripts,
)
from samedevice.inference.models import builtins
from samedevice.inference.nodes import Location
from samedevice.inference.objects import (
    Attributes,
    Class,
    External,
    Func,
    Instance,
    Method,
    Namespace,
    Scope,
)
from samedevice.inference.values import DEVICE, NONE, UNKNOWN, Arg, Const, Dict, Seq, Tensor, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter
    from samedevice.inference.values import Arg

#: The kind of a class whose instances are tuples.
TUPLE = "tuple"
#: The family of what `dataclasses.field` gives.
FIELD = "field"


@dataclass(frozen=True)
class Field:
    """A field of a dataclass or a named tuple, and where its constructor takes it."""

    name: str
    positional: bool
    init_only: bool  # it is handed to `__post_init__`, and not kept


def fields(klass: Class) -> list[Field]:
    """Return the fields that a class declares, those of its bases first."""
    found: dict[str, Field] = {}
    for each in reversed(klass.mro()):
        for statement in each.node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    said = ast.unparse(annotation).strip("'\"").rpartition("[")[0] or (
                        ast.unparse(annotation).strip("'\"")
                    )
                    last = said.split("[")[0].rpartition(".")[2]
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
                    last = ""
                    if not _is_field(each.names.get(name)):
                        continue
                case _:
                    continue
            if last not in ("ClassVar", "KW_ONLY"):
                found[name] = Field(name, _positional(each.names.get(name)), last == "InitVar")
    return list(found.values())


def is_record(klass: Class) -> bool:
    """Tell whether a class is a dataclass whose constructor takes all of its fields."""
    if klass.family or klass.kind or klass.lookup("__init__") or klass.lookup("__post_init__"):
        return False
    marks = [mark for each in klass.mro() for mark in each.node.decorator_list]
    if any(k.arg == "slots" for m in marks if isinstance(m, ast.Call) for k in m.keywords):
        return False
    return _marks_dataclass(marks) and all(
        not field.init_only and _taken(klass.lookup(field.name)) for field in fields(klass)
    )


def has_fields(klass: Class) -> bool:
    """Tell whether a class is a dataclass: what it holds are the defaults of its objects."""
    return _marks_dataclass(klass.node.decorator_list)


def _marks_dataclass(marks: list[ast.expr]) -> bool:
    words = {ast.unparse(m.func if isinstance(m, ast.Call) else m) for m in marks}
    return not words.isdisjoint(("dataclass", "dataclasses.dataclass"))


def _taken(value: Value | None) -> bool:
    """Tell whether the constructor of a dataclass takes a field, by its default."""
    init = value.kwargs.get("init") if isinstance(value, Instance) and _is_field(value) else None
    return init is None or isinstance(init, Const) and bool(init.value)


def _is_field(value: Value | None) -> bool:
    return isinstance(value, Instance) and value.family == FIELD


def _positional(value: Value | None) -> bool:
    """Tell whether the constructor takes a field by position."""
    if not isinstance(value, Instance) or value.family != FIELD:
        return True
    init, only = value.kwargs.get("init"), value.kwargs.get("kw_only")
    return not (isinstance(init, Const) and not init.value) and not (
        isinstance(only, Const) and only.value
    )


#: The kinds of classes that are lists or mappings with more to them.
CONTAINERS = ("list", "dict")
#: The kind of a class whose instances are the members that its body names.
ENUM = "enum"
_WITH_DEFAULT = "collections.defaultdict"
_KINDS = {
    "enum.Enum": ENUM, "enum.Flag": ENUM, "enum.IntEnum": ENUM, "enum.StrEnum": ENUM,
    "typing.NamedTuple": TUPLE, "typing_extensions.NamedTuple": TUPLE, "builtins.list": "list",
    "collections.UserList": "list", "collections.deque": "list", "builtins.dict": "dict",
    "collections.UserDict": "dict", "collections.OrderedDict": "dict",
    _WITH_DEFAULT: "dict",
}  # fmt: skip
#: The attribute that holds the members of a list or mapping that is more than one.
_CONTENTS = "[]"


def contents(owner: Instance) -> Seq | Dict | None:
    """Return the members of an instance that is a list or a mapping, or None of any other."""
    if owner.cls is None or owner.family or owner.cls.kind not in CONTAINERS:
        return None
    held = owner.attrs.get(_CONTENTS)
    if not isinstance(held, (Seq, Dict)):
        held = owner.attrs[_CONTENTS] = Seq("list", []) if owner.cls.kind == "list" else Dict()
    return held


def fill_contents(
    run: Interpreter,
    made: Instance,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> None:
    """Give an instance the members that a list's or a mapping's constructor takes."""
    assert made.cls is not None
    bases = (base for each in made.cls.mro() for base in each.bases)
    if any(isinstance(base, External) and base.name == _WITH_DEFAULT for base in bases):
        held = libraries.call_external(run, _WITH_DEFAULT, args, kwargs, spot, scope)
    else:
        held = builtins.builtin(run, made.cls.kind, args, kwargs, spot, scope)
    run.trail.put(made.attrs, _CONTENTS, held)
    for name, (value, _) in kwargs.items():
        made.attrs.setdefault(name, value)  # many such classes give entries as attributes


def inherited(
    run: Interpreter, owner: Instance, held: Seq | Dict, name: str, args: list[Arg],
    kwargs: dict[str, Arg], spot: Location, scope: Scope,
) -> Value:  # fmt: skip
    """Return what a method gives that a class inherits from a list or a mapping."""
    if name == "__init__":
        fill_contents(run, owner, args, kwargs, spot, scope)
        return NONE
    if name == "__getitem__" and args:
        return subscripts.subscript(run, held, args[0][0], spot, scope)
    if name == "__setitem__" and len(args) == 2:
        key, value = args[0][0], args[1][0]
        if isinstance(held, Dict) and isinstance(key, Const):
            run.trail.put(held.items, key.value, value)
        else:
            run.trail.note(held)
            held.element = run.join(held.element, value)
        return NONE
    return calls.call_method(run, Method(held, name, spot), args, kwargs, spot, scope)


def _enumerate(run: Interpreter, klass: Class) -> None:
    """Make members of what an enum's body binds.

    A number or a text stays its own member, unless the class has methods for its members.
    """
    plain = {base.name for base in klass.bases if isinstance(base, External)} == {"enum.Enum"}
    held = klass.names.values()
    acts = plain and any(isinstance(value, Func) and not value.static for value in held)
    texts = [str(value.value) for value in held if isinstance(value, Const)]
    if any(text == "cpu" or DEVICE.fullmatch(text) for text in texts):
        acts = False  # a member is a device's name, which is judged wherever it goes
    for statement in klass.node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
                value = klass.names.get(name)
            case _:
                continue
        if value is None or isinstance(value, Func) or isinstance(value, Const) and not acts:
            continue
        member = klass.names[name] = Instance("", klass.node.name, klass)
        member.attrs.update({"value": value, "name": Const(name)})
        init = klass.lookup("__init__")
        if isinstance(init, Func):
            spot = Location(klass.scope.path, statement)
            several = isinstance(value, Seq) and value.kind == "tuple" and value.items is not None
            given = value.items if several and isinstance(value, Seq) else [value]
            args = [(part, spot) for part in given or []]
            functions.call_func(run, Func(init.node, init.scope, member, init.cls), args, {}, spot)


def declare(run: Interpreter, klass: Class, scope: Scope) -> None:
    """Do what Python does when a class has been made: its metaclass, its bases, its kind."""
    for base in klass.bases:
        if isinstance(base, Class):
            klass.kind = klass.kind or base.kind
            klass.meta = klass.meta or base.meta
        elif isinstance(base, External):
            klass.kind = klass.kind or _KINDS.get(base.name, "")
    if klass.kind == ENUM:
        _enumerate(run, klass)
    given: dict[str, Arg] = {}
    for keyword in klass.node.keywords:
        value = run.eval(keyword.value, scope)
        if keyword.arg == "metaclass":
            klass.meta = value if isinstance(value, Class) else klass.meta
        elif keyword.arg is not None:
            given[keyword.arg] = value, Location(scope.path, keyword.value)
    for base in klass.mro()[1:]:
        hook = base.names.get("__init_subclass__")
        if isinstance(hook, Func):
            bound = Func(hook.node, hook.scope, klass, hook.cls, "classmethod")
            functions.call_func(run, bound, [], given, Location(scope.path, klass.node))
            break


def made_by_new(
    run: Interpreter, klass: Class, args: list[Arg], kwargs: dict[str, Arg], spot: Location
) -> Value | None:
    """Return what the class's own `__new__` gives, if it has one whose result is known."""
    new = klass.lookup("__new__")
    if klass.family or not isinstance(new, Func):
        return None
    found = functions.call_func(run, Func(new.node, new.scope, klass, new.cls), args, kwargs, spot)
    return found if isinstance(found, (Instance, Tensor)) else None


def fill(
    run: Interpreter,
    made: Instance,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> None:
    """Give an instance the attributes that a generated constructor sets."""
    assert made.cls is not None
    declared = fields(made.cls)
    positional = [field.name for field in declared if field.positional]
    given = {name: value for name, (value, _) in zip(positional, args, strict=False)}
    given.update((name, value) for name, (value, _) in kwargs.items())
    init_only = [field.name for field in declared if field.init_only]
    for name, value in given.items():
        if name not in init_only:
            made.attrs[name] = value
    for field in declared:
        if field.name not in given:
            default = _default(run, made.cls.lookup(field.name), spot, scope)
            if default is not None:
                if field.init_only:
                    given[field.name] = default
                else:
                    made.attrs[field.name] = default
    after_init(run, made, [(given.get(name, UNKNOWN), spot) for name in init_only], spot)


def after_init(run: Interpreter, made: Instance, args: list[Arg], spot: Location) -> None:
    """Call what a dataclass runs after its constructor."""
    assert made.cls is not None
    for name in ("__post_init__", "__attrs_post_init__"):
        hook = made.cls.lookup(name)
        if isinstance(hook, Func):
            functions.call_func(run, Func(hook.node, hook.scope, made, hook.cls), args, {}, spot)


def _default(run: Interpreter, value: Value | None, spot: Location, scope: Scope) -> Value | None:
    """Return the default of a field, as far as a call of `field` shows it."""
    if not isinstance(value, Instance) or value.family != FIELD:
        return None
    factory = value.kwargs.get("default_factory") or value.kwargs.get("factory")
    if factory is not None:
        return calls.apply(run, factory, [], {}, spot, scope)
    default = value.kwargs.get("default")
    return _default(run, default, spot, scope) if _is_field(default) else default


def replaced(
    run: Interpreter, owner: Instance, kwargs: dict[str, Arg], spot: Location | None
) -> Instance:
    """Return a copy of an instance with some attributes replaced.

    Those of names that are not known may be any: each tensor is what they hold then.
    """
    made = Instance(owner.family, owner.name, owner.cls, owner.fact)
    made.attrs = Attributes(owner.attrs)
    if "**" in kwargs:
        spread = kwargs["**"][0]
        held = [name for name, value in owner.attrs.items() if isinstance(value, Tensor)]
        made.attrs.update(dict.fromkeys(held, spread))
    made.attrs.update({name: value for name, (value, _) in kwargs.items() if name != "**"})
    if spot is not None and made.cls is not None:
        after_init(run, made, [], spot)
    return made


def tuple_items(owner: Value) -> list[Value] | None:
    """Return the members of a named tuple, or None of anything else."""
    if not isinstance(owner, Instance) or owner.cls is None or owner.cls.kind != TUPLE:
        return None
    return [
        owner.attrs.get(field.name) or owner.cls.lookup(field.name) or UNKNOWN
        for field in fields(owner.cls)
    ]


def tuple_method(
    run: Interpreter, owner: Instance, name: str, kwargs: dict[str, Arg]
) -> Value | None:
    """Return what the methods of named tuples give, or None."""
    items = tuple_items(owner)
    if items is None or owner.cls is None:
        return None
    if name == "_replace":
        return replaced(run, owner, kwargs, None)
    if name == "_asdict":
        return Dict(dict(zip((f.name for f in fields(owner.cls)), items, strict=True)))
    return None


# -- attributes by computed names -----------------------------------------------------------


def pattern(name: ast.AST) -> str:
    """Return what an expression for a name gives, "*" for what is not known (`f"layer{i}"`)."""
    match name:
        case ast.JoinedStr(values=parts):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return pattern(left) + pattern(right)
        case ast.Constant(value=str() as text):
            return text
    return "*"


def got(run: Interpreter, args: list[Arg], spot: Location, scope: Scope) -> Value:
    """Return what `getattr(owner, name, default)` gives."""
    if len(args) < 2:
        return UNKNOWN
    owner, (key, where) = args[0][0], args[1]
    default = args[2][0] if len(args) > 2 else None
    if isinstance(key, Const) and isinstance(key.value, str):
        found = attributes.attribute(run, owner, key.value, spot, scope)
        lacks = isinstance(found, Method) and isinstance(owner, Instance) and not owner.family
        return default if default is not None and lacks else found
    joined = default
    if isinstance(owner, Namespace):
        found = namespaces.member(run, owner, key, where.node, spot, scope)
        return found if default is None or found is UNKNOWN else run.join(default, found)
    if isinstance(owner, Instance):
        asked = pattern(where.node)
        for value in matching(owner, asked) if asked.strip("*") else ():
            joined = run.join(joined, value)
        if not asked.strip("*") and owner.family == "module" and owner.cls is None:
            part = iteration.any_module(owner, spot)  # whichever it is, it is where the whole is
            joined = part if joined is None else run.join(joined, part)
    if joined is None:
        if isinstance(owner, Instance):
            escapes.taken(run, owner, spot, scope)
        return UNKNOWN
    return run.join(joined, UNKNOWN) if joined is default else joined


def matching(owner: Instance, asked: str) -> Iterator[Value]:
    """Return the attributes that a name with unknown parts may mean."""
    for name, value in owner.attrs.items():
        if name == asked or fnmatchcase(name, asked):
            yield value


def by_pattern(owner: Instance, attr: str) -> Value | None:
    """Return the attribute that was set by a name that was computed, perhaps this one."""
    for name, value in owner.attrs.patterns.items():
        if name.strip("*") and fnmatchcase(attr, name):
            return value
    return None


def put(
    run: Interpreter, owner: Value, key: Arg, value: Value, spot: Location, scope: Scope
) -> None:
    """Do what `setattr(owner, key, value)` does."""
    if isinstance(key[0], Const):
        name = str(key[0].value)
    else:
        name = pattern(key[1].node)
        if isinstance(owner, Instance) and name in owner.attrs and name.strip("*"):
            value = run.join(owner.attrs[name], value)
    statement = spot.node
    assert isinstance(statement, ast.AST)
    assignment.set_attribute(run, owner, name, value, scope, statement)  # type: ignore[arg-type]


def members(owner: Instance) -> Seq | None:
    """Return a named tuple as a tuple, or None."""
    items = tuple_items(owner)
    return Seq("tuple", items) if items is not None else None


def defines(run: Interpreter, name: str, count: int) -> bool:
    """Tell whether a class of the program has a method that a call with some arguments may mean.

    What has such a method is not shown to be a tensor by the call.
    """
    if name not in run.own_methods:
        trees = map(run.project.tree, run.program or run.project.sources)
        takes = [_methods(tree).get(name, -1) for tree in trees if tree is not None]
        run.own_methods[name] = max(takes, default=-1)
    return count <= run.own_methods[name]


@syntax.per_node
def _methods(tree: ast.Module) -> dict[str, float]:
    """Return the methods of a file's classes with how many arguments each takes at most."""
    found: dict[str, float] = {}
    for klass in syntax.statements(tree):
        for method in klass.body if isinstance(klass, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef):
                spec = method.args
                taken = len(spec.posonlyargs) + len(spec.args) - 1
                most = math.inf if spec.vararg is not None else taken
                found[method.name] = max(most, found.get(method.name, most))
    return found
