"""What a fix will do, in a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..finding import Edit, Fix
from ..reading.source import Source
from .place import printable

_LONGEST = 90  # characters of code in a line of prose
_SHOWN = 2  # edits that are named; of more the number is told


def what_it_does(fix: Fix, sources: Mapping[str, Source]) -> str:
    """Return what a fix will do: "passes `device=x.device` to `torch.ones(...)`"."""
    said = list(dict.fromkeys(_said(fix, sources)))
    if not said:
        return "changes the files that use it"
    line = ", ".join(said[:_SHOWN])
    if len(said) > _SHOWN:
        more = len(said) - _SHOWN
        line += f" and makes {more} more {'edit' if more == 1 else 'edits'}"
    for resolver in fix.resolvers[:1]:
        if resolver.module:
            line += f"; imports `{resolver.name}` from `{resolver.module}`"
        else:
            line += f"; defines `{resolver.name}` in one place"
    return line


def _said(fix: Fix, sources: Mapping[str, Source]) -> Iterator[str]:
    unwrapped = {(edit.path, edit.span) for edit in fix.edits if edit.verb == "unwrap"}
    methods = {(edit.path, edit.span) for edit in fix.edits if edit.verb == "method"}
    for edit in fix.edits:
        place = edit.path, edit.span
        source = sources.get(edit.path)
        old = _slice(source, edit) if source is not None else ""
        if edit.verb == "unwrap" and place in methods:
            continue  # told with what takes its place
        if edit.verb == "method" and place in unwrapped:
            yield f"replaces {_code(_tail(old))} by {_code(edit.get('code'))}"
        else:
            yield _one(edit, old)


def _one(edit: Edit, old: str) -> str:
    arguments = dict(edit.args)
    new = arguments.get("code", "")
    match edit.verb:
        case "keyword":
            value = f"{arguments['name']}={arguments['value']}"
            return f"passes {_code(value)} to {_code(_call(old))}"
        case "drop_keyword":
            return f"drops {_code(arguments['name'] + '=')} from {_code(_call(old))}"
        case "method":
            return f"adds {_code(new)} to {_code(old)}"
        case "callee":
            callee = _call(old).removesuffix("(...)")
            return f"calls {_code(new.replace('{}', callee))} in place of {_code(callee)}"
        case "unwrap":
            return f"removes {_code(_tail(old))}"
        case "unwrap_argument":
            return f"uses the argument of {_code(_call(old))} itself"
        case "replace":
            return f"writes {_code(new.replace('{}', old))} in place of {_code(old)}"
        case "body" | "orelse":
            return f"keeps one branch of {_code(old)}"
        case "before" | "after" | "head":
            return f"adds {_code(new)}"
        case "delete":
            return f"removes {_code(old)}"
        case "replace_statement":
            return f"writes {_code(new)}"
        case "parameter":
            return f"adds the parameter {_code(arguments['name'])} to {_code(_defined(old))}"


def _slice(source: Source, edit: Edit) -> str:
    try:
        return source.slice(edit.span)
    except IndexError:
        return ""


def _code(text: str) -> str:
    """Return code for a line of prose: its first line, cut where it is long."""
    first, *more = text.strip().split("\n")
    if more or len(first) > _LONGEST:
        first = f"{first[:_LONGEST].rstrip()} ..."
    return f"`{printable(first)}`"


def _call(text: str) -> str:
    """Return a call without its arguments."""
    node = _expression(text)
    if isinstance(node, ast.Call):
        return f"{ast.unparse(node.func)}({'...' if node.args or node.keywords else ''})"
    return text


def _tail(text: str) -> str:
    """Return the last call of a chain: `.cuda()` of `model.eval().cuda()`."""
    node = _expression(text)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inside = ", ".join(
            [*map(ast.unparse, node.args)] + [ast.unparse(keyword) for keyword in node.keywords]
        )
        return f".{node.func.attr}({inside})"
    return text


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(text: str) -> str:
    """Return what a definition is called."""
    words = text.split("(")[0].split()
    return words[-1] if words else text
