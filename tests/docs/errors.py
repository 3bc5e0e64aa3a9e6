"""The pages about messages and questions: their programs, and the changes that `fix` makes of them.

`python tests/docs/errors.py` writes the changes of now into the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from samedevice.migration import migrate
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project
from samedevice.report.diff import hunks

DOCS = Path(__file__).parents[2] / "docs"
_CASE = re.compile(
    r"<!-- error: on=(?P<on>\w+)(?P<unsafe> unsafe)?(?P<runs> runs)?(?P<hand> by-hand)?"
    r"(?: says=(?P<says>[^\n]*?))? -->\n"
    r"```python\n(?P<code>.*?)^```$.*?^```diff\n(?P<diff>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_GIVEN = re.compile(r"<!-- given -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MESSAGE = re.compile(r"^```text\n\w+: (.*?)\n```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Case:
    """A program of a page: where it runs, the message that ends it ("" for none), its change.

    `on` is "virtual", "two" (with two devices) or "cpu". The change of one that is repaired
    `by_hand` is that of the page, and `fix` makes none.
    """

    page: str
    on: str
    message: str
    before: str
    after: str
    diff: str
    shown: str
    by_hand: bool


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
            by_hand = bool(match["hand"])
            if by_hand and after == match["code"]:
                after = applied(match["code"], match["diff"])
            diff = _diff(match["code"], after)
            ends = "" if match["runs"] else match["says"] or message
            name = page.relative_to(DOCS).as_posix()
            code, shown = match["code"], match["diff"]
            yield Case(name, match["on"], ends, code, after, diff, shown, by_hand)


def given() -> Iterator[str]:
    """Yield the programs that make the files which those of a page read; they run first."""
    for page in pages():
        yield from _GIVEN.findall(page.read_text("utf-8"))


def applied(code: str, diff: str) -> str:
    """Return a program with a change of a page made in it.

    Raises `ValueError` when the lines that it takes away are not there.
    """
    lines, start = code.splitlines(), 0
    for hunk in diff.split("...\n"):
        rows = hunk.splitlines()
        old, new = ([row[1:] for row in rows if row[:1] in kinds] for kinds in (" -", " +"))
        while lines[start : start + len(old)] != old:
            start += 1
            if start > len(lines):
                raise ValueError(hunk)
        lines[start : start + len(old)] = new
        start += len(new)
    return "".join(f"{line}\n" for line in lines)


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
    changes = {(case.page, case.before): case.diff for case in cases() if not case.by_hand}
    for page in pages():
        name, text = page.relative_to(DOCS).as_posix(), page.read_text("utf-8")

        def changed(match: re.Match[str], name: str = name) -> str:
            start, end = (at - match.start() for at in match.span("diff"))
            change = changes.get((name, match["code"]), match["diff"])
            return match[0][:start] + change + match[0][end:]

        page.write_text(_CASE.sub(changed, text), "utf-8")


if __name__ == "__main__":
    write()
