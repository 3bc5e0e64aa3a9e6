"""What code certainly comes to when it runs: what stands under no test, and the code that it calls.

No values are followed but flags that nobody sets, and objects of the project's own classes, as far
as a name, an attribute or what a function returns says which class it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from samedevice.inference.programs import Programs
from samedevice.reading import syntax
from samedevice.verify.constants import Constants, Flags, Own
from samedevice.verify.in_order import certain, evaluated

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What runs when an object is made, and when one is called.
_BUILDS, _CALLED = ("__init__", "__post_init__"), ("__call__", "forward")
#: What runs when a block of `with` begins and ends.
_MANAGES = ("__enter__", "__aenter__", "__exit__", "__aexit__")
#: Methods of modules that give the module itself, where its class has none of that name.
_ITSELF = frozenset(
    ("bfloat16", "cpu", "cuda", "double", "eval", "float", "half", "requires_grad_", "to", "train")
)
#: How many names are looked through on the way to one definition.
_STEPS = 12

Line = tuple[str, int]
#: What each name is given in some code, None for what is not told.
_Values = dict[str, list[ast.expr | None]]
#: What each attribute is given in the methods of a class, and in which of them.
_Members = dict[str, list[tuple[ast.expr | None, _Function]]]


@dataclass(frozen=True)
class Class:
    """A class of the project, and the file that it is in; with the flags that an object is given,
    that object's."""

    path: str
    node: ast.ClassDef
    flags: Flags = ()

    @property
    def plain(self) -> Class:
        """The class, whatever its objects are given."""
        return Class(self.path, self.node)


@dataclass(frozen=True)
class Code:
    """A file's own code or a function, and for a method the class of its object.

    `flags` are those that one call gives it.
    """

    path: str
    node: ast.Module | _Function
    of: Class | None = None
    is_script: bool = False
    flags: Flags = ()

    @property
    def plain(self) -> Code:
        """The code, whatever a call and its object are given."""
        return replace(self, of=self.of.plain if self.of is not None else None, flags=())


class Course:
    """What certainly runs in a project's files."""

    def __init__(
        self, programs: Programs, is_missing: Callable[[str, ast.stmt], bool] | None = None
    ) -> None:
        """`is_missing` tells whether an import in a file fails where there is no CUDA."""
        self._programs = programs
        self._is_missing = is_missing
        self._constants = Constants(programs, self._meant)
        self._names: dict[str, dict[str, ast.stmt]] = {}
        self._bases: dict[Class, list[Class]] = {}
        self._done: dict[Code, tuple[list[Line], list[Code]]] = {}
        self._chosen: dict[Code, list[ast.expr]] = {}
        self._values: dict[ast.Module | _Function, _Values] = {}
        self._members: dict[Class, _Members] = {}
        self._classes: dict[tuple[ast.expr, Code], Class | None] = {}

    def lines(self, start: Code) -> Iterator[Line]:
        """Yield the files and lines of what certainly runs when some code does."""
        for code in self._runs_after(start):
            yield from self._direct(code)[0]

    def chosen(self, start: Code) -> Iterator[tuple[str, ast.expr]]:
        """Yield the files and arms of `a if test else b` that constants choose when it runs."""
        for code in self._runs_after(start):
            yield from ((code.path, arm) for arm in self._chosen.get(code, ()))

    def _runs_after(self, start: Code) -> Iterator[Code]:
        """Yield the code that certainly runs when some code does, itself first."""
        seen: set[Code] = set()
        queue = [start]
        while queue:
            code = queue.pop(0)
            if code not in seen:
                seen.add(code)
                called = self._direct(code)[1]
                yield code
                queue += called

    def module(self, path: str, is_script: bool = False) -> Code:
        """Return a file's own code; as a script it is not imported, but run."""
        return Code(path, self._programs.tree(path), None, is_script)

    def building(self, cls: Class) -> list[Code]:
        """Return what runs when an object of a class is made."""
        return [code for name in _BUILDS if (code := self.method(cls, name)) is not None]

    def method(self, cls: Class, name: str, after: Class | None = None) -> Code | None:
        """Return a method of a class or what it derives from; with `after`, from there on."""
        order = self._order(cls)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else []
        for each in order:
            for node in each.node.body:
                if isinstance(node, _FUNCTION) and node.name == name:
                    return Code(each.path, node, cls)
        return None

    def _order(self, cls: Class) -> list[Class]:
        """Return a class and what it derives from in this project."""
        found: list[Class] = []
        queue = [cls.plain]
        while queue:
            each = queue.pop(0)
            if each in found:
                continue
            found.append(each)
            if each not in self._bases:
                named = (self._definition(each.path, base) for base in each.node.bases)
                self._bases[each] = [base for base in named if isinstance(base, Class)]
            queue += self._bases[each]
        return found

    def _direct(self, code: Code) -> tuple[list[Line], list[Code]]:
        """Return the lines of some code that certainly run, and what they call or import."""
        if code not in self._done:
            lines: list[Line] = []
            called: list[Code] = []
            self._done[code] = lines, called
            self._follow(code.node.body, code, lines, called)
        return self._done[code]

    def _follow(
        self, body: Sequence[ast.stmt], code: Code, lines: list[Line], called: list[Code]
    ) -> None:
        """Add the lines of some statements that certainly run, and what they call or import."""
        for head in certain(body, code.is_script, lambda test: self._decided(test, code)):
            if isinstance(head, ast.If):  # either of its blocks runs
                arms: list[list[Code]] = [[], []]
                for arm, block in zip(arms, (head.body, head.orelse), strict=True):
                    self._follow(block, code, [], arm)
                other = [each.plain for each in arms[1]]
                both = (each for each in arms[0] if each.plain in other)
                called += (each if each in arms[1] else each.plain for each in both)
                continue
            if isinstance(head, ast.Try):  # an import of it fails, or may do so
                if self._is_missing is not None:
                    if any(self._is_missing(code.path, each) for each in head.body):
                        for handler in head.handlers:
                            self._follow(handler.body, code, lines, called)
                continue
            first = getattr(head, "lineno", 0)
            last = getattr(head, "end_lineno", first) or first
            lines += ((code.path, line) for line in range(first, last + 1))
            called += self._imported(code.path, head)
            if isinstance(head, ast.withitem) and (cls := self._class_of(head.context_expr, code)):
                called += filter(None, (self.method(cls, name) for name in _MANAGES))
            for node in evaluated(head, lambda test: self._decided(test, code)):
                if isinstance(node, ast.IfExp):
                    taken = node.body if self._decided(node.test, code) else node.orelse
                    self._chosen.setdefault(code, []).append(taken)
                if isinstance(node, ast.Call):
                    found = self._called(node, code)
                    called += found
                    lines += (line for each in found for line in _left_out(node, each))

    def _meant(self, path: str, name: ast.expr) -> ast.AST | None:
        found = self._definition(path, name)
        return found.node if found is not None else None

    def _decided(self, test: ast.expr, code: Code) -> bool | None:
        function = code.node if isinstance(code.node, _FUNCTION) else None
        return self._constants.truth(test, code.path, function, self._own(code))

    def _own(self, code: Code) -> Own:
        """Return what is known of one call, and of its object."""
        cls = code.of
        if cls is None or not cls.flags:
            return Own(code.flags)
        maker = self.method(cls, "__init__")
        if maker is None or not isinstance(maker.node, _FUNCTION):
            return Own(code.flags)
        return Own(code.flags, cls.flags, maker.node)

    def _flags(self, call: ast.Call, callee: Code, code: Code) -> Flags:
        """Return the flags that a call in some code gives what it calls."""
        if not isinstance(callee.node, _FUNCTION):
            return ()
        static = any(
            getattr(each, "id", "") == "staticmethod" for each in callee.node.decorator_list
        )
        function = code.node if isinstance(code.node, _FUNCTION) else None
        return self._constants.given(
            call, callee.node, code.path, function, self._own(code),
            bound=callee.of is not None and not static,
        )  # fmt: skip

    def _imported(self, path: str, head: ast.AST) -> Iterator[Code]:
        """Yield the code of the files that an import runs: packages before what is in them."""
        modules: list[tuple[str, int]] = []
        if isinstance(head, ast.Import):
            modules = [(alias.name, 0) for alias in head.names]
        elif isinstance(head, ast.ImportFrom):
            inner = [f"{head.module or ''}.{alias.name}".lstrip(".") for alias in head.names]
            modules = [(name, head.level) for name in (head.module or "", *inner)]
        for module, level in modules:
            parts = module.split(".")
            for end in range(1, len(parts) + 1):
                target = self._programs.project.resolve(path, ".".join(parts[:end]), level)
                if target is not None and target != path:
                    yield self.module(target)

    def _called(self, call: ast.Call, code: Code) -> list[Code]:
        """Return what a call runs: a function, a method, or what makes an object."""
        found = [
            replace(each, flags=self._flags(call, each, code))
            for each in self._runs(call.func, code)
        ]
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(each, ast.Name | ast.Attribute):  # handed on, to be called
                target = self._target(each, code)
                found += [target] if isinstance(target, Code) else []
        return found

    def _runs(self, func: ast.expr, code: Code) -> list[Code]:
        target = self._target(func, code)
        if isinstance(target, Class):
            return self.building(target)
        if target is not None:
            return [target]
        cls = self._class_of(func, code)
        methods = (self.method(cls, name) for name in _CALLED) if cls is not None else ()
        return [method for method in methods if method is not None]

    def _target(self, func: ast.expr, code: Code, steps: int = _STEPS) -> Code | Class | None:
        """Return the function or class that an expression names."""
        if isinstance(func, ast.Name) and not isinstance(code.node, ast.Module):
            for node in code.node.body:
                if isinstance(node, _FUNCTION) and node.name == func.id:
                    return Code(code.path, node)
        found = None if self._is_local(func, code) else self._definition(code.path, func)
        if found is not None or not isinstance(func, ast.Attribute):
            return found
        match func.value:
            case ast.Call(func=ast.Name(id="super")) if code.of is not None:
                owner = next(
                    (each for each in self._order(code.of) if code.node in each.node.body), None
                )
                return self.method(code.of, func.attr, owner)
        cls = self._class_of(func.value, code, steps)
        return self.method(cls, func.attr) if cls is not None else None

    def _class_of(self, node: ast.expr, code: Code, steps: int = _STEPS) -> Class | None:
        """Return the class of the object that an expression certainly is."""
        if steps <= 0:
            return None
        if (node, code) not in self._classes:
            self._classes[node, code] = None  # while it is looked for
            self._classes[node, code] = self._find_class(node, code, steps)
        return self._classes[node, code]

    def _find_class(self, node: ast.expr, code: Code, steps: int) -> Class | None:
        if isinstance(node, ast.Await):
            return self._class_of(node.value, code, steps - 1)
        if isinstance(node, ast.Call):
            target = self._target(node.func, code, steps - 1)
            if target is None and _gives_itself(node):
                assert isinstance(node.func, ast.Attribute)
                return self._class_of(node.func.value, code, steps - 1)
            if isinstance(target, Class):
                makers = self.building(target)[:1]
                return replace(target, flags=self._flags(node, makers[0], code) if makers else ())
            if target is None:
                return target
            target = replace(target, flags=self._flags(node, target, code))
            given = [
                each.value for each in syntax.walk(target.node) if isinstance(each, ast.Return)
            ]
            return self._common(((value, target) for value in given), steps)
        if isinstance(node, ast.Attribute):
            owner = self._class_of(node.value, code, steps - 1)
            return self._attribute(owner, node.attr, steps) if owner is not None else None
        if isinstance(node, ast.Name):
            return self._named(node.id, code, steps)
        return None

    def _named(self, name: str, code: Code, steps: int) -> Class | None:
        if isinstance(code.node, _FUNCTION):
            args = [*code.node.args.posonlyargs, *code.node.args.args, *code.node.args.kwonlyargs]
            for position, arg in enumerate(args):
                if arg.arg == name:
                    if position == 0 and code.of is not None:
                        return code.of
                    noted = arg.annotation
                    found = self._definition(code.path, noted) if noted is not None else None
                    return found if isinstance(found, Class) else None
        values = self._assigned(code.node, name)
        if not values and isinstance(code.node, _FUNCTION):
            code = self.module(code.path)
            values = self._assigned(code.node, name)
        values = [each for each in values if not _is_rebound(each, name)]
        return self._common(((value, code) for value in values), steps)

    def _attribute(self, cls: Class, name: str, steps: int) -> Class | None:
        """Return the class of what an object has for an attribute."""
        given: list[tuple[ast.expr | None, Code]] = []
        for each in self._order(cls):
            if each not in self._members:
                self._members[each] = _members(each.node)
            for value, method in self._members[each].get(name, ()):
                given.append((value, Code(each.path, method, cls)))
        return self._common(given, steps)

    def _assigned(self, node: ast.Module | _Function, name: str) -> list[ast.expr | None]:
        """Return what a name is given in some code, None for what is not told."""
        if node not in self._values:
            self._values[node] = _values(node.body)
        return self._values[node].get(name, [])

    def _is_local(self, func: ast.expr, code: Code) -> bool:
        """Tell whether a name is a parameter, or given a value, where it is used."""
        root = syntax.dotted(func).partition(".")[0]
        if isinstance(code.node, ast.Module) or not root:
            return False
        args = syntax.walk(code.node.args)
        named = any(isinstance(arg, ast.arg) and arg.arg == root for arg in args)
        return named or bool(self._assigned(code.node, root))

    def _common(self, given: Iterable[tuple[ast.expr | None, Code]], steps: int) -> Class | None:
        found = {
            self._class_of(value, code, steps - 1) if value is not None else None
            for value, code in given
        }
        if len(found) > 1 and None not in found:  # objects of one class that differ by their flags
            found = {each.plain if each is not None else None for each in found}
        return found.pop() if len(found) == 1 else None

    def _definition(self, path: str, node: ast.expr, steps: int = _STEPS) -> Code | Class | None:
        """Return the function or class that a name means, here or in the file it is taken from."""
        if steps <= 0:
            return None
        names = syntax.dotted(node).split(".")
        bound = self._bound(path).get(names[0])
        match bound:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if len(names) == 1:
                return Code(path, bound)
            case ast.ClassDef() if len(names) == 1:
                return Class(path, bound)
            case ast.ClassDef() if len(names) == 2:
                return self.method(Class(path, bound), names[1])
            case ast.ImportFrom():
                return self._taken(path, bound, names, steps)
            case ast.Import():
                for end in range(len(names) - 1, 0, -1):
                    module = _module(bound, names[0], names[1:end])
                    target = self._programs.project.resolve(path, module)
                    if target is not None:
                        return self._in(target, names[end:], steps)
            case None if names[0] and "*" in self._bound(path):
                star = self._bound(path)["*"]
                assert isinstance(star, ast.ImportFrom)
                source = self._programs.project.resolve(path, star.module or "", star.level)
                if source is not None and source != path:
                    return self._in(source, names, steps)
        return None

    def _taken(
        self, path: str, node: ast.ImportFrom, names: list[str], steps: int
    ) -> Code | Class | None:
        project = self._programs.project
        alias = next(a for a in node.names if (a.asname or a.name) == names[0])
        inner = f"{node.module}.{alias.name}" if node.module else alias.name
        module = project.resolve(path, inner, node.level)
        if module is not None and len(names) > 1:
            return self._in(module, names[1:], steps)
        source = project.resolve(path, node.module or "", node.level)
        if source is None or source == path:
            return None
        return self._in(source, [alias.name, *names[1:]], steps)

    def _in(self, path: str, names: Sequence[str], steps: int) -> Code | Class | None:
        name: ast.expr = ast.Name(names[0], ast.Load())
        for each in names[1:]:
            name = ast.Attribute(name, each, ast.Load())
        return self._definition(path, name, steps - 1)

    def _bound(self, path: str) -> dict[str, ast.stmt]:
        """Return the definitions of a file and all its imports by the names that they bind."""
        if path not in self._names:
            found: dict[str, ast.stmt] = {}
            tree = self._programs.tree(path)
            for node in tree.body:
                if isinstance(node, (_FUNCTION, ast.ClassDef)):
                    found.setdefault(node.name, node)
            for node in syntax.statements(tree):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for alias in node.names:
                        found.setdefault(alias.asname or alias.name.partition(".")[0], node)
            self._names[path] = found
        return self._names[path]


def _gives_itself(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _ITSELF


def _is_rebound(value: ast.expr | None, name: str) -> bool:
    """Tell whether a name is given its own object again: `net = net.to(device)`."""
    while isinstance(value, ast.Call) and _gives_itself(value):
        assert isinstance(value.func, ast.Attribute)
        value = value.func.value
        if isinstance(value, ast.Name) and value.id == name:
            return True
    return False


def defaults(code: Code) -> dict[str, ast.expr]:
    """Return the parameters of a function that have a default, with it."""
    return syntax.defaults(code.node.args) if not isinstance(code.node, ast.Module) else {}


def _left_out(call: ast.Call, code: Code) -> Iterator[Line]:
    """Yield the lines of the defaults that a call certainly does not replace."""
    given = {keyword.arg for keyword in call.keywords}
    if None in given or any(isinstance(arg, ast.Starred) for arg in call.args):
        return
    if not isinstance(code.node, ast.Module):
        names = [*code.node.args.posonlyargs, *code.node.args.args]
        given |= {arg.arg for arg in names[: len(call.args) + (code.of is not None)]}
    for name, default in defaults(code).items():
        if name not in given:
            yield code.path, default.lineno


def _bindings(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield target, value


def _values(body: Sequence[ast.stmt]) -> _Values:
    """Return what names are given in some statements, but in those of functions and classes."""
    found: _Values = {}
    queue = list(body)
    while queue:
        node = queue.pop()
        if isinstance(node, (_FUNCTION, ast.ClassDef)):
            continue
        for target, value in _bindings(node):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
            elif not isinstance(target, ast.Attribute | ast.Subscript):
                for name in {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}:
                    found.setdefault(name, []).append(None)
        queue += (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt))
        queue += (each for handler in getattr(node, "handlers", ()) for each in handler.body)
    return found


def _members(cls: ast.ClassDef) -> _Members:
    found: _Members = {}
    for method in (each for each in cls.body if isinstance(each, _Function)):
        for node in syntax.statements(method):
            for target, value in _bindings(node):
                if isinstance(target, ast.Attribute):
                    found.setdefault(target.attr, []).append((value, method))
    return found


def _module(node: ast.Import, name: str, rest: Sequence[str]) -> str:
    """Return the module that a dotted name means after an import."""
    alias = next(a for a in node.names if (a.asname or a.name.partition(".")[0]) == name)
    return ".".join([alias.name if alias.asname else name, *rest])
