"""Changes to a program after which it is the same program, so that the same is found in it.

Each takes the files of a program, by path, and returns them changed, or None where there is nothing
to change. All but those about comments work on trees: what they are compared with is written by
`ast` too.
"""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Files = dict[str, str]
Relation = Callable[[Files], "Files | None"]
T = TypeVar("T", bound=ast.AST)

#: Lines without torch: a project that is large because of other things.
_PADDING = 120_000
_REPEATED = 200
_TELLING = "# Later: init_process_group, spawn, torch.cuda, model.to(device), DataLoader."


def plain(files: Files) -> Files:
    """Return the files as `ast` writes them."""
    return {path: _text(ast.parse(text)) for path, text in files.items()}


def swapped_arms(files: Files) -> Files | None:
    """Swap the arms of `if` statements, with their tests negated."""

    class Swap(_Change):
        def visit_If(self, node: ast.If) -> ast.AST:  # noqa: N802
            self.generic_visit(node)
            if node.orelse:
                node.test = ast.UnaryOp(ast.Not(), node.test)
                node.body, node.orelse = node.orelse, node.body
                self.changed = True
            return node

    return _changed(files, Swap)


def swapped_expressions(files: Files) -> Files | None:
    """Swap the arms of conditional expressions, with their tests negated."""

    class Swap(_Change):
        def visit_IfExp(self, node: ast.IfExp) -> ast.AST:  # noqa: N802
            self.generic_visit(node)
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body
            self.changed = True
            return node

    return _changed(files, Swap)


def reordered_definitions(files: Files) -> Files | None:
    """Turn around the order of functions that stand in a row, and of methods in a class."""

    class Reorder(_Change):
        def in_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
            made: list[ast.stmt] = []
            for movable, group in itertools.groupby(body, _is_movable):
                run = list(group)
                names = {statement.name for statement in run if _is_movable(statement)}  # type: ignore[attr-defined]
                if movable and len(run) > 1 and len(names) == len(run):
                    self.changed = True
                    run.reverse()
                made += run
            return made

    return _changed(files, Reorder)


def renamed(files: Files) -> Files | None:
    """Give other names to the variables of functions."""

    class Rename(_Change):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
            names = _own_variables(node)
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and name.id in names:
                    name.id = f"renamed_{name.id}"
                    self.changed = True
            return node

    return _changed(files, Rename)


def comments(files: Files) -> Files | None:
    """Put a comment and a blank line before each statement."""
    return _commented(files, "# This is the next step.")


def telling_comments(files: Files) -> Files | None:
    """Put a comment that speaks of devices and processes before each statement."""
    return _commented(files, _TELLING)


def _commented(files: Files, comment: str) -> Files:
    made = {}
    for path, text in files.items():
        lines = text.split("\n")
        tree = ast.parse(text)
        starts = {
            min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]): node
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt)
        }
        for number in sorted(starts, reverse=True):
            line = lines[number - 1]
            indent = line[: len(line) - len(line.lstrip())]
            before = lines[number - 2] if number > 1 else ""
            if starts[number].col_offset != len(indent.encode()) or before.endswith("\\"):
                if not hasattr(starts[number], "decorator_list"):
                    continue
            if lines[0].startswith("#!") and number == 1 or before.lstrip().startswith("#"):
                continue
            lines[number - 1 : number - 1] = ["", indent + comment]
        made[path] = "\n".join(lines)
    return made


def under_if_true(files: Files) -> Files | None:
    """Put each assignment, expression and loop below an `if True:` of its own."""
    return _wrapped(files, lambda one: ast.If(ast.Constant(True), [one], []))


def in_try(files: Files) -> Files | None:
    """Put each assignment, expression and loop into a `try` with a `finally` that does nothing."""
    return _wrapped(files, lambda one: ast.Try([one], [], [], [ast.Pass()]))


def in_with(files: Files) -> Files | None:
    """Put each assignment, expression and loop below a `with` that does nothing."""
    item = ast.parse("contextlib.nullcontext()", mode="eval").body
    made = _wrapped(files, lambda one: ast.With([ast.withitem(item)], [one]))
    return made and {path: _importing(text, "contextlib") for path, text in made.items()}


def in_main(files: Files) -> Files | None:
    """Make a function of what a script does behind its definitions, for the same global names."""

    class Wrap(_Change):
        def visit_Module(self, node: ast.Module) -> ast.AST:  # noqa: N802
            kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
            ends = [number for number, one in enumerate(node.body) if isinstance(one, kinds)]
            first = max(ends, default=-1) + 1
            rest = node.body[first:]
            names = sorted({name for one in rest for name in _bound_here(one)})
            if rest and not any(_is_text(one) for one in rest):
                self.changed = True
                main = _function("main_of_all", ast.Constant(None))
                main.body = [*([ast.Global(names)] if names else []), *rest]
                call = ast.Expr(ast.Call(ast.Name(main.name, ast.Load()), [], []))
                node.body = [*node.body[:first], main, call]
            return node

    return _changed(files, Wrap) if len(files) == 1 else None


def _wrapped(files: Files, put: Callable[[ast.stmt], ast.stmt]) -> Files | None:
    class Wrap(_Change):
        def in_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
            made: list[ast.stmt] = []
            for statement in body:
                if isinstance(statement, _WRAPPED) and not _is_text(statement):
                    self.changed = True
                    statement = put(statement)
                made.append(statement)
            return made

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
            node.body = [self.visit(statement) for statement in node.body]
            return node  # what it is made of stays in sight

    return _changed(files, Wrap)


def hoisted(files: Files) -> Files | None:
    """Name the first argument of a call, if it is a call, in a statement before."""

    class Hoist(_Change):
        count = 0

        def in_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
            made: list[ast.stmt] = []
            for statement in body:
                call = getattr(statement, "value", None)
                if (
                    isinstance(statement, (ast.Expr, ast.Assign, ast.Return))
                    and isinstance(call, ast.Call)
                    and call.args
                    and isinstance(call.args[0], ast.Call)
                    and _is_dotted(call.func)
                ):
                    self.count += 1
                    self.changed = True
                    name = f"hoisted_{self.count}"
                    made.append(ast.Assign([ast.Name(name, ast.Store())], call.args[0]))
                    call.args[0] = ast.Name(name, ast.Load())
                made.append(statement)
            return made

    return _changed(files, Hoist)


def extracted(files: Files) -> Files | None:
    """Make a function of what a name of the file is set to by a call."""

    class Extract(_Change):
        def visit_Module(self, node: ast.Module) -> ast.AST:  # noqa: N802
            made: list[ast.stmt] = []
            for number, statement in enumerate(node.body):
                match statement:
                    case ast.Assign(value=ast.Call() as value) if not _binds(value):
                        name = f"extracted_{number}"
                        made.append(_function(name, value))
                        statement.value = ast.Call(ast.Name(name, ast.Load()), [], [])
                        self.changed = True
                made.append(statement)
            node.body = made
            return node

    return _changed(files, Extract)


def inlined(files: Files) -> Files | None:
    """Put the value of a function that only returns one where it is called with names."""

    class Inline(_Change):
        def visit_Module(self, node: ast.Module) -> ast.AST:  # noqa: N802
            known = {one.name: one for one in node.body if _is_one_liner(one)}  # type: ignore[attr-defined]
            for number, statement in enumerate(node.body):
                for call in ast.walk(statement):
                    match call:
                        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                            made = _inlined(known.get(name), args)
                            if made is not None and statement is not known.get(name):
                                node.body[number] = statement = _replaced(statement, call, made)
                                self.changed = True
                                break
            return node

    return _changed(files, Inline)


def split(files: Files) -> Files | None:
    """Move the functions and classes that need nothing of their file's own into a second one."""
    made = dict(files)
    for path, text in files.items():
        tree = ast.parse(text)
        if "/" in path or path == "__init__.py":
            continue
        imports = [one for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom))]
        if any(isinstance(one, ast.ImportFrom) and one.names[0].name == "*" for one in imports):
            continue
        imported = {
            (alias.asname or alias.name).partition(".")[0] for one in imports for alias in one.names
        }
        moved: dict[str, ast.stmt] = {
            one.name: one
            for one in tree.body
            if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and not _has_global(one)
        }
        known = imported | set(dir(builtins))
        while True:
            loose = [name for name, one in moved.items() if _free(one) - known - set(moved)]
            if not loose:
                break
            for name in loose:
                del moved[name]
        bound_twice = {
            name.id
            for name in ast.walk(tree)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        } & set(moved)
        if not moved or bound_twice:
            continue
        second = f"{path.removesuffix('.py')}_part.py"
        kept: list[ast.stmt] = [one for one in tree.body if one not in moved.values()]
        last = max((kept.index(one) for one in imports), default=-1)
        names = [ast.alias(name) for name in moved]
        kept.insert(last + 1, ast.ImportFrom(second.removesuffix(".py"), names, 0))
        read = _read(tree)
        for name, body in ((second, [*imports, *moved.values()]), (path, kept)):
            made[name] = _text(ast.Module(_without_unread(body, read), []))
    return made if len(made) > len(files) else None


def padded(files: Files) -> Files | None:
    """Add files without torch, 120,000 lines in all."""
    third = "x = 1\n" * (_PADDING // 3)
    return {**files, **{f"padding_{n}/lines.py": third for n in range(3)}}


def repeated(files: Files) -> Files | None:
    """Call 200 times what a statement of the file calls with names only."""

    class Repeat(_Change):
        def visit_Module(self, node: ast.Module) -> ast.AST:  # noqa: N802
            made: list[ast.stmt] = []
            own = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=[])):
                        if name in own and all(isinstance(one, ast.Name) for one in args):
                            made += [statement] * (_REPEATED - 1)
                            self.changed = True
                made.append(statement)
            node.body = made
            return node

    return _changed(files, Repeat)


RELATIONS: dict[str, Relation] = {
    relation.__name__: relation
    for relation in (
        swapped_arms, swapped_expressions, reordered_definitions, renamed, comments,
        telling_comments, under_if_true, in_try, in_with, in_main,
        hoisted, extracted, inlined, split, padded, repeated,
    )
}  # fmt: skip


# -- trees ----------------------------------------------------------------------------------


class _Change(ast.NodeTransformer):
    """A change of one file; `in_block` is asked about each list of statements."""

    changed = False

    def in_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return body

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                setattr(node, field, self.in_block(body))
        return node


_WRAPPED = (ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.While, ast.With)


def _changed(files: Files, change: type[_Change]) -> Files | None:
    made, any_changed = {}, False
    for path, text in files.items():
        one = change()
        made[path] = _text(one.visit(ast.parse(text)))
        any_changed |= one.changed
    return made if any_changed else None


def _text(tree: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _is_movable(node: ast.stmt) -> bool:
    """Tell whether nothing happens where a function is defined."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
    return all(isinstance(default, ast.Constant) for default in defaults)


def _own_variables(node: ast.FunctionDef) -> set[str]:
    """Return the names that only this function binds, by assignments."""
    bound = {
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    taken: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.arg(arg=name):
                taken.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                taken.update(names)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if inner is not node:
                return set()
            case ast.alias(name=name, asname=other):
                taken.add((other or name).partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                taken.add(name)
            case ast.Name(id="locals" | "vars" | "eval" | "exec"):
                return set()
            case ast.Lambda() | ast.MatchStar() | ast.MatchMapping():
                return set()
    return bound - taken


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _binds(node: ast.expr) -> bool:
    kinds = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return any(isinstance(inner, kinds) for inner in ast.walk(node))


def _function(name: str, value: ast.expr) -> ast.FunctionDef:
    made = ast.parse(f"def {name}():\n    return 0").body[0]
    assert isinstance(made, ast.FunctionDef) and isinstance(made.body[0], ast.Return)
    made.body[0].value = value
    return made


def _is_one_liner(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(
            decorator_list=[],
            args=ast.arguments(posonlyargs=[], vararg=None, kwonlyargs=[], kwarg=None, defaults=[]),
            body=[ast.Return(value=ast.expr() as value)],
        ):
            kinds = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
            return not any(isinstance(inner, kinds) for inner in ast.walk(value))
    return False


def _inlined(function: Any, args: Sequence[ast.expr]) -> ast.expr | None:
    if function is None or len(args) != len(function.args.args):
        return None
    if not all(isinstance(one, (ast.Name, ast.Constant)) for one in args):
        return None
    by_name = {one.arg: value for one, value in zip(function.args.args, args, strict=True)}
    value = copy.deepcopy(function.body[0].value)

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
            return copy.deepcopy(by_name.get(node.id, node))

    made: ast.expr = Put().visit(value)
    return made


def _replaced(whole: T, old: ast.AST, new: ast.AST) -> T:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is old else self.generic_visit(node)

    made: T = Replace().visit(whole)
    return made


def _free(node: ast.AST) -> set[str]:
    """Return the names that a definition reads and does not bind itself, generously."""
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    read = {one.id for one in names if isinstance(one.ctx, ast.Load)}
    return read - set(_bound(node))


def _read(tree: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}


def _without_unread(body: list[ast.stmt], read: set[str]) -> list[ast.stmt]:
    """Return a file without the names of others that it read before and does not any more."""
    gone = read - _read(ast.Module(body, []))
    made: list[ast.stmt] = []
    for one in body:
        if isinstance(one, ast.ImportFrom) and one.module != "__future__":
            kept = [alias for alias in one.names if (alias.asname or alias.name) not in gone]
            if kept:
                made.append(ast.ImportFrom(one.module, kept, one.level))
        else:
            made.append(one)
    return made


def _bound(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield (other or name).partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def _bound_here(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds in its own scope."""
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Name) and isinstance(one.ctx, (ast.Store, ast.Del)):
            yield one.id
        if not isinstance(one, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            waiting.extend(ast.iter_child_nodes(one))


def _importing(text: str, name: str) -> str:
    """Return a module that imports a name first, behind its text and its futures."""
    tree = ast.parse(text)
    first = 0
    for number, one in enumerate(tree.body):
        if _is_text(one) or isinstance(one, ast.ImportFrom) and one.module == "__future__":
            first = number + 1
    tree.body.insert(first, ast.Import([ast.alias(name)]))
    return _text(tree)


def _has_global(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Global) for one in ast.walk(node))
