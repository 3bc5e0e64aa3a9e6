"""The change list as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from .markdown import INCOMPLETE, at_error, by_file, title, total, where
from .shell import document, text

if TYPE_CHECKING:
    from .changes import ChangeList, Entry

_STYLE = """
:root { --removed: light-dark(#ffebe9, #67060c66); --added: light-dark(#dafbe1, #04426099) }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.6rem; margin: .5rem 0 } h1#left { margin-top: 3rem }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem }
h2, p, td { overflow-wrap: anywhere }
code, pre { font-family: var(--mono); font-size: .87em }
code { background: var(--soft); padding: .05em .3em; border-radius: 4px }
article { background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
  padding: .6rem 1rem; margin: .8rem 0 }
article p { margin: .3rem 0 }
pre { overflow-x: auto; margin: .5rem 0; border-radius: 6px; line-height: 1.5 }
del, ins { display: block; text-decoration: none; padding: 0 .6rem; min-width: max-content }
del { background: var(--removed) } del::before { content: "- " }
ins { background: var(--added) } ins::before { content: "+ " }
.sum, .rule, .reason, .why { color: var(--quiet) } .rule { font-size: .9em }
table { border-collapse: collapse; background: var(--paper); border: 1px solid var(--line);
  width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem;
  border-top: 1px solid var(--line) }
th { color: var(--quiet); font-weight: 400 }
"""


def dump(changes: ChangeList) -> str:
    """Return the list as one HTML document."""
    return document(title(changes), "\n".join(_lines(changes)), _STYLE, "")


def _lines(changes: ChangeList) -> Iterator[str]:
    yield f"<main><h1>{title(changes)}</h1><p class=sum>{total(changes)}</p>"
    yield from _index(changes)
    yield from _entries(changes.changed, "f")
    if changes.incomplete:
        yield f"<h1>{INCOMPLETE}</h1>"
        yield from _entries(changes.incomplete, "i")
    if changes.left:
        yield '<h1 id="left">Seen and not changed</h1><table>'
        yield "<tr><th>Place</th><th>Code and reason</th></tr>"
        for left in changes.left:
            yield (
                f'<tr><td>{text(left.path)}<br>{where(left)}<br><span class="rule">'
                f"{text(left.rule)}</span></td><td><code>{text(left.code)}</code><br>"
                f'{prose(left.why)}<br><span class="reason">{prose(left.reason)}</span></td></tr>'
            )
        yield "</table>"
    if changes.errors:
        yield "<h1>Files that could not be worked on</h1><ul>"
        for error in changes.errors:
            yield f"<li>{text(error.path)}{at_error(error)}: {prose(error.message)}</li>"
        yield "</ul>"
    yield "</main>"


def _entries(changed: Iterable[Entry], name: str) -> Iterator[str]:
    for number, (path, entries) in enumerate(groupby(changed, lambda one: one.path)):
        yield f'<h2 id="{name}{number}">{text(path)}</h2>'
        for entry in entries:
            rule = f' <span class="rule">{text(entry.rule)}</span>' if entry.rule else ""
            yield f"<article><p><b>{where(entry)}</b>{rule}<br>{prose(entry.why)}</p>"
            removed = "".join(f"<del>{text(line)}</del>" for line in _code(entry.before))
            added = "".join(f"<ins>{text(line)}</ins>" for line in _code(entry.after))
            yield f"<pre>{removed}{added}</pre></article>"


def _index(changes: ChangeList) -> Iterator[str]:
    """Yield the files, with how much there is of each, where there are several."""
    files = by_file(changes)
    if len(files) < 2:
        return
    order = [path for path, _ in groupby(changes.changed, lambda one: one.path)]
    yield "<table><tr><th>File</th><th>Changes</th><th>Left</th></tr>"
    for path, made, left in files:
        target = f"f{order.index(path)}" if made else "left"
        name = f'<a href="#{target}">{text(path)}</a>'
        yield f"<tr><td>{name}</td><td>{made}</td><td>{left}</td></tr>"
    yield "</table>"


def prose(words: str) -> str:
    """Return a sentence as HTML, with what is between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(words))


def _code(text: str) -> list[str]:
    return text.split("\n") if text else []
