"""docs/proof/inference.md: what was inferred and what was observed, as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .compare import AGREE, CONTRADICT, JUDGED, LATER, NEVER, OTHER, UNDECIDED, UNTYPED, Compared

#: What the sets of programs are called on the page.
SETS = {
    "fixtures": "fixtures, every version",
    "real": "real programs, as published",
    "suites": "libraries, under their own tests",
}
_MOST_CAUSES, _MOST_LINES = 20, 60
_WORDS = {
    AGREE: "agree", LATER: "moved later", CONTRADICT: "contradict", UNDECIDED: "undecided",
    UNTYPED: "untyped", OTHER: "no tensor", NEVER: "never evaluated",
}  # fmt: skip

_HEAD = """\
# Inferred against observed

Written by `make conformance` from runs on the virtual accelerator; do not edit. Programs are
rewritten so that each of their expressions (names, attributes, calls, operators, subscripts and
others that are read) tells the device of its value, and run: all fixtures, real programs as they
are published, and libraries under their own tests. Beside that stands what the inference says of
the same expression, over all calls that reach it. The programs belong to their authors and are no
part of this repository.

- *agree*: the value was only where it was inferred to be. What *follows* its input was where an
  argument of its function was, in each call that was looked at.
- *moved later*: a module that was still on the CPU, and is told to be on the device because it is
  moved there at some time: where a branch decides that, where it is a part of another one, or where
  nobody calls the code. Elsewhere a place is that of its time.
- *contradict*: it was somewhere else: a bug of the inference, or of what is told of a program that
  is wrong itself (a value that has to be on the device, and is not).
- *undecided*: it was a tensor (or a module) somewhere, and its place is unknown.
- *untyped*: it was one, and the inference does not know that.
- *no tensor*: it was inferred to be one, and was something else.
- *never evaluated*: it was inferred to be one, and no run came there.

In a program that never uses the device all is on the host, and what agrees there tells less. The
share is of the expressions that were a tensor (or a module) in a run: those that agree. A
run that stops at a clash, or at its limit of time, counts up to there.
"""


def render(results: dict[str, Sequence[Compared]], revision: str) -> str:
    """Return the page for the results of each set of programs."""
    lines = [_HEAD, f"Revision {revision}.", ""]
    for what in ("tensor", "module"):
        lines += [f"## {what.capitalize()}s", ""]
        lines += _table("programs", _by_set(results, what), what)
        lines += ["", "By kind of expression:", ""]
        lines += _table("expression", _by_kind(results, what), what)
        lines.append("")
    for verdict in (CONTRADICT, UNDECIDED, UNTYPED):
        lines += [f"## Causes of what is: {_WORDS[verdict]}", ""]
        lines += list(_causes(results, verdict))
    lines += ["## Contradictions", ""]
    for name, found in results.items():
        lines += [f"In {SETS[name]}:", "", *_listed(found, with_code=name == "fixtures"), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


Rows = Iterable[tuple[str, Counter[str]]]


def _by_set(results: dict[str, Sequence[Compared]], what: str) -> Rows:
    for name, found in results.items():
        counts: Counter[str] = Counter()
        for one in found:
            for (kind, _, verdict), count in one.counts.items():
                counts[verdict] += count if kind == what else 0
        used = sum(one.left_host for one in found)
        yield f"{SETS[name]}: {len(found)}, of which {used} used the device", counts


def _by_kind(results: dict[str, Sequence[Compared]], what: str) -> Rows:
    kinds: dict[str, Counter[str]] = {}
    for found in results.values():
        for one in found:
            for (kind, expression, verdict), count in one.counts.items():
                if kind == what:
                    kinds.setdefault(expression, Counter())[verdict] += count
    return sorted(kinds.items(), key=lambda item: -item[1].total())


def _table(first: str, rows: Rows, what: str) -> Iterator[str]:
    columns = [one for one in _WORDS if one != LATER or what == "module"]
    yield f"| {first} | {' | '.join(_WORDS[one] for one in columns)} | share |"
    yield f"|---|{'---:|' * (len(columns) + 1)}"
    for name, counts in rows:
        judged = sum(counts[one] for one in JUDGED)
        share = f"{100 * counts[AGREE] / judged:.2f} %" if judged else ""
        yield f"| {name} | {' | '.join(f'{counts[one]:,}' for one in columns)} | {share} |"


def _causes(results: dict[str, Sequence[Compared]], verdict: str) -> Iterator[str]:
    causes: Counter[tuple[str, str, str, str]] = Counter()
    where: dict[tuple[str, str, str, str], set[str]] = {}
    for found in results.values():
        for result in found:
            for one in result.different:
                if one.verdict == verdict and one.cause:
                    inferred = ", ".join(one.inferred)
                    key = one.what, one.cause, inferred, ", ".join(sorted(one.observed))
                    causes[key] += 1
                    where.setdefault(key, set()).add(one.program)
    yield "An expression counts here when nothing that it is made from is wrong already."
    yield ""
    yield "| | | inferred | observed | expressions | programs |"
    yield "|---|---|---|---|---:|---:|"
    for key, count in causes.most_common(_MOST_CAUSES):
        yield f"| {' | '.join(key)} | {count:,} | {len(where[key]):,} |"
    if len(causes) > _MOST_CAUSES:
        rest = sum(causes.values()) - sum(count for _, count in causes.most_common(_MOST_CAUSES))
        yield f"| others | | | | {rest:,} | |"
    yield ""


def _listed(found: Sequence[Compared], with_code: bool) -> Iterator[str]:
    """Yield a line for each contradiction; the code of others is not shown."""
    lines = [
        f"- {one.program}, {one.path}:{one.line}: a {one.what}, "
        f"{f'`{one.code}`' if with_code else f'{one.kind} at column {one.column + 1}'}: inferred "
        f"{', '.join(one.inferred)}, observed {', '.join(sorted(one.observed))}"
        for result in found
        for one in result.different
        if one.verdict == CONTRADICT and one.cause
    ]
    yield from lines[:_MOST_LINES] or ["None."]
    if len(lines) > _MOST_LINES:
        yield f"- and {len(lines) - _MOST_LINES:,} more"
