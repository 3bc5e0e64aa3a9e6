"""What `fix` and `modernize` do with their changes: show, ask, write, say what was left."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

from ..finding import UNDECIDED
from .errors import CLEAN, FAILED, FOUND
from .screen import count, detail, is_quiet, looked_at, make_console, say, tell_errors, unfollowed

if TYPE_CHECKING:
    from ..finding import Finding
    from ..migration.migrate import Change, Outcome
    from ..migration.modernize.plan import Plan


CAUSES = 5  # places that a conversion waits for of which each gets a line
ALIKE = 3  # findings of a file for the same reason of which each gets a line
STAYING = 20  # scripts that stay on the CPU of which each gets a line


def show_diff(changes: Sequence[Change], *, patch: bool = False) -> None:
    """Print the diff: in colours for people, and else as bytes.

    Of a notebook it shows the cells, unless it is to be a `patch` for `git apply`.
    """
    from ..report import diff

    console = make_console()
    for change in changes:
        if console.is_terminal and not patch:
            diff.show(console, change)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(diff.unified(change) if patch else diff.by_cells(change))
            sys.stdout.buffer.flush()
    cells = not console.is_terminal and any(map(diff.is_notebook, changes))
    if cells and not patch:
        say("notebooks are shown by their cells: --patch gives what `git apply` takes")


def tell(outcome: Outcome, *, written: bool) -> None:
    """Print what `fix` did or would do: files and fixes by rule, then what it leaves and why."""
    from ..migration.check import is_wrong
    from ..migration.migrate import key
    from ..report.changes import why_left
    from ..report.place import printable

    waiting = {key(one) for change in outcome.incomplete for one in change.findings}
    unknown = unfollowed(outcome.remaining, outcome.sources)
    unknown = unknown and f"; {unknown}"
    if outcome.changes:
        applied = dict.fromkeys(item for change in outcome.changes for item in change.findings)
        files = count(len(outcome.changes), "file")
        say(f"{files} {'changed' if written else 'would change'} ({_by_rule(applied)}){unknown}")
    left = [
        finding
        for finding in outcome.remaining
        if is_wrong(finding) and key(outcome.before(finding)) not in waiting
    ]
    read = looked_at(outcome.named, outcome.errors)
    if read and not (outcome.changes or left or outcome.incomplete):
        say(f"nothing to change in {count(read, 'file')}{unknown}")
    if left:
        say(f"{count(len(left), 'finding')} left as found{'' if outcome.changes else unknown}:")
    _tell_places(outcome, [(each, why_left(each, outcome)) for each in left], written)
    if outcome.beyond:
        others = ", ".join(map(printable, outcome.beyond[:3]))
        more = f" and {count(len(outcome.beyond) - 3, 'more file')}" if outcome.beyond[3:] else ""
        say(f"{others}{more} would change, too: name all files, or the folder, to repair it whole")
    for number, stays in enumerate(outcome.staying):
        tell_it = say if number < STAYING else detail
        how = f" (--convert {printable(stays.path)} converts it)" if stays.asked else ""
        tell_it(f"{printable(stays.path)} stays on the CPU: {stays.reason}{how}")
    if len(outcome.staying) > STAYING:
        more = count(len(outcome.staying) - STAYING, "more script")
        say(f"and so {'does' if more.startswith('1 ') else 'do'} {more}; --verbose says why")
    _tell_notes_left(outcome, written)
    if outcome.incomplete:
        _tell_incomplete(outcome, "" if outcome.changes or left else unknown)


def _tell_incomplete(outcome: Outcome, unknown: str) -> None:
    """Show what a program for the CPU waits for, and the diff that it would get.

    It is on standard error, and marked: nobody applies it by mistake.
    """
    from ..migration.check import is_wrong
    from ..report import diff
    from ..report.place import place, printable

    console = make_console(stderr=True)
    waiting = list(dict.fromkeys(one for each in outcome.incomplete for one in each.findings))
    say(f"incomplete, not written without --unsafe ({_by_rule(waiting)}){unknown}:")
    fixes = [one.fix for one in waiting if one.fix is not None and one.fix.missing]
    for reason in dict.fromkeys(fix.reason for fix in fixes):
        say(f"  {printable(reason)}")
    missing = {where for fix in fixes for where in fix.missing}
    causes = [
        one
        for one in outcome.remaining
        if (one.rule == UNDECIDED or is_wrong(one) and one.fix is None)
        and outcome.sources[one.path].where(one.span.line) in missing
    ]
    for one in causes[:CAUSES]:
        where = place(one.path, one.span, outcome.sources)
        say(f"  {where} [{one.rule}] {printable(one.message)}")
    if len(causes) > CAUSES:
        say(f"  and {count(len(causes) - CAUSES, 'more place')}")
    for change in outcome.incomplete if not is_quiet() else ():
        if console.is_terminal:
            diff.show(console, change, mark=".incomplete")
        else:
            sys.stderr.flush()
            sys.stderr.buffer.write(diff.by_cells(change, mark=".incomplete"))
            sys.stderr.buffer.flush()


def _by_rule(findings: Iterable[Finding]) -> str:
    """Return how many findings there are of each rule: "2 batch-not-moved, 1 loss-not-moved"."""
    counts = Counter(finding.rule for finding in findings).most_common()
    return ", ".join(f"{count} {rule}" for rule, count in counts)


def _tell_notes_left(outcome: Outcome, written: bool) -> None:
    """Print what was seen and left alone on purpose, each with the reason."""
    from ..migration.check import is_wrong

    notes = [one for one in outcome.remaining if not is_wrong(one) and one.rule != UNDECIDED]
    if notes:
        say(f"{count(len(notes), 'place')} left alone:")
    whys = (f"{one.message}: {one.unfixed}" if one.unfixed else one.message for one in notes)
    _tell_places(outcome, list(zip(notes, whys, strict=True)), written)


def _tell_places(outcome: Outcome, found: Sequence[tuple[Finding, str]], written: bool) -> None:
    """Print places, each with the reason; what many lines of a file share is said once."""
    from ..report.place import place, printable

    sources = outcome.sources if written else outcome.originals  # as the files are now
    alike: dict[tuple[str, str, str], list[str]] = {}
    for each, why in found:
        at = each if written else outcome.before(each)
        line = f"  {place(at.path, at.span, sources)} [{each.rule}] {printable(why)}"
        alike.setdefault((at.path, each.rule, why), []).append(line)
    for lines in alike.values():
        shown = lines if len(lines) <= ALIKE else lines[:1]
        more = f" (and {len(lines) - 1} more like it in this file)" if lines[len(shown) :] else ""
        for line in shown:
            say(f"{line}{more}")
        for line in lines[len(shown) :]:
            detail(line)


def to_stdout(outcome: Outcome) -> int:
    """Write the fixed code of standard input to standard output."""
    for source in map(outcome.sources.__getitem__, outcome.named):
        sys.stdout.buffer.write(source.encode(source.text))
    return result(outcome)


def finish(outcome: Outcome, *, ask: bool, diff: bool, patch: bool = False) -> int:
    """Show or write the changes of `outcome`; returns the exit code."""
    from ..migration import migrate

    if diff or ask or patch:
        show_diff(outcome.changes, patch=patch)
    if diff or patch:
        tell(outcome, written=False)
        shown = outcome.changes or outcome.incomplete
        return FAILED if result(outcome) == FAILED else FOUND if shown else CLEAN
    asked = ask and bool(outcome.changes)
    if asked:
        tell(outcome, written=False)
        if not confirmed("Write these changes?"):
            say("nothing was written")
            return FAILED if result(outcome) == FAILED else FOUND
    migrate.apply(outcome)
    if asked:
        say(f"{count(len(outcome.changes), 'file')} changed")
    else:
        tell(outcome, written=True)
    return result(outcome)


def result(outcome: Outcome) -> int:
    """Print what could not be worked on and return the exit code of a finished migration."""
    from ..migration.check import is_wrong

    tell_errors(outcome.errors)
    if outcome.errors:
        return FAILED
    return FOUND if any(map(is_wrong, outcome.remaining)) else CLEAN


def confirmed(question: str) -> bool:
    """Ask; no answer is a no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        say("\nno answer; --yes writes without asking, --diff only shows")
        return False


def tell_notes(planned: Plan) -> None:
    """Print what is left to do by hand after `modernize`, and for which files `--all` is."""
    from ..report.place import printable

    for note in planned.notes:
        say(f"  {printable(note.path)}:{note.span.line}: {printable(note.message)}")
    if planned.waiting:
        files = count(len(planned.waiting), "more file")
        say(f"{files} would change with --all: they use names that Python 3 does not have")
