"""The verbs on statements: a body in, a body out.

A body is a module, an indented block or the rest of a one-line `if x: ...`. Comments above a
statement that goes away stay: they pass to the statement that follows.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias, cast

import libcst as cst

from .expressions import Refused, code_of

Small = cst.BaseSmallStatement
Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement

_LEAVING = (cst.Return, cst.Raise, cst.Break, cst.Continue)
_BLANK = cst.EmptyLine(indent=False)


@dataclass
class Change:
    """What happens at one statement: what is put around it, and what becomes of it."""

    before: list[Statement] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)
    # None: it stays. Else it is replaced by these (nothing: it is deleted).
    instead: list[Statement] | None = None
    branch: bool | None = None  # of an `if`: keep the branch taken when the test is this


# By original statement. A line of small statements may have one of its own, for what follows it.
Changes = Mapping[cst.CSTNode, Change]


def parse(code: str) -> list[Statement]:
    """Parse statements; raises `Refused`."""
    try:
        module = cst.parse_module(
            textwrap.dedent(code), cst.PartialParserConfig(default_indent="    ")
        )
    except cst.ParserSyntaxError:
        raise Refused(f"the new code {code!r} is no statement") from None
    body = cast("list[Statement]", list(module.body))
    if body and module.header:  # comments above the first statement
        body[0] = body[0].with_changes(leading_lines=[*module.header, *body[0].leading_lines])
    return body


def touches(body: Sequence[cst.CSTNode], changes: Changes) -> bool:
    """Tell whether any statement of an original body has a change."""
    return any(
        node in changes
        or isinstance(node, cst.SimpleStatementLine)
        and any(small in changes for small in node.body)
        for node in body
    )


def rebuild(
    original: Sequence[cst.CSTNode],
    updated: Sequence[cst.CSTNode],
    changes: Changes,
    *,
    indent: Mapping[cst.CSTNode, int],
    limit: int,
    marker: str,
) -> tuple[list[Statement], list[cst.EmptyLine]]:
    """Return the new statements of a body, and the comment lines left over at its end.

    `indent` gives the column of each original statement line, `limit` the longest line wanted and
    `marker` the start of comments that must stay above whatever follows them.
    """
    changes = _behind_notes(original, changes)
    out: list[Statement] = []
    carry: list[cst.EmptyLine] = []  # lines that the next statement gets above it
    guards = {id(node) for node in _inserted(changes) if isinstance(node, cst.If)}
    for old, new in zip(original, updated, strict=True):
        column = indent.get(old, 0)
        for item in _one(old, cast(Statement, new), changes, column, limit, marker):
            if isinstance(item, cst.EmptyLine):
                carry.append(item)
                continue
            if out and not carry and {id(item), id(out[-1])} & guards:
                both = _as_one(out[-1], item)
                if both is not None:
                    out[-1] = both
                    guards.add(id(both))
                    continue
            at_head = not out and old is not original[0]
            if carry or at_head:
                item = item.with_changes(leading_lines=_merge(carry, item.leading_lines, at_head))
                carry = []
            out.append(item)
    return out, _comments(carry)


def _behind_notes(original: Sequence[cst.CSTNode], changes: Changes) -> Changes:
    """Return the changes with nothing between an assignment and the string that describes it."""
    moved: dict[cst.CSTNode, Change] = {}
    for old, below in pairwise(original):
        note = _note(below)
        assigned = isinstance(old, cst.SimpleStatementLine) and isinstance(
            old.body[-1], (cst.Assign, cst.AnnAssign)
        )
        if note is None or not assigned:
            continue
        for node in (cast(cst.SimpleStatementLine, old).body[-1], old):
            change = changes.get(node)
            if change is None or not change.after:
                continue
            there = moved.get(note) or changes.get(note) or Change()
            moved[note] = replace(there, after=[*change.after, *there.after])
            moved[node] = replace(change, after=[])
    return {**changes, **moved} if moved else changes


def _note(line: cst.CSTNode) -> Small | None:
    """Return the string that a line is, None where it is something else."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value) as note]):
            if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
                return note
    return None


def _inserted(changes: Changes) -> Iterator[Statement]:
    for change in changes.values():
        yield from (*change.before, *(change.instead or ()), *change.after)


def _as_one(above: Statement, below: Statement) -> cst.If | None:
    """Return two `if` statements of one test as one, None where they are not that."""
    if not (isinstance(above, cst.If) and isinstance(below, cst.If)):
        return None
    if above.orelse is not None or below.orelse is not None or below.leading_lines:
        return None
    if ast.dump(ast.parse(code_of(above.test))) != ast.dump(ast.parse(code_of(below.test))):
        return None
    first, second = above.body, below.body
    if not isinstance(first, cst.IndentedBlock) or not isinstance(second, cst.IndentedBlock):
        return None
    if first.footer or second.header.comment is not None:
        return None  # which would stand elsewhere, or go
    last = first.body[-1]
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], _LEAVING):
        return None
    body = first.with_changes(body=[*first.body, *second.body], footer=second.footer)
    return above.with_changes(body=body)


def _one(
    old: cst.CSTNode,
    new: Statement,
    changes: Changes,
    indent: int,
    limit: int,
    marker: str,
) -> list[Statement | cst.EmptyLine]:
    """Return what one line of small statements or one compound statement becomes.

    Empty lines and comments in the result belong above the statement that follows them.
    """
    after = changes[old].after if old in changes else []
    if isinstance(old, cst.SimpleStatementLine) and isinstance(new, cst.SimpleStatementLine):
        if len(old.body) > 1:
            return [*_line(old, new, changes, indent, limit), *after]
        change = changes.get(old.body[0])
        if change is not None:
            after = [*change.after, *after]
    else:
        change = changes.get(old)
    if change is None:
        return [new, *after]
    result: list[Statement | cst.EmptyLine]
    if change.branch is not None:
        result = _branch(new, change.branch)
        if isinstance(new, cst.If):
            result += _ending(new, indent)
    elif change.instead is not None:
        result = _with_comment(change.instead, new)
    else:
        result = [new.with_changes(leading_lines=())]
    lead = list(new.leading_lines)
    if not change.before:
        return [*lead, *result, *after]
    above, own = _split_lead(lead, marker)
    if isinstance(new, (cst.FunctionDef, cst.ClassDef)) and change.instead is None:
        own = [*(line for line in above if line.comment is None), *own]
    return [*above, *change.before, *own, *result, *after]


def _with_comment(instead: list[Statement], old: Statement) -> list[Statement | cst.EmptyLine]:
    """Return the replacement of `old`, with the comment at the end of its line."""
    if not instead or not isinstance(old, cst.SimpleStatementLine):
        return [*instead]
    *others, last = instead
    if isinstance(last, cst.SimpleStatementLine) and last.trailing_whitespace.comment is None:
        last = last.with_changes(trailing_whitespace=old.trailing_whitespace)
    return [*others, last]


def _line(
    old: cst.SimpleStatementLine,
    new: cst.SimpleStatementLine,
    changes: Changes,
    indent: int,
    limit: int,
) -> list[Statement | cst.EmptyLine]:
    """Return what a line of several small statements (`a; b`) becomes."""
    items, touched = _items(old.body, new.body, changes)
    if not touched:
        return [new]
    if not items:
        return list(new.leading_lines)
    smalls = _joined(items)
    if smalls is not None:
        line = new.with_changes(body=smalls)
        if indent + len(code_of(line.with_changes(leading_lines=())).rstrip()) <= limit:
            return [line]
    return [*new.leading_lines, *_lines(items, new.trailing_whitespace)]


def suite(
    old: cst.SimpleStatementSuite,
    new: cst.SimpleStatementSuite,
    changes: Changes,
    *,
    indent: int,
    limit: int,
) -> cst.BaseSuite:
    """Return what the rest of a one-line compound statement becomes.

    It stays on its line while that is no longer than `limit`; `indent` is the column it starts at.
    """
    items, touched = _items(old.body, new.body, changes)
    if not touched:
        return new
    if not items:
        return new.with_changes(body=[cst.Pass()])
    smalls = _joined(items)
    if smalls is not None:
        line = new.with_changes(body=smalls)
        if indent + len(code_of(line).strip()) <= limit:
            return line
    lines = _lines([(item, False) for item, _ in items], new.trailing_whitespace)
    return cst.IndentedBlock(body=lines)


def _items(
    old: Sequence[Small], new: Sequence[Small], changes: Changes
) -> tuple[list[tuple[Small | cst.BaseCompoundStatement, bool]], bool]:
    """Return the small statements of a line as changed, and which of them are its own."""
    items: list[tuple[Small | cst.BaseCompoundStatement, bool]] = []
    touched = False
    for before, after in zip(old, new, strict=True):
        change = changes.get(before)
        if change is None:
            items.append((after, True))
            continue
        touched = True
        items += [(small, False) for small in _smalls(change.before)]
        if change.instead is None:
            items.append((after, True))
        else:
            items += [(small, False) for small in _smalls(change.instead)]
        items += [(small, False) for small in _smalls(change.after)]
    return items, touched


def _smalls(statements: Sequence[Statement]) -> list[Small | cst.BaseCompoundStatement]:
    smalls: list[Small | cst.BaseCompoundStatement] = []
    for statement in statements:
        if isinstance(statement, cst.SimpleStatementLine):
            smalls += statement.body
        else:
            smalls.append(statement)
    return smalls


def _joined(items: Sequence[tuple[Small | cst.BaseCompoundStatement, bool]]) -> list[Small] | None:
    """Return the items joined by semicolons; None when one of them is a compound statement."""
    space = cst.SimpleWhitespace(" ")
    smalls: list[Small] = []
    for item, _ in items[:-1]:
        if not isinstance(item, Small):
            return None
        if not isinstance(item.semicolon, cst.Semicolon):
            item = item.with_changes(semicolon=cst.Semicolon(whitespace_after=space))
        smalls.append(item)
    last = items[-1][0]
    if not isinstance(last, Small):
        return None
    return [*smalls, last.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]


def _lines(
    items: Sequence[tuple[Small | cst.BaseCompoundStatement, bool]],
    trailing: cst.TrailingWhitespace,
) -> list[Statement]:
    """Return the items on lines of their own; neighbours from the old line stay together."""
    groups: list[list[Small | cst.BaseCompoundStatement]] = []
    own_before = False
    for item, own in items:
        if own and own_before:
            groups[-1].append(item)
        else:
            groups.append([item])
        own_before = own
    lines: list[Statement] = []
    for group in groups:
        if isinstance(group[0], Small):
            smalls = _joined([(item, True) for item in group])
            assert smalls is not None  # only small statements are grouped
            lines.append(cst.SimpleStatementLine(smalls))
        else:
            lines.append(group[0])
    if isinstance(lines[-1], cst.SimpleStatementLine):
        lines[-1] = lines[-1].with_changes(trailing_whitespace=trailing)
    return lines


def _branch(node: Statement, taken: bool) -> list[Statement | cst.EmptyLine]:
    """Return the statements of one branch of an `if`."""
    if not isinstance(node, cst.If):
        raise Refused("there is no `if` statement here")
    if taken:
        return statements_of(node.body)
    if node.orelse is None:
        return []
    if isinstance(node.orelse, cst.If):  # an `elif` becomes the `if`
        return [node.orelse]
    return [*_comments(node.orelse.leading_lines), *statements_of(node.orelse.body)]


def _ending(node: cst.If, indent: int) -> list[cst.EmptyLine]:
    """Return the empty lines behind an `if` that the tree keeps in its last block, as they are."""
    while isinstance(node.orelse, cst.If):
        node = node.orelse
    body = node.orelse.body if node.orelse is not None else node.body
    if not isinstance(body, cst.IndentedBlock):
        return []
    inner = " " * indent + (body.indent if body.indent is not None else "    ")
    lines: list[cst.EmptyLine] = []
    for line in reversed(body.footer):
        if line.comment is not None:
            break
        white = (inner if line.indent else "") + line.whitespace.value
        plain = cst.EmptyLine(indent=False, whitespace=cst.SimpleWhitespace(white))
        lines.insert(0, plain.with_changes(newline=line.newline))
    return lines


def statements_of(body: cst.BaseSuite) -> list[Statement | cst.EmptyLine]:
    """Return the statements of a suite with all of its comments, to be put into another body."""
    if isinstance(body, cst.SimpleStatementSuite):
        if all(isinstance(small, cst.Pass) for small in body.body):
            return []
        return [cst.SimpleStatementLine(body.body, trailing_whitespace=body.trailing_whitespace)]
    block = cast(cst.IndentedBlock, body)
    header = block.header.comment
    lines: list[Statement | cst.EmptyLine] = (
        [] if header is None else [cst.EmptyLine(comment=header)]
    )
    for statement in cast("Sequence[Statement]", block.body):
        if isinstance(statement, cst.SimpleStatementLine) and all(
            isinstance(small, cst.Pass) for small in statement.body
        ):
            lines += statement.leading_lines
        else:
            lines.append(statement)
    return [*lines, *_comments(block.footer)]


def _comments(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    return [line for line in lines if line.comment is not None]


def _split_lead(
    lead: Sequence[cst.EmptyLine], marker: str
) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine]]:
    """Split the lines above a statement: those that stay above a new one, and its own comments."""
    at = 0
    for index, line in enumerate(lead):
        if line.comment is None or line.comment.value.startswith(marker):
            at = index + 1
    return list(lead[:at]), list(lead[at:])


def _merge(
    carry: Sequence[cst.EmptyLine], lead: Sequence[cst.EmptyLine], at_head: bool
) -> list[cst.EmptyLine]:
    """Join the lines above a statement that went away with those above the next one.

    Blank lines are not added up where nothing is left between them, nor left at the head of a body.
    """
    above, below = list(carry), list(lead)
    over: list[cst.EmptyLine] = []
    under: list[cst.EmptyLine] = []
    while above and above[-1].comment is None:
        over.insert(0, above.pop())
    while below and below[0].comment is None:
        under.append(below.pop(0))
    lines = [*above, *(over if len(over) > len(under) else under), *below]
    while at_head and lines and lines[0].comment is None:
        lines.pop(0)
    return lines


def with_gap(node: cst.CSTNode, count: int) -> cst.CSTNode:
    """Return a statement with so many more blank lines above it."""
    statement = cast(Statement, node)
    return statement.with_changes(leading_lines=[*[_BLANK] * count, *statement.leading_lines])
