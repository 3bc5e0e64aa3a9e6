"""check -> rewrite -> check again until quiet; all of it in memory, then written at once.

A fix is applied in all of its files or in none. A program whose changes do not become stable keeps
its old bytes, and an error says so.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .. import rewrite, verify
from ..finding import UNDECIDED, Edit, Finding, Fix, Import, Resolver, Span
from ..inference.staying import Staying
from ..reading import source
from ..reading.config import Config
from ..reading.project import Project
from ..reading.reader import Track as Track
from ..reading.reader import read as read
from ..reading.seen import Seen
from ..reading.source import Source, SourceError
from ..verify.groups import Groups, nearest
from . import homes, write
from .cache import Cache
from .check import Memory, Step, check, is_style, is_wrong, named, no_collection
from .originals import Originals
from .trials import Trials

ROUNDS = 10
_AGAIN = 3  # rounds in a row that fix the same: so would all that follow
_BECAUSE = "not applied, with the edits that belong to it"
_IDLE = "its fix would change nothing"
#: What takes items of a data set from the device, and what takes them there in the loop.
_ITEMS, _BATCH = "dataset-touches-device", "batch-not-moved"
_RESTLESS = "its changes bring each other back, round after round"

Key = tuple[str, int, str, str]
"""What names a finding across runs on the same files: path, line, rule, message."""

_Known = dict[
    tuple[str, str, tuple[Fix, ...], rewrite.Surroundings | None],
    tuple[rewrite.Rewritten, Source | None],
]
"""What became of a path's text with these fixes: a migration that starts over needs it again."""


@dataclass(frozen=True)
class Change:
    """One file before and after, and the findings behind it, at their places before the change.

    `before` is None for a file that is new.
    """

    path: str
    before: bytes | None
    after: bytes
    findings: tuple[Finding, ...] = ()


class _Doubted(Exception):
    """Fixes that were applied although they move what may be no tensor, and all that were.

    At their places in the original files. None where what to withdraw is noted already.
    """

    def __init__(self, found: list[tuple[Finding, str]], applied: list[Finding]) -> None:
        super().__init__()
        self.found, self.applied = found, applied


@dataclass
class Outcome:
    """What a migration would do; nothing is written until `apply`.

    `remaining` are the findings in the changed files, which are in `sources`, and `refused` says
    for some of them, by `key`, why their fix was not applied. `originals` are the files as they
    were. `errors` tell what could not be worked on. `found` is what was wrong before any change.
    `staying` are the scripts that stay on the CPU, of which no finding says why. `context` are the
    files that were only read: they are among the sources, and nothing is changed or told of them;
    those in `beyond` belong to what would change. `incomplete` are the files that would become
    others if nothing waited for what is not decided, or has no repair, in programs for the CPU.
    `converted` are the files of programs that used no device before they were edited.
    """

    changes: list[Change]
    remaining: list[Finding]
    refused: dict[Key, str]
    errors: list[SourceError]
    originals: dict[str, Source]
    sources: dict[str, Source]
    rounds: int
    found: list[Finding] = field(default_factory=list)
    staying: list[Staying] = field(default_factory=list)
    context: frozenset[str] = frozenset()
    beyond: list[str] = field(default_factory=list)
    incomplete: list[Change] = field(default_factory=list)
    converted: frozenset[str] = frozenset()

    @property
    def named(self) -> list[str]:
        """The files that were named, and those that are new."""
        return [path for path in self.sources if path not in self.context]

    def before(self, finding: Finding) -> Finding:
        """Return one of the remaining findings at its place in the original files."""
        return self._back.finding(finding)

    def line_before(self, path: str, line: int) -> int:
        """Return the line of an original file that a line of a changed one comes from."""
        return self._back.line(path, line)

    @cached_property
    def _back(self) -> Originals:
        return Originals(self.originals, self.sources)


def key(finding: Finding) -> Key:
    """Return what names `finding` among those of the same files."""
    return finding.path, finding.span.line, finding.rule, finding.message


def migrate(
    project: Project,
    config: Config,
    declined: Container[Key] = (),
    step: Step = lambda files: None,
    memory: Memory | None = None,
    cache: Cache | None = None,
) -> Outcome:
    """Apply the fixes of `project` until none is left; safe ones, or all if `config` says so.

    Findings whose `key` is in `declined` are left, and so are the lines whose fixes bring each
    other back, round after round. `memory` and `cache` are what is known of the project already,
    from this process and from earlier ones. Raises `ConfigError` as `check` does.
    """
    trials = Trials(project, memory, cache)
    return _settle(project, config, declined, step, trials, cache, {})


def with_incomplete(
    project: Project,
    config: Config,
    declined: Container[Key] = (),
    step: Step = lambda files: None,
    memory: Memory | None = None,
    cache: Cache | None = None,
) -> Outcome:
    """Do the same, and find what is `incomplete`."""
    trials = Trials(project, memory, cache)
    known: _Known = {}
    outcome = _settle(project, config, declined, step, trials, cache, known)
    if not config.unsafe and any(one.fix and one.fix.missing for one in outcome.remaining):
        decided = replace(config, decided_by_run=True)
        whole = _settle(project, decided, declined, step, trials, cache, known)
        written = {change.path: change.after for change in outcome.changes}
        outcome.incomplete = [
            change for change in whole.changes if written.get(change.path) != change.after
        ]
    return outcome


def _settle(
    project: Project,
    config: Config,
    declined: Container[Key],
    step: Step,
    trials: Trials,
    cache: Cache | None,
    known: _Known,
) -> Outcome:
    restless: set[tuple[str, int]] = set()
    places = homes.Homes(project)
    at_top: set[str] = set()  # files of which more than one block needs the device
    beyond: set[str] = set()
    groups = Groups(project, trials.bonds)
    with no_collection():
        while True:
            try:
                outcome, again = _migrate(
                    project,
                    config,
                    declined,
                    restless,
                    places,
                    at_top,
                    groups,
                    step,
                    trials,
                    cache,
                    known,
                )
            except _Doubted as doubted:  # at once: what comes after such a fix is of no use
                groups.withdraw(
                    [([finding], f"{_BECAUSE}: {reason}") for finding, reason in doubted.found],
                    doubted.applied,
                )
                continue
            if not again <= restless:
                restless |= again
            elif not _withdraw(project, outcome, groups, config, beyond, trials):
                users = [found for change in outcome.changes for found in change.findings]
                users += (found for found in outcome.found if key(found) in declined)
                if not places.settle(users):
                    break
    for finding in outcome.remaining:
        if finding.fix is not None:
            before = outcome.before(finding)
            if _line(before) in restless:
                outcome.refused.setdefault(key(finding), _RESTLESS)
            reason = groups.reason(before)
            if reason is not None:
                outcome.refused.setdefault(key(finding), reason)
    told = {finding.path for finding in filter(is_wrong, outcome.remaining)} | project.context
    told = told.union(change.path for change in outcome.changes)  # it does not stay as it is
    outcome.staying += (stays for stays in trials.staying() if stays.path not in told)
    outcome.context, outcome.beyond = project.context, sorted(beyond)
    for findings in outcome.found, outcome.remaining:
        findings[:] = named(project, findings)
    return outcome


def _withdraw(
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
        if (is_wrong(left) if left.fix is None else not _may_apply(left.fix, config))
    ]
    for left in groups.torn(map(outcome.before, unfixed), applied):
        how = "cannot be repaired" if left.fix is None else "is repaired with --unsafe only"
        found.append(([left], f"{left.message}, which {how}"))
    known = {_line(finding) for finding in outcome.found}
    new = [before for before in map(outcome.before, unfixed) if _line(before) not in known]
    for how, brought in ("would", new), ("may", _newly_undecided(outcome)):
        for left in groups.brought(brought, applied):
            where = os.path.basename(_where(left, outcome))
            found.append(([left], f"{where} {how} fail then ({left.message})"))
    for left in outcome.remaining:
        refused = outcome.refused.get(key(left))
        if refused is not None and refused != _IDLE:
            found.append(([outcome.before(left)], refused))
    found += _too_early(project, outcome, applied)
    found += _in_its_place(project, outcome, applied)
    for finding in applied:
        for path in sorted(project.context.intersection(_paths(finding))):
            found.append(([finding], f"{path}, which was not named, changes with it"))
            beyond.add(path)
    staying = list(_staying(outcome, groups))
    halved = groups.withdraw_halves(staying, applied, after, outcome.line_before)
    because = [(guilty, f"{_BECAUSE}: {reason}") for guilty, reason in found]
    return groups.withdraw(because, applied) or halved


def _newly_undecided(outcome: Outcome) -> list[Finding]:
    """Return what the device meets after the changes only, and of which nothing is known."""
    known = {_line(finding) for finding in outcome.found if finding.rule == UNDECIDED}
    told = (f for f in outcome.remaining if f.rule == UNDECIDED and not f.left_to_callers)
    return [before for before in map(outcome.before, told) if _line(before) not in known]


def _may_apply(fix: Fix, config: Config) -> bool:
    return fix.safe or config.unsafe or config.decided_by_run and bool(fix.missing)


def _in_file(applied: Sequence[Finding], path: str) -> list[Finding]:
    return [finding for finding in applied if path in _paths(finding)]


def _too_early(
    project: Project, outcome: Outcome, applied: Sequence[Finding]
) -> Iterator[tuple[list[Finding], str]]:
    """Yield the fixes that come last, where something that needs CUDA is left."""
    seen: set[tuple[frozenset[str], str]] = set()
    wrong = [outcome.before(left) for left in outcome.remaining if is_wrong(left)]
    for early in (finding for finding in applied if _fix(finding).last):
        program = project.programs.get(early.path, frozenset((early.path,)))
        erasure = _fix(early).erasure
        if (program, erasure) in seen:
            continue
        left = next((w for w in wrong if w.path in program and key(w) != key(early)), None)
        if left is not None:
            seen.add((program, erasure))
            where = os.path.basename(_where(left, outcome))
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
            yield [finding], f"{_where(batch, outcome)} does not move the batch"


def _staying(outcome: Outcome, groups: Groups) -> Iterator[Finding]:
    """Yield what is wrong and stays so, and what is left alone."""
    for left in outcome.remaining:
        if left.fix is not None and key(left) not in outcome.refused:
            if groups.reason(outcome.before(left)) is None:
                continue
        yield left


def _where(finding: Finding, outcome: Outcome) -> str:
    source, line = outcome.originals.get(finding.path), finding.span.line
    return f"{finding.path}:{line}" if source is None else source.where(line)


def _only_without(early: Finding, finding: Finding) -> bool:
    """Tell whether a fix serves machines without CUDA alone, as that of `early` does."""
    return bool(_fix(finding).erasure) and _fix(finding).erasure == _fix(early).erasure


def _called_for(ready: list[Finding], applied: Iterable[Finding]) -> list[Finding]:
    """Return fixes without those of a style in files where nothing else names the device."""
    others = [one for one in (*applied, *ready) if not is_style(one)]
    named = {path for one in others for path in _fix(one).named_in()}
    return [one for one in ready if one.path in named or not is_style(one)]


def _line(finding: Finding) -> tuple[str, int]:
    return finding.path, finding.span.line


def _migrate(
    project: Project,
    config: Config,
    declined: Container[Key],
    restless: Container[tuple[str, int]],
    places: homes.Homes,
    at_top: set[str],
    groups: Groups,
    step: Step,
    trials: Trials,
    cache: Cache | None,
    known: _Known,
) -> tuple[Outcome, set[tuple[str, int]]]:
    """Return the outcome, and the lines that were fixed in each of the last two rounds.

    Raises `_Doubted` for fixes that are of no use.
    """
    original = project
    applied: list[Finding] = []
    found: list[Finding] = []
    fixed: list[set[Key]] = []  # in each round
    places.begin()
    blocks: dict[str, frozenset[str]] = {}  # of files, those with a device of their own
    for rounds in range(ROUNDS + 1):
        checked = check(project, config, step, trials, cache, whole=True)
        findings = [places.of(finding) for finding in checked]
        if rounds == 0:
            found = findings
        elif outgrown := set(_outgrown(project, findings, blocks)):
            at_top |= outgrown
            raise _Doubted([], applied)
        back = Originals(original.sources, project.sources)
        wanted = [
            finding
            for finding in findings
            if finding.fix is not None
            and _may_apply(finding.fix, config)
            and key(back.finding(finding)) not in declined
            and _line(back.finding(finding)) not in restless
        ]
        if _is_half(project, findings, wanted, back, applied, groups):
            raise _Doubted([], applied)
        result = _round(
            project, findings, wanted, back, applied, at_top, groups, trials, config, known
        )
        if not result.sources:
            idle = {key(finding): _IDLE for finding in result.applied}
            outcome = Outcome(
                changes=_changes(original.sources, project.sources, applied),
                remaining=findings,
                refused=result.refused | idle,
                errors=original.errors,
                originals=original.sources,
                sources=project.sources,
                rounds=rounds,
                found=found,
                converted=project.converted,
            )
            return outcome, set()
        made = set(result.applied)
        left = [one for one in checked if rounds == 0 and key(one) in declined]
        users = [one for one, here in zip(checked, findings, strict=True) if here in made]
        if places.foresee([*users, *left]):
            raise _Doubted([], applied)
        fixed.append({key(back.finding(finding)) for finding in result.applied})
        if rounds == ROUNDS or fixed[-_AGAIN:].count(fixed[-1]) == _AGAIN:
            break
        applied += map(back.finding, result.applied)
        for path, names in result.blocks.items():
            blocks[path] = blocks.get(path, frozenset()) | names
        converted = project.converted.union(trials.for_the_cpu(result.sources))
        project = project.replaced({**project.sources, **result.sources}.values())
        project.converted = converted
    settled = _settled(original, project, applied, set(result.sources), config)
    lines = [{(path, line) for path, line, *_ in keys} for keys in fixed[-2:]]
    return replace(settled, found=found), set.intersection(*lines)


def _outgrown(
    project: Project, findings: Sequence[Finding], blocks: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    """Yield the files in which a block has a device, and other code may need it, too."""
    for path, names in blocks.items():
        places = [each.span for each in findings if each.path == path and is_wrong(each)]
        if any(rewrite.wanted_outside(project.sources[path], name, places) for name in names):
            yield path


def _is_half(
    project: Project,
    findings: Sequence[Finding],
    wanted: Sequence[Finding],
    back: Originals,
    applied: Sequence[Finding],
    groups: Groups,
) -> bool:
    """Withdraw what makes half of some code run without CUDA, where that is certain by now.

    It is where no fix that comes next names a device: none of them gives a line without a repair
    one, so that the inference of their result would be made in vain.
    """
    ready = [finding for finding in wanted if groups.reason(back.finding(finding)) is None]
    if not applied or not ready or any(_fix(finding).named_in() for finding in ready):
        return False
    left = [
        finding
        for finding in findings
        if finding.fix is None or groups.reason(back.finding(finding)) is not None
    ]
    return groups.withdraw_halves(left, applied, project, back.line)


def _round(
    project: Project,
    findings: Sequence[Finding],
    wanted: Sequence[Finding],
    back: Originals,
    applied: Sequence[Finding],
    at_top: Container[str],
    groups: Groups,
    trials: Trials,
    config: Config,
    known: _Known,
) -> _Round:
    """Apply the fixes of those `wanted` that are not withdrawn.

    Those that would make half of some code run without CUDA are withdrawn before their result is
    inferred, as far as it is known by now that nobody repairs the rest. Raises `_Doubted`.
    """
    places = {finding: back.finding(finding) for finding in findings}
    while True:
        ready = [finding for finding in wanted if groups.reason(places[finding]) is None]
        called = _called_for(ready, applied)
        left_at = _left(project, findings, called, at_top)
        result = _apply(project, called, config, known, left_at)
        if not result.sources:
            return result
        made = [places[finding] for finding in result.applied]
        doubted = list(trials.doubts(project, result.applied))
        if doubted:
            guilty = [(places[finding], reason) for finding, reason in doubted]
            raise _Doubted(guilty, [*applied, *made])
        left = [
            place
            for finding, place in places.items()
            if finding.fix is None or groups.reason(place) is not None
        ]
        if not groups.withdraw_halves(left, made):
            return result


def _left(
    project: Project, findings: Sequence[Finding], called: Sequence[Finding], at_top: Container[str]
) -> dict[str, tuple[Span, ...]]:
    """Return where each file has something that is left in a round.

    But those of which more than one block needs the device.
    """
    ready = set(map(key, called))
    found: dict[str, tuple[Span, ...]] = {
        path: () for finding in called for path in _paths(finding) if path not in at_top
    }
    for finding in findings:
        if finding.path in found and is_wrong(finding) and key(finding) not in ready:
            found[finding.path] += (finding.span,)
    return found


def once(
    project: Project, findings: Sequence[Finding], config: Config
) -> tuple[dict[str, Source], dict[Key, str]]:
    """Apply the fixes of `findings`, safe or not, without looking for more.

    Returns the files that change, as they become, and the fixes that were refused, with why.
    """
    result = _apply(project, findings, config)
    after = project.replaced({**project.sources, **result.sources}.values())
    objection = next(verify.objections(project, after), None)
    if objection is not None:
        return {}, {key(finding): objection.reason for finding in findings}
    return result.sources, result.refused


def further(
    outcome: Outcome, finding: Finding, config: Config, seen: Seen | None = None
) -> Outcome | None:
    """Return `outcome` with one more fix, whose places are in `outcome.sources`.

    None when the fix cannot be written, or not in the files that were named. What inference then
    finds in addition is fixed, too.
    """
    project = after_fix(outcome, config, seen)
    if project.context.intersection(_paths(finding)):
        return None
    result = _apply(project, [finding], config)
    if not result.sources:
        return None
    changed = project.like({**project.sources, **result.sources}.values())
    after = migrate(changed, config)
    applied = [
        *(found for change in outcome.changes for found in change.findings),
        outcome.before(finding),
        *(outcome.before(found) for change in after.changes for found in change.findings),
    ]
    return replace(
        after,
        changes=_changes(outcome.originals, after.sources, applied),
        originals=outcome.originals,
        errors=outcome.errors,
    )


def after_fix(outcome: Outcome, config: Config, seen: Seen | None = None) -> Project:
    """Return the project as it is with the changes of `outcome`, and what runs saw of it."""
    return Project(outcome.sources.values(), *config.asks, context=outcome.context, seen=seen)


def apply(outcome: Outcome) -> None:
    """Write the changes: each file atomically, and all of them or none.

    Raises `SourceError` when a file is no longer what was read or cannot be written; those that
    were written until then get their old bytes back.
    """
    for change in outcome.changes:
        if _bytes_now(change.path) != change.before:
            raise SourceError(change.path, "changed since it was read; nothing was written")
    done: list[Change] = []
    try:
        for change in outcome.changes:
            write.replace(change.path, change.after)
            done.append(change)
    except BaseException:
        for change in reversed(done):
            if change.before is None:
                os.unlink(change.path)
            else:
                write.replace(change.path, change.before)
        raise


@dataclass
class _Round:
    """One round: the files as they are now, the findings whose fix was applied, the others."""

    sources: dict[str, Source] = field(default_factory=dict)
    applied: list[Finding] = field(default_factory=list)
    refused: dict[Key, str] = field(default_factory=dict)
    blocks: dict[str, frozenset[str]] = field(default_factory=dict)


def _apply(
    project: Project,
    findings: Sequence[Finding],
    config: Config,
    known: _Known | None = None,
    left: Mapping[str, tuple[Span, ...]] = {},
) -> _Round:
    """Apply the fixes of `findings`, each in all of its files or in none.

    A device that only one block uses is defined there, in the files of which it is known what is
    `left` in them.
    """
    known = {} if known is None else known
    pending = list(findings)
    refused: dict[Key, str] = {}
    done: dict[str, tuple[list[Fix], _Rewrite]] = {}  # a file is redone when its fixes change
    while pending:
        by_path: dict[str, list[Fix]] = {}
        for finding in pending:
            for path in _paths(finding):
                by_path.setdefault(path, []).append(_fix(finding))
        reasons: dict[Fix, str] = {}
        lent = _lent(project, map(_fix, pending))
        for path, fixes in by_path.items():
            if path not in done or done[path][0] != fixes:
                names = lent.get(path, frozenset())
                imported = path in project.importers or project.is_package(path)
                around = rewrite.Surroundings(imported, names, left[path]) if path in left else None
                done[path] = fixes, _rewrite(project, path, fixes, config, known, around)
            for fix, reason in done[path][1].refused.items():
                reasons.setdefault(fix, reason)
        if not reasons:
            break
        for finding in pending:
            if _fix(finding) in reasons:
                refused[key(finding)] = reasons[_fix(finding)]
        pending = [finding for finding in pending if _fix(finding) not in reasons]
    changed: dict[str, Source] = {}
    for path in dict.fromkeys(path for finding in pending for path in _paths(finding)):
        changed.update(done[path][1].sources)
    for path, text in rewrite.new_files(map(_fix, pending), project.style):
        if path in changed and path not in project.sources:  # with what each of the files needs
            changed[path] = source.from_text(text, path)
    blocks = {path: rewritten.blocks for path, (_, rewritten) in done.items() if path in changed}
    return _Round(changed, pending, refused, blocks)


@dataclass
class _Rewrite:
    """One file rewritten: it and the files that come with it, and the fixes left out, with why."""

    sources: dict[str, Source]
    refused: dict[Fix, str]
    blocks: frozenset[str] = frozenset()


def _lent(project: Project, fixes: Iterable[Fix]) -> dict[str, frozenset[str]]:
    """Return the names that some fixes import from files, by file."""
    found: dict[str, frozenset[str]] = {}
    for item in (each for fix in fixes for each in fix.imports if each.name is not None):
        module = item.module.lstrip(".")
        home = project.resolve(item.path, module, len(item.module) - len(module))
        if home is not None and item.name is not None:
            found[home] = found.get(home, frozenset()) | {item.name}
    return found


def _rewrite(
    project: Project,
    path: str,
    fixes: Sequence[Fix],
    config: Config,
    known: _Known,
    around: rewrite.Surroundings | None,
) -> _Rewrite:
    old = project.sources.get(path)
    if old is None:
        return _Rewrite({}, dict.fromkeys(fixes, f"{path} is not among the files to change"))
    asked = path, old.text, tuple(fixes), around
    if asked not in known:
        made = rewrite.rewrite(
            old,
            fixes,
            line_length=config.line_length,
            style=project.style,
            own=project.own_modules(path),
            around=around,
        )
        changed = made.text != old.text
        new = source.from_bytes(old.encode(made.text), path) if changed else None
        known[asked] = made, new
    rewritten, new = known[asked]
    sources = {}
    if new is not None:
        sources[path] = new
    refused = dict(rewritten.refused)
    for new_path, text in rewritten.new_files:
        if new_path in project.sources:
            continue
        if os.path.lexists(new_path):
            reason = f"{new_path} exists and is not among the files that were read"
            return _Rewrite({}, dict.fromkeys(fixes, reason) | refused)
        sources[new_path] = source.from_text(text, new_path)
    return _Rewrite(sources, refused, rewritten.blocks)


def _fix(finding: Finding) -> Fix:
    assert finding.fix is not None  # only findings with a fix are applied
    return finding.fix


def _settled(
    original: Project,
    project: Project,
    applied: Sequence[Finding],
    restless: Collection[str],
    config: Config,
) -> Outcome:
    """Return the outcome without the programs that still change after the last round."""
    kept: set[str] = set()  # files with their old bytes
    queue = list(restless)
    while queue:
        path = queue.pop()
        if path not in kept:
            kept.add(path)
            queue += project.programs.get(path, ())
            for finding in applied:
                paths = _paths(finding)
                if path in paths:
                    queue += paths
    sources = {
        path: original.sources.get(path) if path in kept else changed
        for path, changed in project.sources.items()
    }
    kept_sources = (source for source in sources.values() if source is not None)
    project = project.like(kept_sources)
    applied = [finding for finding in applied if not kept & set(_paths(finding))]
    errors = [
        SourceError(path, f"{_RESTLESS}; it was left as it is")
        for path in sorted(restless)
        if path in original.sources
    ]
    remaining = check(project, config, whole=True)
    return Outcome(
        changes=_changes(original.sources, project.sources, applied),
        remaining=remaining,
        refused={key(finding): _RESTLESS for finding in remaining if kept & set(_paths(finding))},
        errors=[*original.errors, *errors],
        originals=original.sources,
        sources=project.sources,
        rounds=ROUNDS,
        converted=project.converted,
    )


def _changes(
    originals: Mapping[str, Source], sources: Mapping[str, Source], applied: Iterable[Finding]
) -> list[Change]:
    findings: dict[str, list[Finding]] = {}
    for finding in applied:
        for path in _paths(finding):
            findings.setdefault(path, []).append(finding)
    changes = []
    for path, now in sorted(sources.items()):
        old = originals.get(path)
        if old is None or old.text != now.text:
            before = None if old is None else old.encode(old.text)
            after = now.encode(now.text)
            changes.append(Change(path, before, after, tuple(findings.get(path, ()))))
    return changes


def _paths(finding: Finding) -> list[str]:
    """Return the existing files that the fix of `finding` changes."""
    fix = finding.fix
    if fix is None:
        return []
    items: tuple[Edit | Import | Resolver, ...] = (*fix.edits, *fix.imports, *fix.resolvers)
    return list(dict.fromkeys(item.path for item in items))


def _bytes_now(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(path, f"cannot be read: {error.strerror}") from None
