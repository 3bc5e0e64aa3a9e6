"""`python -m tests.conformance`: write anew what the suites list as not right yet.

What holds now is taken from `language/pending.toml` and `metamorphic.toml`; what does not any more
is added without a cause, for somebody to look at. Contradictions of the oracle have a command of
their own, `python -m tests.conformance.oracle --known`.
"""

from __future__ import annotations

import itertools
from operator import methodcaller
from pathlib import Path

from . import test_metamorphic as metamorphic
from .language import CLASH, TWIN
from .language import test_language as language
from .relations import RELATIONS

_LOOK = "nobody has looked at this yet"


def main() -> None:
    """Run both suites, but for what needs torch, and write their lists."""
    wrong = {
        which: {
            pair.name: _LOOK
            for pair in language.here
            if bool(language.findings(pair.program(which))) != (which == CLASH)
        }
        for which in (CLASH, TWIN)
    }
    write(language.HERE / "pending.toml", language.PENDING, wrong)
    different = {
        name: {one: _LOOK for one in metamorphic.chosen(name) if metamorphic.difference(name, one)}
        for name in RELATIONS
    }
    write(metamorphic.LISTED, metamorphic.PENDING, different)


def write(path: Path, known: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> None:
    """Write a list with the causes that are known."""
    is_comment = methodcaller("startswith", "#")
    lines = list(itertools.takewhile(is_comment, path.read_text("utf-8").split("\n")))
    for table, names in now.items():
        causes = known.get(table, {})
        kept = [name for name in causes if name in names]
        new = sorted(set(names) - set(causes))
        gone = len(causes) - len(kept)
        print(f"{path.name}: {table}: {len(kept)} as before, {len(new)} new, {gone} mended")
        if kept or new:
            lines += ["", f"[{table}]"]
            lines += [f'"{name}" = "{causes.get(name, _LOOK)}"' for name in (*kept, *new)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
