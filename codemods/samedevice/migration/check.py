"""Project x rules -> findings in reading order, minus suppressed ones."""

from __future__ import annotations

import ast
import difflib
import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from .. import inference, repair, rules
from ..finding import Finding
from ..inference import Solution
from ..inference.focus import ProgramSummary, Target
from ..inference.missing import Missing
from ..inference.tally import by_file, tally
from ..reading import source
from ..reading.config import Config, ConfigError
from ..reading.patterns import Matching
from ..reading.project import PART, Imported, Project
from ..reading.source import Source, SourceError
from ..reading.suppress import Suppressions
from ..rules import Rule, cuda_not_judged
from ..rules._scripted import WORD, compiles
from ..verify.beside import Told, told
from . import parallel
from .cache import Cache
from .earlier import Earlier

Step = Callable[[int], None]
"""Called with how many more files are done, often 0; what it raises ends the check."""

Quick = Callable[
    [Project, frozenset[str], Config, Earlier, Step],
    "tuple[list[Finding], dict[Target, int]] | None",
]
"""What is found in a program, and how many values of each definition have a known place, by what
was found in other texts of it; None where only a whole inference can tell."""

#: Garbage is collected each time so many characters of code have been inferred.
_GARBAGE = 1_000_000
#: A part with fewer lines is judged faster than a process for it starts.
_WORTHWHILE = 25_000


@dataclass(frozen=True)
class Seen:
    """What was found in a program, from which texts, and what its parts say of each other.

    The last is known of what was inferred in this process only.
    """

    sources: dict[str, Source]
    findings: list[Finding]
    rest: ProgramSummary | None


class Memory:
    """What was found in a project's programs, for the next `check` of the same files.

    A program (`Project.programs`: files connected by imports) is judged by itself: what is found
    in it depends on the settings, on which files the project has, on what was asked of the
    resolver, and on the texts of the program's files. Only one that differs is judged again.
    """

    #: Whether the inference has to know what arrives at expressions.
    watches = False
    #: Whether it takes from a cache what the parts of a program say of each other.
    compares = True

    def __init__(self) -> None:
        self._about: object = None
        self._known: dict[frozenset[str], Seen] = {}
        self._imports: dict[str, tuple[str, list[Imported]]] = {}  # with the text that has them
        self._whole: Project | None = None

    def begin(self, project: Project, config: Config) -> None:
        """Forget what was found with other settings or for other files."""
        if not self.is_about(project, config):
            self._about, self._known = (config, tuple(project.sources), project.asks), {}
        self._whole = project

    def is_about(self, project: Project, config: Config) -> bool:
        """Tell whether what is known is of the same files under the same settings."""
        return self._about == (config, tuple(project.sources), project.asks)

    def seen(self, program: frozenset[str]) -> Seen | None:
        """Return what was found in a program, in texts that may be others by now."""
        return self._known.get(program)

    def recall(self, project: Project, program: frozenset[str]) -> list[Finding] | None:
        """Return what was found in a program; None when it has changed since."""
        known = self.seen(program)
        if known is None or any(
            project.sources[path].text != known.sources[path].text for path in program
        ):
            return None
        return known.findings

    def tell_imports(self, part: Project) -> None:
        """Tell a part of the project what its unchanged files import, so that none is parsed."""
        for path in part.about_torch:
            text, imported = self._imports.get(path, ("", None))
            if imported is not None and text == part.sources[path].text:
                part.imported[path] = imported

    def learn_imports(self, part: Project) -> None:
        """Remember what the files of a part import."""
        for path, imported in part.imported.items():
            self._imports[path] = part.sources[path].text, imported

    def keep(
        self,
        project: Project,
        program: frozenset[str],
        found: list[Finding],
        solution: Solution,
        beside: Told | None,
    ) -> None:
        """Remember what an inference tells of a program."""
        self.learn(project, program, found, repair.rest(solution))

    def learn(
        self,
        project: Project,
        program: frozenset[str],
        found: list[Finding],
        rest: ProgramSummary | None = None,
    ) -> None:
        """Remember what was found in a program."""
        assert self._whole is not None
        sources = {path: self._whole.sources[path] for path in program}  # no trees of a part
        self._known[program] = Seen(sources, found, rest)

    def end(self, programs: Collection[frozenset[str]]) -> None:
        """Forget what is no program any more."""
        gone = self._known.keys() - programs
        for program in gone:
            del self._known[program]


def check(
    project: Project,
    config: Config,
    step: Step = lambda files: None,
    memory: Memory | None = None,
    cache: Cache | None = None,
    processes: int = 1,
    *,
    whole: bool = False,
    placed: dict[str, int] | None = None,
    quick: Quick | None = None,
) -> list[Finding]:
    """Return what is wrong in the files of `project` that were named.

    Files that do not parse end up in `project.errors`. With a `memory` or a `cache`, only programs
    that changed since its last use are looked at. The parts of a project that is large enough to
    have some are judged in that many `processes`. `whole`: what is wrong in the files that are
    only read is told, too. `quick` judges programs that the cache knows with other texts. `placed`
    takes how many values of each file have a known place. Raises
    `ConfigError` when the settings name a rule that does not exist.
    """
    selected = select(config)
    if memory is not None:
        memory.begin(project, config)
    with no_collection():
        judge = _Judge(project, config, selected, step, memory, cache, quick, placed is not None)
        findings = judge.parts(processes)
    if placed is not None:
        placed.update(by_file(judge.placed))
    return in_reading_order(findings if whole else named(project, findings))


def named(project: Project, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in the files of a project that were named."""
    return [finding for finding in findings if finding.path not in project.context]


def in_reading_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by file, place and rule."""
    return sorted(findings, key=lambda finding: (finding.path, finding.span, finding.rule))


class _Judge:
    """One check of a project, part by part."""

    def __init__(
        self,
        project: Project,
        config: Config,
        selected: dict[str, Rule],
        step: Step = lambda files: None,
        memory: Memory | None = None,
        cache: Cache | None = None,
        quick: Quick | None = None,
        counts: bool = False,
    ) -> None:
        """With `counts`, `placed` has how many values of each definition have a known place."""
        self._project = project
        self._config = config
        self._selected = selected
        self._step = step
        self._memory = memory
        self._cache = cache
        self._quick = quick
        self._counts = counts
        self.placed: dict[Target, int] = {}
        self._suppressions = Suppressions(project.sources, config.per_file_ignores)

    def parts(self, processes: int) -> list[Finding]:
        """Return what is found in all parts."""
        findings: list[Finding] = []
        waiting: list[Project] = []
        all_programs: set[frozenset[str]] = set()
        for part in self._project.parts(self._limit(processes)):
            programs = self._programs(part, parse=processes < 2 or part is self._project)
            if programs is None:
                waiting.append(part)
                continue
            findings += self.part(part, programs)
            all_programs.update(programs)
            if part is not self._project:
                del part
                gc.collect()
        if len(waiting) == 1:  # no process is faster than this one
            part = waiting.pop()
            findings += self.part(part, self._programs(part, parse=True) or [])
        if waiting:
            findings += self._elsewhere(waiting, processes)
        if self._memory is not None:
            self._memory.end(all_programs)
        return findings

    def _limit(self, processes: int) -> int:
        """Return how many lines a part may have: with several processes, some for each of them."""
        if processes < 2:
            return PART
        return min(PART, max(_WORTHWHILE, self._project.lines // processes + 1))

    def _programs(self, part: Project, parse: bool) -> list[frozenset[str]] | None:
        """Return the files that are judged together; those about torch are parsed for it.

        Without `parse`, None when something is to be judged that the cache does not know.
        """
        about = part.about_torch
        if self._cache is not None:
            self._cache.tell_imports(part)
        if self._memory is not None:
            self._memory.tell_imports(part)
        if not parse and any(path not in part.imported for path in about):
            return None
        for path in about:
            if path not in part.imported:
                part.tree(path)
            self._step(0)
        programs = list(dict.fromkeys(part.programs[path] for path in about))
        if self._memory is not None:
            self._memory.learn_imports(part)
        if self._cache is not None:
            self._cache.learn_imports(part)
            if not parse and not all(self._cache.knows(part, program) for program in programs):
                return None
        return programs

    def part(self, part: Project, programs: Sequence[frozenset[str]]) -> list[Finding]:
        """Return what is found in the programs of a part."""
        findings: list[Finding] = []
        memory = self._memory
        gc.freeze()  # trees hold no circles: no collection needs to look at them
        garbage = 0
        for program in programs:
            within = _Within(self._step, len(program))
            found = self._known(part, program, memory)
            if found is None:
                watch = self._cache is not None or (memory is not None and memory.watches)
                solution = inference.infer(part, program, within.step, watch=watch)
                given = self._selected, self._config, self._suppressions
                found = list(judged(solution, *given, within.step))
                found += self._suppressions.unused(sorted(program), self._selected, rules.load())
                beside = told(part, program, found, solution) if watch else None
                placed = tally(solution) if self._counts or self._cache is not None else {}
                self.placed |= placed
                if self._cache is not None and beside is not None:
                    compares = self._quick is not None or memory is not None and memory.compares
                    keeps = compares and self._cache.keeps_texts(part, program)
                    rest = repair.rest(solution) if keeps else None
                    self._cache.keep(part, program, found, beside, placed, rest)
                if memory is not None:
                    memory.keep(part, program, found, solution, beside)
                solution.release()
                del solution
                garbage += sum(len(part.sources[path].text) for path in program)
                if garbage > _GARBAGE:
                    gc.collect()  # values may hold themselves
                    garbage = 0
            findings += found
            within.end()
        return findings

    def _known(
        self, part: Project, program: frozenset[str], memory: Memory | None
    ) -> list[Finding] | None:
        found = memory.recall(part, program) if memory is not None else None
        if found is None and self._cache is not None:
            found = self._cache.recall(part, program)
            if found is not None and memory is not None:
                rest = self._cache.rest(part, program) if memory.compares else None
                memory.learn(part, program, found, rest)
            if found is not None:
                self.placed |= self._cache.placed(part, program)
        if found is None and self._quick is not None and self._cache is not None:
            earlier = self._cache.earlier(part, program)
            seen = earlier and self._quick(part, program, self._config, earlier, self._step)
            if seen:
                found, placed = seen
                self.placed |= placed
        return found

    def _elsewhere(self, parts: Sequence[Project], processes: int) -> list[Finding]:
        """Return what other processes find in parts; what they could not do is done here."""
        findings: list[Finding] = []
        keeps = self._cache is not None
        texts = keeps and self._quick is not None
        jobs = [_Job(tuple(part.sources), part.asks, self._config, keeps, texts) for part in parts]
        told: Counter[int] = Counter()

        def tell(job: _Job, files: int) -> None:
            told[jobs.index(job)] += files
            self._step(files)

        for job, done in parallel.spread(_judge, jobs, processes, tell):
            number = jobs.index(job)
            part = parts[number]
            if done is None:
                self._step(-told[number])
                programs = self._programs(part, parse=True)
                findings += self.part(part, programs or [])
                continue
            self._project.errors += done.errors
            part._broken.update(error.path for error in done.errors)
            part.imported.update(done.imported)
            self.placed |= done.placed
            for program, found, beside, rest in done.found:
                findings += found
                if self._cache is not None and beside is not None:
                    placed = {at: n for at, n in done.placed.items() if at[0] in program}
                    self._cache.keep(part, program, found, beside, placed, rest)
            self._step(sum(len(program) for program, *_ in done.found) - told[number])
            if self._cache is not None:
                self._cache.learn_imports(part)
        return findings


class _Within:
    """Tells of the files of one program, of which at most all are done, and all at the end."""

    def __init__(self, step: Step, files: int) -> None:
        self._step, self._left = step, files

    def step(self, files: int) -> None:
        """Take that so many more files are done."""
        files = min(files, self._left)
        self._left -= files
        self._step(files)

    def end(self) -> None:
        """Take that all are."""
        self.step(self._left)


@dataclass(frozen=True)
class _Job:
    """A part of a project for another process; what is told beside is kept, or not.

    `texts`: so are the texts of larger programs.
    """

    paths: tuple[str, ...]
    asks: tuple[str, tuple[int, int], tuple[Matching, ...]]
    config: Config
    keeps: bool
    texts: bool


@dataclass(frozen=True)
class _Done:
    """What another process found, program by program."""

    found: list[tuple[frozenset[str], list[Finding], Told | None, ProgramSummary | None]]
    placed: dict[Target, int]
    errors: list[SourceError]
    imported: dict[str, list[Imported]]


class _Beside(Memory):
    """Takes down what is told of programs beside what is found."""

    def __init__(self, watches: bool, texts: bool) -> None:
        super().__init__()
        self.watches, self._texts = watches, texts
        self.told: dict[frozenset[str], tuple[Told | None, ProgramSummary | None]] = {}

    def keep(
        self, project: Project, program: frozenset[str], found: list[Finding], solution: Solution,
        beside: Told | None,
    ) -> None:  # fmt: skip
        """Take down what an inference tells of a program."""
        keeps = self._texts and Cache.keeps_texts(project, program)
        self.told[program] = beside, repair.rest(solution) if keeps else None


def _judge(job: _Job) -> _Done | None:
    """Judge a part in this process; None when a file is not there any more."""
    try:
        part = Project([source.read(path) for path in job.paths], *job.asks)
    except SourceError:
        return None
    beside = _Beside(job.keeps, job.texts)
    judge = _Judge(part, job.config, select(job.config), _tell, beside, counts=True)
    with no_collection():
        programs = judge._programs(part, parse=True) or []
        found = [(program, judge.part(part, [program])) for program in programs]
    nothing = None, None
    done = [(program, findings, *beside.told.get(program, nothing)) for program, findings in found]
    return _Done(done, judge.placed, part.errors, part.imported)


def _tell(files: int) -> None:
    if files:
        parallel.tell(files)


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect garbage only when asked to: a check makes many objects that stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def judged(
    solution: Solution,
    selected: dict[str, Rule],
    config: Config,
    suppressions: Suppressions | None = None,
    step: Step = lambda files: None,
) -> Iterator[Finding]:
    """Yield what rules find in a solution, as far as no comment switches it off.

    `step` is called before each rule.
    """
    suppressions = suppressions or Suppressions(solution.project.sources, config.per_file_ignores)
    sources = suppressions.sources
    found: list[Finding] = []
    spoken: list[Finding] = []

    def tree_of(path: str) -> ast.Module | None:
        return sources[path].tree if WORD in sources[path].text else None

    for rule in selected.values():
        step(0)
        spoken += rule.find(solution)
    for rule in selected.values():
        step(0)
        if rule.rest is not None and rule.after <= selected.keys():
            spoken += rule.rest(solution, spoken)
    for each in spoken:
        kept = suppressions.apply(_with_safety(compiles(tree_of, each), config))
        if kept is not None:
            found.append(kept)
    for each, lacking in zip(found, solution.incomplete(found), strict=True):
        told = _incomplete(each, lacking)
        yield replace(told, level="warning") if is_style(told) and asked(told, config) else told


def select(config: Config) -> dict[str, Rule]:
    """Return the rules that `config` selects; raises `ConfigError` for one that does not exist."""
    known = rules.load()
    named = (*config.select, *config.extend_select, *config.ignore, *config.safe)
    by_file = (rule for setting in config.per_file_ignores for rule in setting.rules)
    for name in (*named, *config.unsafe_rule, *by_file):
        if name not in known:
            where = dict(config.named_in).get(name)
            raise ConfigError((f"{where}: " if where else "") + unknown_rule(name, known))
    wanted = (*config.select, *config.extend_select) if config.select else known
    return {name: known[name] for name in known if name in wanted and name not in config.ignore}


def is_style(finding: Finding) -> bool:
    """Tell whether a finding is about how right code is written."""
    known = rules.load().get(finding.rule)
    return known is not None and known.style and not is_wrong(finding)


def asked(finding: Finding, config: Config) -> bool:
    """Tell whether the user asks for what a rule finds by the rule's name."""
    return finding.rule in config.select or finding.rule in config.extend_select


def unknown_rule(name: str, known: dict[str, Rule]) -> str:
    """Return the message for a rule that does not exist, with the name that may be meant."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else "`samedevice rules` lists them"
    return f"there is no rule {name}; {hint}"


def _incomplete(finding: Finding, missing: Missing) -> Finding:
    """Leave a part of a conversion to the user: a program moves to the device whole or not at all.

    It ran on the CPU, and with some of it on the device it would run nowhere else.
    """
    if finding.fix is None or not finding.fix.safe or not missing.places:
        return finding
    places = missing.places
    shown = ", ".join(places[:3]) + (", ..." if len(places) > 3 else "")
    reason = (
        f"incomplete: {shown} is not decided or has no repair; "
        f'`samedevice fix --run "{missing.script}"` finds out by running the program'
    )
    return replace(finding, fix=replace(finding.fix, safe=False, reason=reason, missing=places))


def is_wrong(finding: Finding) -> bool:
    """Tell whether a finding asks for action: a note only says what was seen and left alone."""
    return finding.level != "note"


def may_stop(finding: Finding) -> bool:
    """Tell whether a note says that the program may stop: on a machine without CUDA, or where a
    repair was withheld."""
    return not is_wrong(finding) and (
        finding.rule == cuda_not_judged.RULE or finding.fix is not None
    )


def _with_safety(finding: Finding, config: Config) -> Finding:
    """Apply the settings that promote a rule's fixes to safe or demote them to unsafe."""
    if finding.fix is None:
        return finding
    if finding.rule in config.unsafe_rule:
        reason = finding.fix.reason or "the settings say so"
        return replace(finding, fix=replace(finding.fix, safe=False, reason=reason))
    if finding.rule in config.safe:
        return replace(finding, fix=replace(finding.fix, safe=True))
    return finding
