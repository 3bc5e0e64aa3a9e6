"""What was applied and has to go again, by what the edited program is then."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from .. import verify
from ..finding import UNDECIDED, Finding
from ..reading.config import Config
from ..reading.project import Project
from ..verify.groups import Groups, nearest
from .check import is_wrong
from .outcome import Outcome, fix_of, key, line_of, may_apply, paths_of, where_is
from .trials import Trials

BECAUSE = "not applied, with the edits that belong to it"
IDLE = "its fix would change nothing"
#: What takes items of a data set from the device, and what takes them there in the loop.
_ITEMS, _BATCH = "dataset-touches-device", "batch-not-moved"


def withdraw(
    project: Project,
    outcome: Outcome,
    groups: Groups,
    config: Config,
    beyond: set[str],
    trials: Trials,
) -> bool:
    """Withdraw what made something wrong; tell whether there was anything.

    Files that nobody named and that would change come into `beyond`. Each time at least one fix
    more is withdrawn, so this comes to an end.
    """
    applied = list(dict.fromkeys(f for change in outcome.changes for f in change.findings))
    if not applied:
        return False
    after = project.replaced(outcome.sources.values())
    after.converted = outcome.converted  # it is the project that was judged, and is known
    changed = [change.path for change in outcome.changes]
    found: list[tuple[list[Finding], str]] = []
    objections = [
        (objection.path, outcome.line_before(objection.path, objection.line), objection.reason)
        for objection in verify.objections(project, after, trials.nameless(after, changed))
    ]
    behind = nearest(applied, {(path, line) for path, line, _ in objections})
    whole: set[str] = set()  # files of which all is withdrawn
    for path, line, reason in objections:
        if (path, line) in behind:
            found.append((behind[path, line], reason))
        elif path not in whole:
            found.append((_in_file(applied, path) or applied, reason))
            whole.add(path)
    unfixed = [
        left
        for left in outcome.remaining
        if (is_wrong(left) if left.fix is None else not may_apply(left.fix, config))
    ]
    for left in groups.torn(map(outcome.before, unfixed), applied):
        how = "cannot be repaired" if left.fix is None else "is repaired with --unsafe only"
        found.append(([left], f"{left.message}, which {how}"))
    known = {line_of(finding) for finding in outcome.found}
    new = [before for before in map(outcome.before, unfixed) if line_of(before) not in known]
    for how, brought in ("would", new), ("may", _newly_undecided(outcome)):
        for left in groups.brought(brought, applied):
            where = os.path.basename(where_is(left, outcome))
            found.append(([left], f"{where} {how} fail then ({left.message})"))
    for left in outcome.remaining:
        refused = outcome.refused.get(key(left))
        if refused is not None and refused != IDLE:
            found.append(([outcome.before(left)], refused))
    found += _too_early(project, outcome, applied)
    found += _in_its_place(project, outcome, applied)
    for finding in applied:
        for path in sorted(project.context.intersection(paths_of(finding))):
            found.append(([finding], f"{path}, which was not named, changes with it"))
            beyond.add(path)
    staying = list(_staying(outcome, groups))
    halved = groups.withdraw_halves(staying, applied, after, outcome.line_before)
    because = [(guilty, f"{BECAUSE}: {reason}") for guilty, reason in found]
    return groups.withdraw(because, applied) or halved


def _newly_undecided(outcome: Outcome) -> list[Finding]:
    """Return what the device meets after the changes only, and of which nothing is known."""
    known = {line_of(finding) for finding in outcome.found if finding.rule == UNDECIDED}
    told = (f for f in outcome.remaining if f.rule == UNDECIDED and not f.left_to_callers)
    return [before for before in map(outcome.before, told) if line_of(before) not in known]


def _in_file(applied: Sequence[Finding], path: str) -> list[Finding]:
    return [finding for finding in applied if path in paths_of(finding)]


def _too_early(
    project: Project, outcome: Outcome, applied: Sequence[Finding]
) -> Iterator[tuple[list[Finding], str]]:
    """Yield the fixes that come last, where something that needs CUDA is left."""
    seen: set[tuple[frozenset[str], str]] = set()
    wrong = [outcome.before(left) for left in outcome.remaining if is_wrong(left)]
    for early in (finding for finding in applied if fix_of(finding).last):
        program = project.programs.get(early.path, frozenset((early.path,)))
        erasure = fix_of(early).erasure
        if (program, erasure) in seen:
            continue
        left = next((w for w in wrong if w.path in program and key(w) != key(early)), None)
        if left is not None:
            seen.add((program, erasure))
            where = os.path.basename(where_is(left, outcome))
            same = [f for f in applied if f.path in program and _only_without(early, f)]
            yield same, f"{where} is not repaired, and may need CUDA"


def _in_its_place(
    project: Project, outcome: Outcome, applied: Sequence[Finding]
) -> Iterator[tuple[list[Finding], str]]:
    """Yield the fixes that leave items of a data set where they are, if no loop moves the batch."""
    left = {
        program: outcome.before(finding)
        for finding in outcome.remaining
        if finding.rule == _BATCH and (program := project.programs.get(finding.path)) is not None
    }
    for finding in applied:
        batch = left.get(project.programs.get(finding.path, frozenset()))
        if finding.rule == _ITEMS and batch is not None:
            yield [finding], f"{where_is(batch, outcome)} does not move the batch"


def _staying(outcome: Outcome, groups: Groups) -> Iterator[Finding]:
    """Yield what is wrong and stays so, and what is left alone."""
    for left in outcome.remaining:
        if left.fix is not None and key(left) not in outcome.refused:
            if groups.reason(outcome.before(left)) is None:
                continue
        yield left


def _only_without(early: Finding, finding: Finding) -> bool:
    """Tell whether a fix serves machines without CUDA alone, as that of `early` does."""
    return bool(fix_of(finding).erasure) and fix_of(finding).erasure == fix_of(early).erasure
