"""The change list as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from .markdown import at_error, by_file, title, total, where
from .shell import text

if TYPE_CHECKING:
    from .changes import ChangeList

_STYLE = """
:root { color-scheme: light dark; --removed: #ffebe9; --added: #dafbe1; --quiet: #59636e; }
@media (prefers-color-scheme: dark) {
  :root { --removed: #67060c66; --added: #04426099; --quiet: #9198a1; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2, p, td { overflow-wrap: anywhere; }
pre { overflow-x: auto; margin: .5rem 0 1.5rem; }
del, ins { display: block; text-decoration: none; padding: 0 .5rem; min-width: max-content; }
del { background: var(--removed); }
ins { background: var(--added); }
del::before { content: "- "; }
ins::before { content: "+ "; }
.rule, .reason { color: var(--quiet); }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
"""


def dump(changes: ChangeList) -> str:
    """Return the list as one HTML document."""
    return "\n".join(_lines(changes)) + "\n"


def _lines(changes: ChangeList) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title(changes)}</title><style>{_STYLE}</style></head><body><main>"
    yield f"<h1>{title(changes)}</h1><p>{total(changes)}</p>"
    yield from _index(changes)
    for number, (path, entries) in enumerate(groupby(changes.changed, lambda one: one.path)):
        yield f'<h2 id="f{number}">{text(path)}</h2>'
        for entry in entries:
            rule = f' <span class="rule">{text(entry.rule)}</span>' if entry.rule else ""
            yield f"<p><b>{where(entry)}</b>{rule}<br>{prose(entry.why)}</p>"
            removed = "".join(f"<del>{text(line)}</del>" for line in _code(entry.before))
            added = "".join(f"<ins>{text(line)}</ins>" for line in _code(entry.after))
            yield f"<pre>{removed}{added}</pre>"
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
    yield "</main></body></html>"


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
