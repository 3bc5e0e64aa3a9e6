"""Project x what was found before -> what is found where the texts have changed since.

A user who types wants an answer at once, and an edit of one definition changes what is found
there; what it changes elsewhere may take the whole program to see. So only what has changed is
judged here, by all the code that calls it. The same units of the text before are judged, too: where
they found what the whole found, and say of all other code what they said then, what the whole found
elsewhere holds. Otherwise it does nearly always, and `check` has the last word.

A later run of `check` judges what has changed in the same way, where that holds (`since`), and
where values of one definition live is asked of its callers only (`close_up`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from .. import inference
from ..finding import Finding
from ..inference.focus import Definitions, PartialAnalysis, ProgramSummary, Target
from ..inference.observed import Before, Observed, joined, observed
from ..inference.tally import tally
from ..inference.trace import Trace, trace
from ..reading import lines, source
from ..reading.config import Config
from ..reading.project import Project
from .check import Memory, Seen, Step, in_reading_order, judged, no_collection, select
from .earlier import Earlier
from .touched import Change

#: A comment with this word may leave findings alone; one that does not is told of by a whole check.
_SUPPRESSION = "samedevice"
#: What names a line in words.
_LINE = re.compile(r"\blines? \d")
#: The share of a program's work of which a glance is worth it while somebody types, and later.
_MOST, _SMALL = 0.5, 0.2
#: The share of callers that are asked where the values of one definition live.
_NEAR = 0.05


@dataclass(frozen=True)
class Glance:
    """What is wrong, judged where the texts have changed; the fixes of what moved are left out.

    `is_whole`: nothing was seen that would make a whole check say anything else.
    """

    findings: list[Finding]
    is_whole: bool


class Glances:
    """What glances at the same units look at once only, and how far they have come.

    A glance compares with texts of which the whole is known. These are what a whole check has seen
    or, while somebody types on, what a glance has that stands for one: so what a glance looks at
    is the definition that is typed into, and not all that has changed since.
    """

    def __init__(self) -> None:
        self._before: tuple[Seen, object, _Judged] | None = None
        self._part: tuple[frozenset[str], Project] | None = None
        self._base: tuple[Seen, Seen] | None = None
        self._last: tuple[Seen, frozenset[Target], Seen] | None = None

    def base(self, seen: Seen) -> Seen:
        """Return what the next glance compares with, in place of what a whole check has seen."""
        return self._base[1] if self._base is not None and self._base[0] is seen else seen

    def latest(self, seen: Seen) -> Seen:
        """Return what the last glance has seen if it stands for a whole check, else the base."""
        is_known = self._last is not None and self._last[0] is seen
        return self._last[2] if self._last is not None and is_known else self.base(seen)

    def is_elsewhere(self, seen: Seen, definitions: frozenset[Target]) -> bool:
        """Tell whether somebody types elsewhere than the last glance has looked.

        Then what that has seen is what the next ones compare with.
        """
        if self._last is None or self._last[0] is not seen or self._last[1] == definitions:
            return False
        self._base, self._last = (seen, self._last[2]), None
        return True

    def keep(self, seen: Seen, definitions: frozenset[Target], now: Seen | None) -> None:
        """Remember what a glance has seen; None where it does not stand for a whole check."""
        self._last = (seen, definitions, now) if now is not None else None

    def part(self, project: Project, program: frozenset[str]) -> Project:
        """Return the project that a program is judged in: of a large one, a part."""
        if not project.is_large():
            return project
        sources = [project.sources[path] for path in project.ordered(program)]
        known = self._part
        if known is not None and known[0] == program and known[1].asks == project.asks:
            part = known[1].replaced(sources)
        else:
            part = project.like(sources)
        self._part = program, part
        return part

    def before(self, seen: Seen, asked: object, judge: Callable[[], _Judged]) -> _Judged:
        """Return what is judged of units in texts of which the whole was seen."""
        known = self._before
        if known is None or known[0] is not seen or known[1] != asked:
            known = self._before = seen, asked, judge()
        return known[2]


def glance(
    project: Project,
    config: Config,
    memory: Memory,
    glances: Glances,
    step: Step = lambda files: None,
) -> Glance | None:
    """Return what is wrong in `project`, judged only where it differs from what `memory` has seen.

    None where that is nothing, or where to judge it would take as long as `check` does.
    """
    if not memory.is_about(project, config):
        return None
    memory.tell_imports(project)
    findings: list[Finding] = []
    differs, is_whole = False, True
    with no_collection():
        for program in dict.fromkeys(project.programs[path] for path in project.about_torch):
            seen = memory.seen(program)
            if seen is None:
                return None
            changed = _changed(project, program, seen)
            if not changed:
                findings += seen.findings
                continue
            if seen.rest is None or any(project.tree(path) is None for path in changed):
                return None
            looked = _looked(project, config, program, seen, glances, step)
            if looked is None:
                return None
            differs = True
            is_whole = is_whole and looked.is_whole
            findings += looked.findings
    if not differs:
        return None
    return Glance(in_reading_order(findings), is_whole)


def _looked(
    project: Project, config: Config, program: frozenset[str], seen: Seen, glances: Glances,
    step: Step,
) -> Glance | None:  # fmt: skip
    """Return what is wrong in a program that differs from what a whole check has seen."""
    part = glances.part(project, program)

    def look_from(base: Seen) -> _Look:
        assert base.rest is not None
        changed = _changed(project, program, base)
        return _Look(part, config, program, base, base.rest, changed, step)

    look = look_from(glances.base(seen))
    if glances.is_elsewhere(seen, look.definitions):
        look = look_from(glances.base(seen))
    if look.is_large():
        return None
    now, elsewhere = look.now(), look.elsewhere()
    is_whole = look.is_whole(now, elsewhere, glances)
    found = look.corrected(now.touched, glances) + look.around(elsewhere, now, glances)
    sources = {path: project.sources[path] for path in program}
    rest = replace(look.rest, callers=now.callers)
    glances.keep(seen, look.definitions, Seen(sources, found, rest) if is_whole else None)
    return Glance(found, is_whole)


def close_up(
    project: Project,
    config: Config,
    memory: Memory,
    glances: Glances,
    path: str,
    line: int,
    step: Step = lambda files: None,
) -> Trace | None:
    """Return where values live in the definition that a line of a file is in.

    Of its callers, and of all that differs from what `memory` has seen, those are asked that do
    little work. None where only a whole check can tell.
    """
    if not memory.is_about(project, config) or path not in project.programs:
        return None
    memory.tell_imports(project)
    program = project.programs[path]
    seen = memory.seen(program)
    if seen is not None:
        seen = glances.latest(seen)
    if seen is None or seen.rest is None:
        return None
    changed = _changed(project, program, seen)
    if any(project.tree(each) is None for each in (path, *changed)):
        return None
    part = glances.part(project, program)
    here = path, Definitions.of(part.tree(path)).at(line)
    look = _Look(part, config, program, seen, seen.rest, changed, step)
    return look.close_up(here)


def _changed(project: Project, program: frozenset[str], seen: Seen) -> list[str]:
    """Return the files of a program that differ from what was seen."""
    return [
        path
        for path in program
        if project.sources[path] is not seen.sources[path]
        and project.sources[path].text != seen.sources[path].text
    ]


def since(
    project: Project,
    program: frozenset[str],
    config: Config,
    earlier: Earlier,
    step: Step = lambda files: None,
) -> tuple[list[Finding], dict[Target, int]] | None:
    """Return what is wrong in a program that an earlier run has seen with other texts.

    And how many values of each definition have a known place. None where a whole check may say
    anything else, or is as fast.
    """
    texts = earlier.kept.texts
    changed = [path for path in program if project.sources[path].text != texts[path]]
    if any(path.endswith(".ipynb") or project.tree(path) is None for path in changed):
        return None
    sources = {path: source.from_text(texts[path], path) for path in changed}
    seen = Seen(sources, earlier.findings, earlier.kept.rest)
    look = _Look(project, config, program, seen, earlier.kept.rest, changed, step)
    if not look.is_promising() or look.is_large(_SMALL):
        return None
    elsewhere = look.carried()
    if elsewhere is None:
        return None
    now, then = look.now(), look.then()
    placed = _placed(look.definitions, earlier.placed, then.placed, now.placed)
    if (
        placed is None
        or not look.is_same(now, then)
        or _repaired(then.touched) != _repaired(now.touched)
        or _repaired(then.elsewhere) != _repaired(now.elsewhere)
        or _repaired(then.touched) != _repaired(filter(look.was_in, seen.findings))
    ):
        return None
    return [*now.touched, *elsewhere], placed


def _placed(
    changed: frozenset[Target], whole: Mapping[Target, int], then: Mapping[Target, int],
    now: Mapping[Target, int],
) -> dict[Target, int] | None:  # fmt: skip
    """Return how many values have a known place now; None where parts have seen other ones."""
    others = [
        {target: number for target, number in part.items() if target not in changed}
        for part in (then, now)
    ]
    if others[0] != others[1]:
        return None
    if any(then.get(target, 0) != whole.get(target, 0) for target in changed):
        return None
    found = {target: number for target, number in whole.items() if target not in changed}
    return found | {target: number for target, number in now.items() if target in changed}


@dataclass(frozen=True)
class _Judged:
    """What some units find in code that an edit touches, and elsewhere; what else they say of that.

    What they find `elsewhere` is where it was before the edit, and in their texts it is `beside`.
    `placed` are the values with a known place, and `callers` all that evaluate code of a
    definition, by now.
    """

    touched: list[Finding]
    beside: list[Finding]
    elsewhere: list[Finding]
    observed: Observed
    placed: dict[Target, int]
    callers: Mapping[Target, frozenset[Target]]


class _Look:
    """A look at the units of a program that changed texts make anew, and at their callers."""

    def __init__(
        self, project: Project, config: Config, program: frozenset[str], seen: Seen,
        rest: ProgramSummary, changed: Iterable[str], step: Step,
    ) -> None:  # fmt: skip
        self._project, self._config, self._program = project, config, program
        self._seen, self.rest, self._step = seen, rest, step
        self._changes = {
            path: Change.between(seen.sources[path], project.sources[path]) for path in changed
        }
        self.definitions = frozenset(
            (path, name) for path, change in self._changes.items() for name in change.names
        )
        callers = (rest.callers.get(target, frozenset()) for target in self.definitions)
        self._units = self.definitions.union(*callers)

    def is_large(self, share: float = _MOST) -> bool:
        """Tell whether these units are more than a share of what the program does."""
        work = self.rest.work
        return sum(work.get(unit, 0) for unit in self._units) > share * sum(work.values())

    def now(self) -> _Judged:
        """Judge the units in the texts of now."""
        changes = self._changes

        def before(path: str, line: int) -> int | None:
            change = changes.get(path)
            if change is None:
                return line
            return None if _is_in(change.ranges, line) else change.lines_before.get(line, -line)

        return self._judged(self._project, before)

    def close_up(self, here: Target) -> Trace:
        """Follow the values of a definition, in the texts of now, and of those units with room."""
        work, callers = self.rest.work, self.rest.callers.get(here, frozenset())
        room = _NEAR * sum(work.values())
        units = {here}
        others = callers | self._units
        for unit in sorted(others - units, key=lambda each: (work.get(each, 0), each)):
            room -= work.get(unit, 0)
            if room < 0:
                break
            units.add(unit)
        focus = PartialAnalysis(frozenset(units), self.definitions | {here}, self.rest)
        return trace(self._project, self._program, step=self._step, focus=focus)

    def is_promising(self) -> bool:
        """Tell whether only what functions do has changed, and no comment that findings heed."""
        changes, seen = self._changes, self._seen
        return all(change.in_bodies for change in changes.values()) and not any(
            _SUPPRESSION in text
            for path, change in changes.items()
            for text in (
                *_texts(seen.sources[path].text, change.ranges_before),
                *_texts(self._project.sources[path].text, change.ranges),
            )
        )

    def is_whole(self, now: _Judged, elsewhere: list[Finding], glances: Glances) -> bool:
        """Tell whether nothing is seen that makes what is `elsewhere` another, or that is lost."""
        if not self.is_promising() or self._tells_lines():
            return False
        were = [one for one in self._seen.findings if not self.was_in(one)]
        return _origins(were) == _origins(elsewhere) and self.is_same(now, self._before(glances))

    def _tells_lines(self) -> bool:
        """Tell whether something found elsewhere tells in words of a line that is another now."""
        shifted = {
            path
            for path, change in self._changes.items()
            if any(line != now for line, now in change.lines.items())
        }
        return any(
            one.path in shifted and not self.was_in(one) and any(map(_LINE.search, _words(one)))
            for one in self._seen.findings
        )

    def corrected(self, touched: list[Finding], glances: Glances) -> list[Finding]:
        """Return what is found in what the edit touches, without what is owed to the look itself.

        Where these units told another thing of the text before than the whole did, they do so of
        the text of now.
        """
        tables = {path: change.lines for path, change in self._changes.items()}
        were = list(lines.moved(filter(self.was_in, self._seen.findings), tables))
        if _keys(were) == _keys(touched):
            return touched
        then = _keys(lines.moved(self._before(glances).touched, tables))
        wrong, now = then - _keys(were), _keys(touched) | then
        return [
            *(one for one in touched if _key(one) not in wrong),
            *(one for one in were if _key(one) not in now),
        ]

    def _before(self, glances: Glances) -> _Judged:
        """Return what the units say of the texts of before, which is judged once."""
        ranges = {path: change.ranges_before for path, change in self._changes.items()}
        return glances.before(self._seen, (self._units, ranges), self.then)

    def then(self) -> _Judged:
        """Judge the units in the texts of before."""
        changes, sources = self._changes, self._seen.sources

        def before(path: str, line: int) -> int | None:
            change = changes.get(path)
            return None if change is not None and _is_in(change.ranges_before, line) else line

        project = self._project.replaced(
            [sources.get(path, text) for path, text in self._project.sources.items()]
        )
        return self._judged(project, before)

    def is_same(self, now: _Judged, then: _Judged) -> bool:
        """Tell whether these units found before what the whole did, and say the same of others."""
        return (
            _told(then.touched) == _told(filter(self.was_in, self._seen.findings))
            and _told(then.elsewhere) == _told(now.elsewhere)
            and then.observed == now.observed
        )

    def carried(self) -> list[Finding] | None:
        """Return what was found in code that no edit touches, with its fixes, where it is now.

        None where something of it was in lines that differ, or is told by its line.
        """
        tables = {path: change.lines for path, change in self._changes.items()}
        shifted = {
            path.rpartition("/")[2] + ":"
            for path, table in tables.items()
            if any(line != now for line, now in table.items())
        }
        if self._tells_lines():
            return None
        found = []
        for one in self._seen.findings:
            if not self.was_in(one):
                kept = lines.carried(one, tables)
                if kept is None or any(name in text for text in _words(one) for name in shifted):
                    return None
                found.append(kept)
        return found

    def elsewhere(self) -> list[Finding]:
        """Return what was found in code that no edit touches, where it is now."""
        tables = {path: change.lines for path, change in self._changes.items()}
        found = (one for one in self._seen.findings if not self.was_in(one))
        return list(lines.moved(found, tables))

    def around(self, elsewhere: list[Finding], now: _Judged, glances: Glances) -> list[Finding]:
        """Return what is `elsewhere`, as far as these units say of it what they said before.

        Code that calls what was edited may be wrong now, or right, or can be repaired no more.
        """
        paths = {one.path for one in now.beside}
        known = {_shown(one) for one in elsewhere if one.path in paths}
        new = [one for one in now.beside if _shown(one) not in known]
        if not new and not self.is_promising():  # then the texts of before were not judged yet
            return elsewhere
        tables = {path: change.lines for path, change in self._changes.items()}
        then = set(map(_shown, lines.moved(self._before(glances).elsewhere, tables)))
        come = [one for one in new if _shown(one) not in then]
        gone = then.difference(map(_shown, now.beside))
        left = [one for one in elsewhere if _shown(one) not in gone] if gone else elsewhere
        return left + come

    def was_in(self, finding: Finding) -> bool:
        """Tell whether something was found in what an edit touches."""
        change = self._changes.get(finding.path)
        return change is not None and _is_in(change.ranges_before, finding.span.line)

    def _judged(self, project: Project, before: Before) -> _Judged:
        focus = PartialAnalysis(self._units, self.definitions, self.rest)
        solution = inference.infer(project, self._program, self._step, focus)
        found = list(judged(solution, select(self._config), self._config, step=self._step))
        seen, placed, callers = observed(solution, before), tally(solution), joined(solution)
        solution.release()
        touched = [one for one in found if before(one.path, one.span.line) is None]
        back = {
            path: change.lines_before if project is self._project else {}
            for path, change in self._changes.items()
        }
        tables = {path: table for path, table in back.items() if table}
        others = [one for one in found if before(one.path, one.span.line) is not None]
        elsewhere = list(lines.moved(others, tables, fixes=True))
        return _Judged(touched, others, elsewhere, seen, placed, callers)


def _is_in(ranges: Iterable[tuple[int, int]], line: int) -> bool:
    return any(first <= line <= last for first, last in ranges)


def _texts(text: str, ranges: Iterable[tuple[int, int]]) -> list[str]:
    """Return some lines of a text."""
    split = text.split("\n")
    return ["\n".join(split[first - 1 : last]) for first, last in ranges]


def _origins(findings: Iterable[Finding]) -> list[int]:
    return [len(one.origins) for one in findings]


def _words(finding: Finding) -> tuple[str, ...]:
    """Return the texts of a finding that may name a line."""
    fix = finding.fix
    texts = finding.message, finding.unfixed, *(origin.text for origin in finding.origins)
    return texts if fix is None else (*texts, fix.reason, *fix.missing)


def _repaired(findings: Iterable[Finding]) -> list[tuple[object, ...]]:
    """Return how findings are repaired, whatever their lines are."""
    return sorted(
        (
            one.path, one.rule, one.message, fix.safe, fix.reason, fix.missing, fix.last,
            fix.erasure, repr(fix.types), repr(fix.imports), repr(fix.resolvers),
            [(edit.path, edit.verb, edit.args) for edit in fix.edits],
        )
        for one in findings
        if (fix := one.fix) is not None
    )  # fmt: skip


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.path, finding.span, finding.rule, finding.message


def _shown(finding: Finding) -> tuple[object, ...]:
    return *_key(finding), finding.unfixed


def _keys(findings: Iterable[Finding]) -> set[tuple[object, ...]]:
    return set(map(_key, findings))


def _told(findings: Iterable[Finding]) -> list[tuple[object, ...]]:
    """Return what people are told of findings."""
    return sorted(
        (one.path, one.span, one.rule, one.message, one.origins, one.unfixed, one.level)
        for one in findings
    )
