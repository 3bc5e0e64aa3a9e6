"""The change list as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .changes import ChangeList

_STYLE = """
:root { color-scheme: light dark; --removed: #ffebe9; --added: #dafbe1; --quiet: #59636e; }
@media (prefers-color-scheme: dark) {
  :root { --removed: #67060c66; --added: #04426099; --quiet: #9198a1; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2, td:first-child { overflow-wrap: anywhere; }
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
    yield f"<title>Changes made by samedevice</title><style>{_STYLE}</style></head><body><main>"
    yield "<h1>Changes made by samedevice</h1>"
    if not changes.changed:
        yield "<p>Nothing was changed.</p>"
    for path, entries in groupby(changes.changed, lambda entry: entry.path):
        yield f"<h2>{escape(path)}</h2>"
        for entry in entries:
            rule = f' <span class="rule">{escape(entry.rule)}</span>' if entry.rule else ""
            yield f"<p><b>Line {entry.line}</b>{rule}<br>{escape(entry.why)}</p>"
            removed = "".join(f"<del>{escape(line)}</del>" for line in _code(entry.before))
            added = "".join(f"<ins>{escape(line)}</ins>" for line in _code(entry.after))
            yield f"<pre>{removed}{added}</pre>"
    if changes.left:
        yield "<h1>Seen and not changed</h1><table>"
        yield "<tr><th>Place</th><th>Code and reason</th></tr>"
        for left in changes.left:
            yield (
                f'<tr><td>{escape(left.path)}:{left.line}<br><span class="rule">'
                f"{escape(left.rule)}</span></td><td><code>{escape(left.code)}</code><br>"
                f'{escape(left.why)}<br><span class="reason">{escape(left.reason)}</span></td></tr>'
            )
        yield "</table>"
    if changes.errors:
        yield "<h1>Files that could not be worked on</h1><ul>"
        for error in changes.errors:
            line = "" if error.line is None else f":{error.line}"
            yield f"<li>{escape(error.path)}{line}: {escape(error.message)}</li>"
        yield "</ul>"
    yield "</main></body></html>"


def _code(text: str) -> list[str]:
    return text.split("\n") if text else []
