"""Where new imports and the resolver go: beside the imports at the top, before they are needed."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..finding import Import, Resolver
from ..reading.notebook import MARKER
from . import resolver as texts
from .expressions import Refused, code_of
from .quotes import Quotes
from .statements import Statement, parse

_BLANK = cst.EmptyLine(indent=False)


@dataclass
class Plan:
    """What is added: names to imports, and statements above and after others at the top level."""

    merged: dict[cst.ImportFrom, list[str]] = field(default_factory=dict)
    after: cst.CSTNode | None = None  # a top-level statement; None: at the start of the module
    statements: list[Statement] = field(default_factory=list)
    above: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    below: dict[cst.CSTNode, list[Statement]] = field(default_factory=dict)
    gap_above: cst.CSTNode | None = None  # a statement that gets blank lines above it: `gap` many
    gap: int = 1


def plan(
    module: cst.Module,
    line_of: Callable[[cst.CSTNode], int],
    imports: Iterable[Import],
    resolvers: Iterable[Resolver],
    *,
    needed_at: int,
    style: texts.Style,
    limit: int,
    quotes: Quotes,
    notebook: bool = False,
    gone: Collection[int] = (),
    own: Collection[str] = (),
) -> Plan:
    """Plan what `imports` and `resolvers` need in `module`.

    Only imports above line `needed_at` are looked at. The statements that begin in the lines `gone`
    are deleted: what they define is to be defined anew. `own` are the names of the project's own
    packages and modules. Raises `Refused` when a name is taken.
    """
    if notebook:
        region = _cells(module.body, line_of, needed_at)
    else:
        region = list(_region(module.body, line_of, needed_at))
    body = [each for each in module.body if not gone or line_of(each) not in gone]
    planned = _Planning(module, body, region, style, limit, quotes, notebook=notebook, own=own)
    for item in dict.fromkeys(imports):
        planned.add(item)
    for wanted in dict.fromkeys(resolvers):
        planned.resolve(wanted)
    return planned.end()


class _Planning:
    """A plan in the making; its methods raise `Refused` when a name is taken."""

    def __init__(
        self,
        module: cst.Module,
        body: Sequence[cst.CSTNode],
        region: list[cst.CSTNode],
        style: texts.Style,
        limit: int,
        quotes: Quotes,
        *,
        notebook: bool,
        own: Collection[str],
    ) -> None:
        self._module, self._region, self._style, self._limit = module, region, style, limit
        self._notebook, self._own = notebook, own
        self._body = body  # what stays of the module's statements
        self._quotes = quotes
        self._bound = _bound(region)
        self._lines: dict[str, None] = {}
        self._of_project: dict[str, None] = {}  # those of the project's own modules
        self._definitions: list[Statement] = []
        self._movers: list[Statement] = []
        self._plan = Plan()

    def add(self, item: Import) -> None:
        """Plan an import."""
        name = item.name or item.module
        if name in self._bound:
            if self._bound[name] == (item.module, item.name):
                return
            raise _taken(name)
        beside = None
        if item.name is not None:
            beside = _mergeable(self._region, item.module, self._limit - len(item.name) - 2)
        if beside is not None and item.name is not None:
            if item.name not in self._plan.merged.setdefault(beside, []):
                self._plan.merged[beside].append(item.name)
            return
        if not self._notebook and self._is_own(item.module):
            self._of_project[_line(item)] = None
            return
        standard = item.module.partition(".")[0] in sys.stdlib_module_names
        if standard and self._among(item):
            return
        first = _first_from(self._region, item.module) if item.name is None else None
        if first is None and item.name is None and not standard and not self._notebook:
            first = self._first_later(item)  # a notebook's cells are no groups that are sorted
        if first is None:
            self._lines[_line(item)] = None
        else:
            self._plan.above.setdefault(first, parse(_line(item)))

    def _first_later(self, item: Import) -> cst.CSTNode | None:
        """Return the first import of a library that sorts after another one, and is at the top."""
        for statement in self._region:
            for node in _imports_in(statement):
                if isinstance(node, cst.ImportFrom) and node.relative:
                    return None
                if not _is_early(node) and _sorts_as(node) > (False, item.module):
                    return node if isinstance(statement, cst.SimpleStatementLine) else None
        return None

    def _among(self, item: Import) -> bool:
        """Plan an import of the standard library among its kind, sorted as far as those are."""
        known = [
            node
            for statement in self._region
            if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
            for node in _imports_in(statement)
            if _is_standard(node)
        ]
        if not known:
            return False
        key = item.name is not None, item.module
        smaller = [node for node in known if _sorts_as(node) <= key]
        places = self._plan.below if smaller else self._plan.above
        there = places.setdefault(smaller[-1] if smaller else known[0], [])
        lines = {code_of(statement).strip() for statement in there}
        if _line(item) not in lines:
            there += parse(_line(item))
        return True

    def _is_own(self, module: str) -> bool:
        return module.startswith(".") or module.partition(".")[0] in self._own

    def _own_imports(self) -> list[cst.Import | cst.ImportFrom]:
        """Return the imports of the project's own modules, below what says where those are."""
        found: list[cst.Import | cst.ImportFrom] = []
        for statement in self._region:
            if _changes_path(statement):
                found.clear()
            elif isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
                nodes = _imports_in(statement)
                found += (node for node in nodes if all(map(self._is_own, _modules(node))))
        return found

    def _among_own(self, line: str) -> bool:
        """Plan an import of the project's own modules among its kind, sorted if those are."""
        known = self._own_imports()
        if not known:
            return False
        (new,) = parse(line)
        keys = [_sorts_among_own(node) for node in known]
        mine = _sorts_among_own(next(_imports_in(new)))
        larger = (node for node, key in zip(known, keys, strict=True) if key > mine)
        first = next(larger, None) if keys == sorted(keys) else None
        places = self._plan.below if first is None else self._plan.above
        places.setdefault(known[-1] if first is None else first, []).append(new)
        return True

    def _begins_group(self) -> bool:
        """Tell whether blank lines stand between a file's groups of imports, as far as it has any.

        The project's own modules are the last group.
        """
        imports = [each for each in self._region if any(_imports_in(each))]
        kinds = {all(map(_is_early, _imports_in(each))) for each in imports}
        spaced = any(line.comment is None for each in imports[1:] for line in _leading(each))
        return bool(imports) and (spaced or len(kinds) == 1) and not self._own_imports()

    def _is_first_library(self, line: Statement) -> bool:
        """Tell whether an import begins the group of libraries below the standard library's."""
        known = [node for each in self._region for node in _imports_in(each)]
        new = all(map(_is_early, _imports_in(line)))
        return bool(known) and all(map(_is_early, known)) and not (new or self._notebook)

    def resolve(self, wanted: Resolver) -> None:
        """Plan what brings the device under its name: an import, or a definition."""
        if wanted.moves:
            self._bring_mover(wanted)
        elif wanted.module is None:
            self._define(wanted)
        elif wanted.name == texts.CONSTANT:
            self._own = {*self._own, wanted.module.partition(".")[0]}
            self.add(Import(wanted.path, wanted.module, wanted.name))
        elif self._bound.get(wanted.name) != (wanted.module, texts.CONSTANT):
            if wanted.name in self._bound:
                raise _taken(wanted.name)
            line = f"from {wanted.module} import {texts.CONSTANT} as {wanted.name}"
            lines = self._lines if self._notebook else self._of_project
            lines[line] = None

    def _bring_mover(self, wanted: Resolver) -> None:
        """Plan what brings a function that moves batches, unless the file has it."""
        if _is_defined(self._module.body, wanted.name) or wanted.name in self._bound:
            return
        if wanted.module is not None:
            self.add(Import(wanted.path, wanted.module, wanted.name))
        else:
            self._movers += parse(self._quotes.definition(texts.mover(wanted.name)))

    def _define(self, wanted: Resolver) -> None:
        body, bound = self._body, self._bound
        torch = next((name for name, what in bound.items() if what == ("torch", None)), None)
        torch = torch or "torch"
        existing = _value_of(body, wanted.name)
        if existing is not None and _same(
            existing, texts.expression(torch, self._style, wanted.gpu)
        ):
            return
        if existing is not None or _is_defined(body, wanted.name) or wanted.name in bound:
            raise _taken(wanted.name)
        if torch not in bound:
            self.add(Import(wanted.path, "torch"))
        if self._style in texts.NEEDS:
            self.add(Import(wanted.path, texts.NEEDS[self._style]))
        code = texts.definition(wanted.name, torch, self._style, self._limit, wanted.gpu)
        self._definitions += parse(self._quotes.definition(code))

    def end(self) -> Plan:
        """Return the plan."""
        result = self._plan
        lines = [parse(line)[0] for line in _merged(self._lines)]
        if lines and self._is_first_library(lines[0]):
            lines[0] = lines[0].with_changes(leading_lines=[_BLANK])
        own = [line for line in _merged(self._of_project) if not self._among_own(line)]
        if own and not lines and self._begins_group():
            lines.append(parse(own.pop(0))[0].with_changes(leading_lines=[_BLANK]))
        lines += (parse(line)[0] for line in own)
        result.statements = [*lines, *self._definitions]
        if result.statements or self._movers:
            result.after = _anchor(self._module.body, self._region)
        if result.statements:
            _space(result, self._module, self._definitions)
        for function in self._movers:
            result.statements.append(function.with_changes(leading_lines=[_BLANK, _BLANK]))
            following = _next(self._module.body, result.after)
            if following is not None and not _begins_cell(following):
                spaces = sum(line.comment is None for line in following.leading_lines)
                result.gap_above, result.gap = following, max(0, 2 - spaces)
        return result


def _merged(lines: Iterable[str]) -> Iterable[str]:
    """Join the new imports of names of one module."""
    joined: dict[str, str] = {}
    for line in lines:
        head, found, names = line.partition(" import ")
        joined[head if found else line] = f"{joined[head]}, {names}" if head in joined else line
    return joined.values()


def _line(item: Import) -> str:
    if item.name is None:
        return f"import {item.module}"
    return f"from {item.module} import {item.name}"


def _modules(node: cst.Import | cst.ImportFrom) -> list[str]:
    if isinstance(node, cst.ImportFrom):
        return [_module_of(node)]
    return [_dotted(alias.name) for alias in node.names]


def _is_standard(node: cst.Import | cst.ImportFrom) -> bool:
    roots = {module.partition(".")[0] for module in _modules(node)}
    return roots <= sys.stdlib_module_names - {"__future__"}


def _is_early(node: cst.Import | cst.ImportFrom) -> bool:
    return _is_standard(node) or _modules(node)[0] == "__future__"


def _sorts_as(node: cst.Import | cst.ImportFrom) -> tuple[bool, str]:
    return isinstance(node, cst.ImportFrom), _modules(node)[0]


def _sorts_among_own(node: cst.Import | cst.ImportFrom) -> tuple[bool, bool, str]:
    """Return how isort sorts the imports of a project's own modules: relative ones come last."""
    is_from, module = _sorts_as(node)
    return module.startswith("."), is_from, module.lower()


def _taken(name: str) -> Refused:
    return Refused(f"the name {name!r} is taken in this file")


def _region(
    body: Sequence[cst.CSTNode], line_of: Callable[[cst.CSTNode], int], needed_at: int
) -> Iterator[cst.CSTNode]:
    """Yield the top-level statements among which a module's imports stand.

    Those below a change of `sys.path` are among them, as they may need it, and so is the first one
    of torch, whatever stands above it. What has the line `needed_at` in it is not above that line.
    """
    above = [each for each in body if line_of(each) < needed_at]
    if above and isinstance(above[-1], (cst.If, cst.Try)):
        code = code_of(above[-1].with_changes(leading_lines=())).rstrip()
        if line_of(above[-1]) + code.count("\n") >= needed_at:
            above.pop()
    last = max((at for at, each in enumerate(above) if _changes_path(each)), default=-1)
    torch = (at for at, each in enumerate(above) if _takes_from_torch(each))
    last = max(last, next(torch, -1))
    for at, statement in enumerate(above):
        if isinstance(statement, cst.SimpleStatementLine) or _imports_under_condition(statement):
            yield statement
        elif at > last:
            return
        elif _changes_path(statement):
            yield statement


def _imports_under_condition(statement: cst.CSTNode) -> bool:
    """Tell whether an import depends on something; what a script does when it is run is no such."""
    if isinstance(statement, cst.If) and "__name__" in code_of(statement.test):
        return False
    return isinstance(statement, (cst.If, cst.Try)) and any(_imports_in(statement))


def _takes_from_torch(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and any(
        module.partition(".")[0] == "torch"
        for node in _imports_in(statement)
        for module in _modules(node)
    )


def _changes_path(statement: cst.CSTNode) -> bool:
    """Tell whether a statement of a file says where the modules that it imports are."""
    return not isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and (
        "sys.path." in code_of(statement)
    )


def _cells(
    body: Sequence[cst.CSTNode], line_of: Callable[[cst.CSTNode], int], needed_at: int
) -> list[cst.CSTNode]:
    """Return a notebook's imports up to the last one of the cell that certainly imports torch.

    Cells before it may install what is imported, and say where it is; one in a `try` may have
    come to nothing.
    """
    found: list[cst.CSTNode] = []
    torch_is_bound = False
    for statement in body:
        if line_of(statement) >= needed_at or torch_is_bound and _begins_cell(statement):
            break
        if any(_imports_in(statement)):
            found.append(statement)
            certain = isinstance(statement, cst.SimpleStatementLine)
            torch_is_bound = torch_is_bound or certain and "torch" in _bound([statement])
    return found


def _leading(statement: cst.CSTNode) -> Sequence[cst.EmptyLine]:
    return getattr(statement, "leading_lines", ())


def _begins_cell(statement: cst.CSTNode) -> bool:
    return any(
        line.comment is not None and line.comment.value.startswith(MARKER)
        for line in _leading(statement)
    )


def _imports_in(statement: cst.CSTNode) -> Iterator[cst.Import | cst.ImportFrom]:
    """Yield the imports of a statement, also those in the bodies of a top-level `if` or `try`."""
    if isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, (cst.Import, cst.ImportFrom)):
                yield small
    elif isinstance(statement, (cst.If, cst.Try)) and isinstance(statement.body, cst.IndentedBlock):
        for inner in statement.body.body:
            yield from _imports_in(inner)


def _dotted(node: cst.CSTNode | None) -> str:
    return "" if node is None else code_of(node).replace(" ", "")


def _module_of(node: cst.ImportFrom) -> str:
    return "." * len(node.relative) + _dotted(node.module)


def _bound(region: Iterable[cst.CSTNode]) -> Mapping[str, tuple[str, str | None]]:
    """Return what each imported name is: (module, name), with None for a module itself."""
    bound: dict[str, tuple[str, str | None]] = {}
    for statement in region:
        for node in _imports_in(statement):
            if isinstance(node, cst.ImportFrom):
                if isinstance(node.names, cst.ImportStar):
                    continue
                for alias in node.names:
                    name = _dotted(alias.name)
                    bound[alias.evaluated_alias or name] = (_module_of(node), name)
                continue
            for alias in node.names:
                module = _dotted(alias.name)
                if alias.asname is not None:
                    bound[str(alias.evaluated_alias)] = (module, None)
                    continue
                bound[module] = (module, None)
                root = module.partition(".")[0]
                bound.setdefault(root, (root, None))  # `import a.b` binds `a`
    return bound


def _first_from(region: Sequence[cst.CSTNode], module: str) -> cst.CSTNode | None:
    """Return the first import of something in `module`, above which `import module` goes."""
    for statement in region:
        if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
            for node in _imports_in(statement):
                if any(name.split(".")[0] == module for name in _modules(node)):
                    return node
    return None


def _mergeable(region: Sequence[cst.CSTNode], module: str, limit: int) -> cst.ImportFrom | None:
    """Return a plain top-level `from module import ...` that a name can be added to.

    One without brackets must not be longer than `limit`.
    """
    for statement in region:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for node in statement.body:
            if (
                isinstance(node, cst.ImportFrom)
                and not isinstance(node.names, cst.ImportStar)
                and _module_of(node) == module
                and (node.lpar is not None or len(code_of(node)) <= limit)
            ):
                return node
    return None


def _value_of(body: Sequence[cst.CSTNode], name: str) -> cst.BaseExpression | None:
    """Return what a top-level assignment gives to `name`."""
    for statement in body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Assign):
                for target in small.targets:
                    if isinstance(target.target, cst.Name) and target.target.value == name:
                        return small.value
    return None


def _is_defined(body: Sequence[cst.CSTNode], name: str) -> bool:
    return any(
        isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and statement.name.value == name
        for statement in body
    )


def _same(node: cst.BaseExpression, code: str) -> bool:
    mine = code_of(node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]))
    return ast.dump(ast.parse(mine, mode="eval")) == ast.dump(ast.parse(code, mode="eval"))


def _anchor(body: Sequence[cst.CSTNode], region: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
    """Return the last statement that imports or says where from, else the module's docstring.

    None where there is neither.
    """
    for statement in reversed(region):
        if any(_imports_in(statement)) or _changes_path(statement):
            return statement
    first = body[0] if body else None
    if isinstance(first, cst.SimpleStatementLine) and isinstance(first.body[0], cst.Expr):
        value = first.body[0].value
        if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
            return first
    return None


def _space(result: Plan, module: cst.Module, definitions: Sequence[Statement]) -> None:
    """Put blank lines where a person would: between imports and code, as the file does."""
    following = _next(module.body, result.after)
    spaced = following is None or any(line.comment is None for line in following.leading_lines)
    beside_imports = result.after is not None and (
        any(_imports_in(result.after)) or _changes_path(result.after)
    )
    if not beside_imports and following is not None and not spaced:
        result.gap_above, spaced = following, True
        if isinstance(following, (cst.FunctionDef, cst.ClassDef)) and not _begins_cell(following):
            result.gap = 2
    for index, statement in enumerate(result.statements):
        below_docstring = index == 0 and result.after is not None and not beside_imports
        below_imports = bool(definitions) and statement is definitions[0]
        if below_docstring or (below_imports and spaced and (index or result.after is not None)):
            result.statements[index] = statement.with_changes(leading_lines=[_BLANK])


def _next(body: Sequence[cst.CSTNode], after: cst.CSTNode | None) -> Statement | None:
    index = 0
    for at, statement in enumerate(body):
        if statement is after:
            index = at + 1
    if index >= len(body):
        return None
    following = body[index]
    assert isinstance(following, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return following
