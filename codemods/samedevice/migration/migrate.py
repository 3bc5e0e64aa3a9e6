"""check -> rewrite -> check again until quiet; all of it in memory, then written at once.

A fix is applied in all of its files or in none. A program whose changes do not become stable keeps
its old bytes, and an error says so.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import rewrite, verify
from ..finding import Finding, Span
from ..reading.config import Config
from ..reading.project import Project
from ..reading.reader import Track as Track
from ..reading.reader import read as read
from ..reading.seen import Seen
from ..reading.source import Source, SourceError
from ..verify.groups import Groups
from .applying import Known, Round, apply_fixes
from .cache import Cache
from .check import Memory, Step, check, is_style, is_wrong, named, no_collection
from .homes import Homes
from .originals import Originals
from .outcome import Change as Change
from .outcome import Key as Key
from .outcome import Outcome as Outcome
from .outcome import apply as apply
from .outcome import changes_of, fix_of, line_of, may_apply, paths_of
from .outcome import key as key
from .trials import Trials
from .withdrawing import BECAUSE, IDLE, withdraw

ROUNDS = 10
_AGAIN = 3  # rounds in a row that fix the same: so would all that follow
_RESTLESS = "its changes bring each other back, round after round"


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
    return _Migration(project, config, declined, step, Trials(project, memory, cache), cache).run()


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
    migration = _Migration(project, config, declined, step, trials, cache)
    outcome = migration.run()
    if not config.unsafe and any(one.fix and one.fix.missing for one in outcome.remaining):
        decided = replace(config, decided_by_run=True)
        whole = replace(migration, config=decided).run()
        written = {change.path: change.after for change in outcome.changes}
        outcome.incomplete = [
            change for change in whole.changes if written.get(change.path) != change.after
        ]
    return outcome


class _Doubted(Exception):
    """Fixes that were applied although they move what may be no tensor, and all that were.

    At their places in the original files. None where what to withdraw is noted already.
    """

    def __init__(self, found: list[tuple[Finding, str]], applied: list[Finding]) -> None:
        super().__init__()
        self.found, self.applied = found, applied


@dataclass
class _Migration:
    """The fixes of a project, tried from the start again without those that have to go.

    `known` is what became of texts with some fixes, in all of its tries.
    """

    project: Project
    config: Config
    declined: Container[Key]
    step: Step
    trials: Trials
    cache: Cache | None
    known: Known = field(default_factory=dict)

    def run(self) -> Outcome:
        """Return the outcome of the first try of which nothing has to go."""
        restless: set[tuple[str, int]] = set()
        at_top: set[str] = set()  # files of which more than one block needs the device
        beyond: set[str] = set()
        places, groups = Homes(self.project), Groups(self.project, self.trials.bonds)
        with no_collection():
            while True:
                attempt = _Try(self, restless, places, at_top, groups)
                try:
                    outcome, again = attempt.run()
                except _Doubted as doubted:  # at once: what comes after such a fix is of no use
                    groups.withdraw(
                        [([finding], f"{BECAUSE}: {reason}") for finding, reason in doubted.found],
                        doubted.applied,
                    )
                    continue
                if not again <= restless:
                    restless |= again
                elif not withdraw(self.project, outcome, groups, self.config, beyond, self.trials):
                    users = [found for change in outcome.changes for found in change.findings]
                    users += (found for found in outcome.found if key(found) in self.declined)
                    if not places.settle(users):
                        break
        self._tell(outcome, groups, restless)
        outcome.beyond = sorted(beyond)
        return outcome

    def _tell(self, outcome: Outcome, groups: Groups, restless: Container[tuple[str, int]]) -> None:
        """Say why fixes were not applied, and which scripts stay as they are."""
        for finding in outcome.remaining:
            if finding.fix is not None:
                before = outcome.before(finding)
                if line_of(before) in restless:
                    outcome.refused.setdefault(key(finding), _RESTLESS)
                reason = groups.reason(before)
                if reason is not None:
                    outcome.refused.setdefault(key(finding), reason)
        context = self.project.context
        told = {finding.path for finding in filter(is_wrong, outcome.remaining)} | context
        told = told.union(change.path for change in outcome.changes)  # it does not stay as it is
        outcome.staying += (stays for stays in self.trials.staying() if stays.path not in told)
        outcome.context = context
        for findings in outcome.found, outcome.remaining:
            findings[:] = named(self.project, findings)


@dataclass
class _Try:
    """One try, in rounds: each finds what is wrong in the texts of the one before it, and fixes it.

    `restless` are the lines that are left alone, `at_top` the files of which more than one block
    needs the device; a try adds those that it comes upon. `project` is what the texts are by now,
    `applied` what was fixed, at its places in the original files, and `blocks` has for files those
    blocks that have a device of their own.
    """

    migration: _Migration
    restless: Container[tuple[str, int]]
    places: Homes
    at_top: set[str]
    groups: Groups
    project: Project = field(init=False)
    applied: list[Finding] = field(default_factory=list)
    blocks: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.project = self.migration.project

    def run(self) -> tuple[Outcome, set[tuple[str, int]]]:
        """Return the outcome, and the lines that were fixed in each of the last two rounds.

        Raises `_Doubted` for fixes that are of no use.
        """
        job = self.migration
        found: list[Finding] = []
        fixed: list[set[Key]] = []  # in each round
        self.places.begin()
        for rounds in range(ROUNDS + 1):
            checked = check(self.project, job.config, job.step, job.trials, job.cache, whole=True)
            findings = [self.places.of(finding) for finding in checked]
            if rounds == 0:
                found = findings
            elif outgrown := set(_outgrown(self.project, findings, self.blocks)):
                self.at_top |= outgrown
                raise _Doubted([], self.applied)
            back = Originals(job.project.sources, self.project.sources)
            wanted = [finding for finding in findings if self._is_wanted(finding, back)]
            if self._is_half(findings, wanted, back):
                raise _Doubted([], self.applied)
            result = self._round(findings, wanted, back)
            if not result.sources:
                return self._quiet(findings, result, rounds, found), set()
            made = set(result.applied)
            left = [one for one in checked if rounds == 0 and key(one) in job.declined]
            users = [one for one, here in zip(checked, findings, strict=True) if here in made]
            if self.places.foresee([*users, *left]):
                raise _Doubted([], self.applied)
            fixed.append({key(back.finding(finding)) for finding in result.applied})
            if rounds == ROUNDS or fixed[-_AGAIN:].count(fixed[-1]) == _AGAIN:
                break
            self._take(result, back)
        settled = self._settled(set(result.sources))
        lines = [{(path, line) for path, line, *_ in keys} for keys in fixed[-2:]]
        return replace(settled, found=found), set.intersection(*lines)

    def _is_wanted(self, finding: Finding, back: Originals) -> bool:
        """Tell whether a finding has a fix that may be applied, which nobody declined."""
        if finding.fix is None or not may_apply(finding.fix, self.migration.config):
            return False
        before = back.finding(finding)
        return key(before) not in self.migration.declined and line_of(before) not in self.restless

    def _is_half(
        self, findings: Sequence[Finding], wanted: Sequence[Finding], back: Originals
    ) -> bool:
        """Withdraw what makes half of some code run without CUDA, where that is certain by now.

        It is where no fix that comes next names a device: none of them gives a line without a
        repair one, so that the inference of their result would be made in vain.
        """
        groups = self.groups
        ready = [finding for finding in wanted if groups.reason(back.finding(finding)) is None]
        if not self.applied or not ready or any(fix_of(one).named_in() for one in ready):
            return False
        left = [
            finding
            for finding in findings
            if finding.fix is None or groups.reason(back.finding(finding)) is not None
        ]
        return groups.withdraw_halves(left, self.applied, self.project, back.line)

    def _round(
        self, findings: Sequence[Finding], wanted: Sequence[Finding], back: Originals
    ) -> Round:
        """Apply the fixes of those `wanted` that are not withdrawn.

        Those that would make half of some code run without CUDA are withdrawn before their result
        is inferred, as far as it is known by now that nobody repairs the rest. Raises `_Doubted`.
        """
        job, groups = self.migration, self.groups
        places = {finding: back.finding(finding) for finding in findings}
        while True:
            ready = [finding for finding in wanted if groups.reason(places[finding]) is None]
            called = _called_for(ready, self.applied)
            left_at = _left(self.project, findings, called, self.at_top)
            result = apply_fixes(self.project, called, job.config, job.known, left_at)
            if not result.sources:
                return result
            made = [places[finding] for finding in result.applied]
            doubted = list(job.trials.doubts(self.project, result.applied))
            if doubted:
                guilty = [(places[finding], reason) for finding, reason in doubted]
                raise _Doubted(guilty, [*self.applied, *made])
            left = [
                place
                for finding, place in places.items()
                if finding.fix is None or groups.reason(place) is not None
            ]
            if not groups.withdraw_halves(left, made):
                return result

    def _take(self, result: Round, back: Originals) -> None:
        """Go on from the texts that a round made."""
        self.applied += map(back.finding, result.applied)
        for path, names in result.blocks.items():
            self.blocks[path] = self.blocks.get(path, frozenset()) | names
        converted = self.project.converted.union(self.migration.trials.for_the_cpu(result.sources))
        self.project = self.project.replaced({**self.project.sources, **result.sources}.values())
        self.project.converted = converted

    def _quiet(
        self, findings: list[Finding], result: Round, rounds: int, found: list[Finding]
    ) -> Outcome:
        """Return the outcome where a round changes nothing more."""
        original = self.migration.project
        idle = {key(finding): IDLE for finding in result.applied}
        return Outcome(
            changes=changes_of(original.sources, self.project.sources, self.applied),
            remaining=findings,
            refused=result.refused | idle,
            errors=original.errors,
            originals=original.sources,
            sources=self.project.sources,
            rounds=rounds,
            found=found,
            converted=self.project.converted,
        )

    def _settled(self, restless: Collection[str]) -> Outcome:
        """Return the outcome without the programs that still change after the last round."""
        original, config = self.migration.project, self.migration.config
        kept: set[str] = set()  # files with their old bytes
        queue = list(restless)
        while queue:
            path = queue.pop()
            if path not in kept:
                kept.add(path)
                queue += self.project.programs.get(path, ())
                for finding in self.applied:
                    paths = paths_of(finding)
                    if path in paths:
                        queue += paths
        sources = {
            path: original.sources.get(path) if path in kept else changed
            for path, changed in self.project.sources.items()
        }
        kept_sources = (source for source in sources.values() if source is not None)
        project = self.project.like(kept_sources)
        applied = [finding for finding in self.applied if not kept & set(paths_of(finding))]
        errors = [
            SourceError(path, f"{_RESTLESS}; it was left as it is")
            for path in sorted(restless)
            if path in original.sources
        ]
        remaining = check(project, config, whole=True)
        undone = (finding for finding in remaining if kept & set(paths_of(finding)))
        return Outcome(
            changes=changes_of(original.sources, project.sources, applied),
            remaining=remaining,
            refused={key(finding): _RESTLESS for finding in undone},
            errors=[*original.errors, *errors],
            originals=original.sources,
            sources=project.sources,
            rounds=ROUNDS,
            converted=project.converted,
        )


def _called_for(ready: list[Finding], applied: Iterable[Finding]) -> list[Finding]:
    """Return fixes without those of a style in files where nothing else names the device."""
    others = [one for one in (*applied, *ready) if not is_style(one)]
    named = {path for one in others for path in fix_of(one).named_in()}
    return [one for one in ready if one.path in named or not is_style(one)]


def _outgrown(
    project: Project, findings: Sequence[Finding], blocks: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    """Yield the files in which a block has a device, and other code may need it, too."""
    for path, names in blocks.items():
        places = [each.span for each in findings if each.path == path and is_wrong(each)]
        if any(rewrite.wanted_outside(project.sources[path], name, places) for name in names):
            yield path


def _left(
    project: Project, findings: Sequence[Finding], called: Sequence[Finding], at_top: Container[str]
) -> dict[str, tuple[Span, ...]]:
    """Return where each file has something that is left in a round.

    But those of which more than one block needs the device.
    """
    ready = set(map(key, called))
    found: dict[str, tuple[Span, ...]] = {
        path: () for finding in called for path in paths_of(finding) if path not in at_top
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
    result = apply_fixes(project, findings, config)
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
    if project.context.intersection(paths_of(finding)):
        return None
    result = apply_fixes(project, [finding], config)
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
        changes=changes_of(outcome.originals, after.sources, applied),
        originals=outcome.originals,
        errors=outcome.errors,
    )


def after_fix(outcome: Outcome, config: Config, seen: Seen | None = None) -> Project:
    """Return the project as it is with the changes of `outcome`, and what runs saw of it."""
    return Project(outcome.sources.values(), *config.asks, context=outcome.context, seen=seen)
