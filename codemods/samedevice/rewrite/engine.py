"""One file's libcst tree, and the pass that makes edits in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from ..finding import Edit, Span, Verb
from ..reading.notebook import MARKER
from ..reading.source import Source
from . import expressions, layout, statements
from .expressions import Refused
from .imports import Plan
from .quotes import Quotes
from .statements import Change, Changes

_STATEMENT_VERBS = frozenset({"before", "after", "head", "delete", "replace_statement"})
_AROUND = _STATEMENT_VERBS - {"head"}
# Edits of one expression are made in this order: first the call's inside, last what is put around.
_ORDER: tuple[Verb, ...] = (
    "drop_keyword",
    "keyword",
    "callee",
    "unwrap",
    "unwrap_argument",
    "body",
    "orelse",
    "replace",
    "method",
)

# libcst drops a form feed at the start of a line of code. A comment of this kind takes its place
# while libcst has the text; it shifts lines and columns, which `_Map` accounts for.
_FEED = re.compile(r"^\x0c+", re.MULTILINE)
_FEED_COMMENT = re.compile(r"^#(\x0c+)\n", re.MULTILINE)

_Key = tuple[int, int, int, int]


# What may follow a list whose last item is put on a line of its own; a comment does not count.
_CLOSING = re.compile(r"[\s)\]},:\\]*?(?=\s*(?:#|\Z))")


class _Positions(PositionProvider):
    """The ranges of all nodes, and the code that they were measured in.

    A `MetadataWrapper` would take two passes more over the tree, a third of the time of a rewrite.
    """

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        state = PositionProvidingCodegenState(
            default_indent=module.default_indent,
            default_newline=module.default_newline,
            provider=self,
        )
        module._codegen(state)
        self.code = "".join(state.tokens)
        self.by_node = cast(Mapping[cst.CSTNode, CodeRange], self._computed)


class Tree:
    """A source as libcst reads it, with the node at each place that edits ask for.

    Raises `Refused` when libcst cannot read it.
    """

    def __init__(self, source: Source, edits: Iterable[Edit], limit: int, quotes: Quotes) -> None:
        self.source = source
        self.limit = limit
        self.quotes = quotes
        text, self._feeds = _hide_feeds(source.text)
        try:
            self.module = cst.parse_module(text)
        except cst.ParserSyntaxError as error:
            raise Refused(f"libcst cannot parse this file (line {error.raw_line})") from None
        except cst.CSTValidationError as error:  # `not(a if b else c)`
            raise Refused(f"libcst cannot read this file: {error}") from None
        positions = _Positions(self.module)
        if positions.code != text:
            raise Refused("libcst does not give this file back as it was")
        self.positions = positions.by_node
        wanted = {edit.span for edit in edits}
        self._elifs = {
            node.orelse
            for node in self.positions
            if isinstance(node, cst.If) and isinstance(node.orelse, cst.If)
        }
        self._nodes = self._locate(wanted)

    def line_of(self, node: cst.CSTNode) -> int:
        """Return the line of `source` that a node starts on."""
        return self.key(node)[0]

    def key(self, node: cst.CSTNode) -> _Key:
        """Return the range of a node in `source`: start line and column, end line and column."""
        at = self.positions[node]
        line, column = self._feeds.back(at.start.line, at.start.column)
        return (line, column, *self._feeds.back(at.end.line, at.end.column))

    def _locate(self, wanted: Iterable[Span]) -> dict[_Key, list[cst.CSTNode]]:
        keys = {(s.line, s.column, s.end_line, s.end_column) for s in wanted}
        compound = {key[:2]: key for key in keys}
        found: dict[_Key, list[cst.CSTNode]] = defaultdict(list)
        for node in self.positions:
            if isinstance(node, cst.BaseCompoundStatement):
                start = self.key(node)[:2]
                if start in compound:  # where a suite ends is counted differently
                    found[compound[start]].append(node)
            elif isinstance(node, (cst.BaseExpression, cst.BaseSmallStatement)):
                key = self.key(node)
                if key in keys:
                    found[key].append(node)
                if isinstance(node, (cst.Tuple, cst.GeneratorExp)):
                    key = self._with_parentheses(node)
                    if key in keys:
                        found[key].append(node)
        return found

    def _with_parentheses(self, node: cst.Tuple | cst.GeneratorExp) -> _Key:
        """Return a range with the innermost parentheses, which `ast` counts in for these."""
        if node.lpar:
            return (*self.key(node.lpar[-1])[:2], *self.key(node.rpar[0])[2:])
        line, column, end_line, end_column = self.key(node)
        text = self.source.text
        start = self.source.offset(line, column)
        end = self.source.offset(end_line, end_column)
        before = re.search(r"\(\s*\Z", text[max(start - 200, 0) : start])
        after = re.match(r"\s*\)", text[end:])
        if before is None or after is None:
            return line, column, end_line, end_column
        begin = self.source.position(start - len(before[0]))
        return (*begin, *self.source.position(end + after.end()))

    def find(self, edit: Edit) -> cst.CSTNode:
        """Return the node that an edit is for; raises `Refused`."""
        span = edit.span
        nodes = self._nodes.get((span.line, span.column, span.end_line, span.end_column), [])
        kinds: tuple[type[cst.CSTNode], ...] = (cst.BaseExpression,)
        what = "expression"
        if edit.verb in _STATEMENT_VERBS:
            kinds, what = (cst.BaseSmallStatement, cst.BaseCompoundStatement), "statement"
        elif edit.verb == "parameter":
            kinds, what = (cst.FunctionDef,), "function"
        elif edit.verb in ("body", "orelse"):
            kinds, what = (cst.IfExp, cst.If), "condition"
        fitting = [node for node in nodes if isinstance(node, kinds)]
        if len(fitting) > 1:  # a name and what stands for it
            fitting = [node for node in fitting if isinstance(node, cst.Call)] or fitting
        if not fitting:
            place = f"{span.line}:{span.column + 1}"
            raise Refused(f"no {what} is found at {place}-{span.end_line}:{span.end_column + 1}")
        if edit.verb in _AROUND and fitting[0] in self._elifs:
            raise Refused("nothing can be put around an `elif`, nor can it go alone")
        return fitting[0]

    def apply(self, edits: Sequence[Edit], plan: Plan) -> tuple[str, dict[Edit, str]]:
        """Return the text with `edits` and the additions of `plan`, and the refused edits."""
        refused: dict[Edit, str] = {}
        on_expression: dict[cst.CSTNode, list[Edit]] = defaultdict(list)
        on_statement: dict[cst.CSTNode, Change] = defaultdict(Change)
        asked: dict[Edit, Edit] = {}  # by what is made of it
        for edit in edits:
            made = self.quotes.of(edit)
            asked[made] = edit
            try:
                node = self.find(edit)
                if edit.verb in _STATEMENT_VERBS or isinstance(node, cst.If):
                    _plan_statement(node, made, on_statement)
                else:
                    on_expression[node].append(made)
            except (Refused, KeyError) as error:
                refused[edit] = _reason(error)
        for below, new in plan.above.items():
            on_statement[below].before[:0] = new
        for above, new in plan.below.items():
            on_statement[above].after[:0] = new
        if plan.after is not None:
            on_statement[plan.after].after[:0] = plan.statements
        editor = _Editor(self, on_expression, on_statement, plan)
        module = self.module.visit(editor)
        refused.update((asked[made], reason) for made, reason in editor.refused.items())
        return _FEED_COMMENT.sub(r"\1", module.code), refused


def _moves(edit: Edit) -> bool:
    """Tell whether an edit adds a move to an expression."""
    return edit.get("code").startswith((".to(", ".cpu("))


def _reason(error: Refused | KeyError) -> str:
    if isinstance(error, KeyError):
        return f"the edit lacks its argument {error.args[0]!r}"
    return str(error)


class _Feeds:
    """Leads positions in a text with form feeds hidden back to the text as it was."""

    def __init__(self, lines: Sequence[int], widths: Sequence[int]) -> None:
        self._lines = lines  # in the new text, the line of each comment that was put in
        self._widths = dict(zip((line + 1 for line in lines), widths, strict=True))

    def back(self, line: int, column: int) -> tuple[int, int]:
        if not self._lines:
            return line, column
        return line - bisect_left(self._lines, line), column + self._widths.get(line, 0)


def _hide_feeds(text: str) -> tuple[str, _Feeds]:
    if "\x0c" not in text:
        return text, _Feeds((), ())
    out: list[str] = []
    lines: list[int] = []
    widths: list[int] = []
    for line in text.split("\n"):
        match = _FEED.match(line)
        if match and match[0] != line:
            out.append(f"#{match[0]}")
            lines.append(len(out))
            widths.append(len(match[0]))
            line = line[match.end() :]
        out.append(line)
    return "\n".join(out), _Feeds(lines, widths)


def _plan_statement(node: cst.CSTNode, edit: Edit, changes: dict[cst.CSTNode, Change]) -> None:
    """Note a statement edit; raises `Refused`, `KeyError` when it lacks an argument."""
    if edit.verb in ("body", "orelse"):
        changes[node].branch = edit.verb == "body"
        return
    if edit.verb == "delete":
        changes[node].instead = []
        return
    code = statements.parse(edit.get("code"))
    if edit.verb == "replace_statement":
        changes[node].instead = code
    elif edit.verb == "before":
        _extend(changes[node].before, code)
    elif edit.verb == "after":
        _extend(changes[node].after, code)
    else:
        place, at_end = _head(node)
        _extend(changes[place].after if at_end else changes[place].before, code)


def _extend(there: list[statements.Statement], more: Iterable[statements.Statement]) -> None:
    """Add statements; those that are there already are not doubled."""
    if not there:
        there += more
        return
    known = {expressions.code_of(statement) for statement in there}
    there += [statement for statement in more if expressions.code_of(statement) not in known]


def _head(node: cst.CSTNode) -> tuple[cst.CSTNode, bool]:
    """Return the first statement of a body and whether it is a docstring, to be kept in front."""
    body = getattr(node, "body", None)
    if not isinstance(body, cst.BaseSuite):
        raise Refused("this statement has no body")
    first: cst.CSTNode = body.body[0]
    if isinstance(first, cst.SimpleStatementLine):
        first = first.body[0]
    is_docstring = (
        isinstance(node, (cst.FunctionDef, cst.ClassDef))
        and isinstance(first, cst.Expr)
        and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString))
    )
    return first, is_docstring


def _in_string(string: cst.FormattedString, edit: Edit) -> Edit:
    """Return an edit with the quotes that an f-string can hold before Python 3.12.

    Raises Refused where there are none, whatever Python runs this.
    """
    args = []
    for name, code in edit.args:
        if string.quote in code:
            other = "'" if '"' in string.quote else '"'
            code = code.replace(string.quote, other) if other not in code else code
        if string.quote in code or "\\" in code or "\n" in code:
            raise Refused("before Python 3.12 an f-string cannot hold the new code")
        args.append((name, code))
    return replace(edit, args=tuple(args))


class _Editor(cst.CSTTransformer):
    """Makes all edits in one pass, inner nodes first."""

    def __init__(
        self,
        tree: Tree,
        on_expression: Mapping[cst.CSTNode, Sequence[Edit]],
        on_statement: Changes,
        plan: Plan,
    ) -> None:
        super().__init__()
        self.refused: dict[Edit, str] = {}
        self._tree = tree
        self._expressions = on_expression
        self._statements = on_statement
        self._plan = plan
        self._stack: list[cst.CSTNode] = []
        self._grown: dict[int, int] = defaultdict(int)  # by line, the characters added so far
        #: Only what goes into a list asks how much room its last line has left.
        self._counts = any(
            edit.verb in ("keyword", "parameter")
            for edits in on_expression.values()
            for edit in edits
        )
        touched = (*on_expression, *on_statement, *plan.merged)
        self._lines = sorted({tree.line_of(node) for node in touched})

    def on_visit(self, node: cst.CSTNode) -> bool:
        self._stack.append(node)
        if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            return self._is_touched(node)
        return True

    def _is_touched(self, node: cst.CSTNode) -> bool:
        """Tell whether there is anything to do in a statement; where not, it is left as it is."""
        first, _, last, _ = self._tree.key(node)
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
            first = self._tree.line_of(node.decorators[0])
        at = bisect_left(self._lines, first)
        return at < len(self._lines) and self._lines[at] <= last

    def on_leave(  # type: ignore[override]  # one method for all node types
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel:
        self._stack.pop()
        node: cst.CSTNode | cst.RemovalSentinel = updated_node
        if original_node in self._expressions:
            node = self._edit(original_node, updated_node)
        if isinstance(original_node, cst.ImportFrom) and original_node in self._plan.merged:
            node = self._merge(original_node, updated_node)
        if isinstance(original_node, (cst.Module, cst.IndentedBlock)):
            node = self._rebuild(original_node, updated_node)
        elif isinstance(original_node, cst.SimpleStatementSuite):
            if statements.touches(original_node.body, self._statements):
                node = self._suite(original_node, updated_node)
        elif isinstance(original_node, cst.If) and isinstance(self._stack[-1], cst.If):
            node = self._elif(original_node, updated_node)
        return node

    # Expressions

    def _edit(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if isinstance(original, cst.FunctionDef) and isinstance(updated, cst.FunctionDef):
            for edit in self._expressions[original]:
                try:
                    updated = self._parameter(original, updated, edit)
                except (Refused, KeyError) as error:
                    self.refused[edit] = _reason(error)
            return updated
        assert isinstance(updated, cst.BaseExpression)
        node: cst.BaseExpression = updated
        edits = dict.fromkeys(self._expressions[original])  # what two say alike is said once
        moves = [edit for edit in edits if edit.verb == "method" and _moves(edit)]
        for edit in sorted(edits, key=lambda edit: _ORDER.index(edit.verb)):
            if edit in moves and len(moves) > 1:
                self.refused[edit] = "two places are asked for one value"
                continue
            try:
                node = self._verb(original, node, edit)
            except (Refused, KeyError) as error:
                self.refused[edit] = _reason(error)
        if self._counts:
            grown = len(expressions.code_of(node)) - len(expressions.code_of(updated))
            self._grown[self._tree.key(original)[2]] += grown
        return node

    def _verb(
        self, original: cst.CSTNode, node: cst.BaseExpression, edit: Edit
    ) -> cst.BaseExpression:
        parent = self._stack[-1]
        asked = edit
        for outer in self._stack:
            if isinstance(outer, cst.FormattedString):
                edit = _in_string(outer, edit)
        match edit.verb:
            case "keyword":
                name, value = edit.get("name"), edit.get("value")
                if not isinstance(original, cst.Call):
                    raise Refused("there is no call here")
                together = [e for e in self._expressions[original] if e.verb == "keyword"]
                if asked != together[0]:  # beside the one before it, wherever that is
                    return expressions.keyword(
                        node, name, value, fits=lambda space: True, wrapped=None
                    )
                width = sum(len(e.get("name")) + len(e.get("value")) + 3 for e in together) - 2
                fits, wrapped = self._room(original, width)
                return expressions.keyword(node, name, value, fits=fits, wrapped=wrapped)
            case "drop_keyword":
                return expressions.drop_keyword(node, edit.get("name"))
            case "callee":
                return expressions.callee(node, edit.get("code"))
            case "unwrap":
                return expressions.unwrap(node, parent)
            case "unwrap_argument":
                return expressions.unwrap_argument(node, parent)
            case "body" | "orelse":
                return expressions.branch(node, edit.verb == "body", parent)
            case "replace":
                return expressions.replace(node, edit.get("code"), parent)
            case "method":
                return expressions.method(node, edit.get("code"), parent)
        raise Refused(f"unknown verb {edit.verb!r}")

    def _parameter(
        self, original: cst.FunctionDef, node: cst.FunctionDef, edit: Edit
    ) -> cst.FunctionDef:
        args = dict(edit.args)
        name, default = edit.get("name"), args.get("default")
        annotation = args.get("annotation")
        width = sum(map(len, args.values())) + 2 * len(args) - 3
        fits, wrapped = self._room(original, width)
        return expressions.parameter(node, name, default, annotation, fits=fits, wrapped=wrapped)

    def _room(
        self, node: cst.Call | cst.FunctionDef, width: int
    ) -> tuple[layout.Fits, cst.ParenthesizedWhitespace | None]:
        """Return whether `width` more characters fit on a list's last line, and a new line's start.

        The new line is aligned with the first item after the opening bracket. There is none where
        it would look worse than a long line: when more code follows the list, or far to the right.
        """
        tree = self._tree
        items: Sequence[cst.CSTNode]
        if isinstance(node, cst.FunctionDef):
            items = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
        else:
            items = node.args
        line, column = tree.key(items[-1] if items else node)[2:]
        text = tree.source.line(line)
        closing = _CLOSING.match(text, column)
        # A new name for what is called moves all that stands behind it.
        shift = sum(
            len(edit.get("code")) - len(expressions.code_of(node.func))
            for edit in self._expressions.get(node, ())
            if edit.verb == "callee" and isinstance(node, cst.Call)
        )
        used = (closing.end() if closing else len(text)) + self._grown[line] + width + shift

        def fits(space: str) -> bool:
            return used + len(space) + 1 <= tree.limit

        in_string = any(isinstance(outer, cst.FormattedString) for outer in self._stack)
        if not items or not closing or in_string:
            return fits, None
        first_line, start, _, _ = tree.key(items[0])
        start += shift
        if start > tree.limit // 2 or start + width + closing.end() - column > tree.limit:
            return fits, None
        opening = tree.source.line(first_line)
        prefix = opening[: len(opening) - len(opening.lstrip(" \t"))]
        indent = prefix + " " * (start - len(prefix))
        return fits, cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(indent))

    def _merge(self, original: cst.ImportFrom, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.ImportFrom) and not isinstance(updated.names, cst.ImportStar)
        line = self._tree.key(original)[2]
        names = list(updated.names)
        opening = updated.lpar.whitespace_after if updated.lpar else cst.SimpleWhitespace("")
        for name in self._plan.merged[original]:
            used = len(self._tree.source.line(line)) + len(name) + 1

            def fits(space: str, used: int = used) -> bool:
                return used + len(space) <= self._tree.limit

            names = layout.import_name(names, name, opening, fits=fits)
        return updated.with_changes(names=names)

    # Statements

    def _rebuild(
        self, original: cst.Module | cst.IndentedBlock, updated: cst.CSTNode
    ) -> cst.CSTNode:
        plan = self._plan
        is_module = isinstance(original, cst.Module)
        if not statements.touches(original.body, self._statements) and not (
            is_module and plan.statements
        ):
            return updated
        assert isinstance(updated, (cst.Module, cst.IndentedBlock))
        body = [
            statements.with_gap(new, plan.gap) if old is plan.gap_above else new
            for old, new in zip(original.body, updated.body, strict=True)
        ]
        new, left = statements.rebuild(
            original.body,
            body,
            self._statements,
            indent={node: self._tree.key(node)[1] for node in original.body},
            limit=self._tree.limit,
            marker=MARKER,
        )
        if is_module and plan.after is None:
            new = [*plan.statements, *new]
        if not new and not is_module:
            new = [cst.SimpleStatementLine([cst.Pass()])]
        return updated.with_changes(body=new, footer=[*left, *updated.footer])

    def _suite(self, original: cst.SimpleStatementSuite, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.SimpleStatementSuite)
        column = self._tree.key(original.body[0])[1]
        return statements.suite(
            original, updated, self._statements, indent=column, limit=self._tree.limit
        )

    def _elif(self, original: cst.If, updated: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
        """Edit an `elif`, which is a branch of another `if` and no statement of a body."""
        change = self._statements.get(original)
        # `if` in the body of an `if` has the block between them on the stack
        if change is None or not isinstance(updated, cst.If) or change.branch is None:
            return updated
        if change.branch:
            return cst.Else(updated.body, leading_lines=updated.leading_lines)
        return cst.RemoveFromParent() if updated.orelse is None else updated.orelse
