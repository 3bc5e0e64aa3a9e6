"""The pages about messages and questions: their programs, and the changes that `fix` makes of them.

`python tests/docs/errors.py` writes the changes of now into the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from samedevice import migrate, source
from samedevice.config import Config
from samedevice.project import Project
from samedevice.report.diff import hunks

DOCS = Path(__file__).parents[2] / "docs"
_CASE = re.compile(
    r"<!-- error: on=(?P<on>\w+)(?P<unsafe> unsafe)?(?P<runs> runs)?"
    r"(?: says=(?P<says>[^\n]*?))? -->\n"
    r"```python\n(?P<code>.*?)^```$.*?^```diff\n(?P<diff>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MESSAGE = re.compile(r"^```text\n\w+: (.*?)\n```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Case:
    """A program of a page: where it runs, the message that ends it ("" for none), its change."""

    page: str
    on: str
    message: str
    before: str
    after: str
    diff: str
    shown: str


def pages() -> list[Path]:
    """Return the pages."""
    return sorted([*DOCS.glob("errors/*.md"), *DOCS.glob("questions/*.md")])


def cases() -> Iterator[Case]:
    """Yield the programs of all pages, with what `fix` makes of them."""
    for page in pages():
        text = page.read_text("utf-8")
        told = _MESSAGE.search(text)
        message = told[1].split(", ...")[0] if told else ""
        for match in _CASE.finditer(text):
            after = _fixed(match["code"], bool(match["unsafe"]))
            diff = _diff(match["code"], after)
            ends = "" if match["runs"] else match["says"] or message
            name = page.relative_to(DOCS).as_posix()
            yield Case(name, match["on"], ends, match["code"], after, diff, match["diff"])


def _fixed(code: str, unsafe: bool) -> str:
    project = Project([source.from_text(code, "train.py")])
    return migrate.migrate(project, Config(unsafe=unsafe)).sources["train.py"].text


def _diff(before: str, after: str) -> str:
    """Return a change as people read it: one line of context, and no numbers of lines."""
    old, new = before.splitlines(), after.splitlines()
    lines = []
    for number, hunk in enumerate(hunks(old, new, 1)):
        lines += ["..."] * bool(number)
        for tag, i1, i2, j1, j2 in hunk:
            if tag == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
            else:
                lines += [f"-{line}" for line in old[i1:i2]] + [f"+{line}" for line in new[j1:j2]]
    return "".join(f"{line}\n" for line in lines)


def write() -> None:
    """Write the changes of now into the pages."""
    changes = {(case.page, case.before): case.diff for case in cases()}
    for page in pages():
        name, text = page.relative_to(DOCS).as_posix(), page.read_text("utf-8")

        def changed(match: re.Match[str], name: str = name) -> str:
            start, end = (at - match.start() for at in match.span("diff"))
            return match[0][:start] + changes[name, match["code"]] + match[0][end:]

        page.write_text(_CASE.sub(changed, text), "utf-8")


if __name__ == "__main__":
    write()
