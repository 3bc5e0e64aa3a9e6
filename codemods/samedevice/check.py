"""Project x rules -> findings in reading order, minus suppressed ones."""

from __future__ import annotations

import difflib
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from . import places, rules
from .config import Config, ConfigError
from .finding import Finding
from .places import Solution
from .project import Project
from .rules import Rule
from .source import Source
from .suppress import Suppressions

Step = Callable[[int], None]
"""Is told how many more files are done, often 0; what it raises ends the check."""

#: Characters of code after whose inference what is left of it is collected.
_GARBAGE = 1_000_000

#: Programs whose solution is kept, for questions about the files that are being edited.
_SOLUTIONS = 4


class Memory:
    """What was found in a project's programs, for the next `check` of the same files.

    A program (`Project.programs`: files connected by imports) is judged by itself: what is found
    in it depends on the settings, on which files the project has, on what was asked of the
    resolver, and on the texts of the program's files. Only one that differs is judged again.
    """

    def __init__(self) -> None:
        self._about: object = None
        self._known: dict[frozenset[str], tuple[dict[str, Source], list[Finding]]] = {}
        self._solutions: dict[frozenset[str], Solution] = {}

    def begin(self, project: Project, config: Config) -> None:
        """Forget what was found with other settings or for other files."""
        about = config, tuple(project.sources), project.asks
        if about != self._about:
            self._about, self._known, self._solutions = about, {}, {}

    def recall(self, project: Project, program: frozenset[str]) -> list[Finding] | None:
        """Return what was found in a program; None when it has changed since."""
        known = self._known.get(program)
        if known is None or any(project.sources[path] is not known[0][path] for path in program):
            return None
        return known[1]

    def keep(self, program: frozenset[str], solution: Solution, found: list[Finding]) -> None:
        """Remember what was found in a program and, for the last few, why."""
        sources = {path: solution.project.sources[path] for path in program}
        self._known[program] = sources, found
        old = self._solutions.pop(program, None)
        self._solutions[program] = solution
        if old is None and len(self._solutions) > _SOLUTIONS:
            old = self._solutions.pop(next(iter(self._solutions)))
        if old is not None:
            old.release()

    def solution(self, project: Project, program: frozenset[str]) -> Solution:
        """Return where everything in a program lives, inferred if it is not known any more.

        It is good until the next `check`.
        """
        known = self._solutions.get(program)
        if known is None or any(
            known.project.sources[path] is not project.sources[path] for path in program
        ):
            known = places.infer(project, program)
        return known

    def end(self, project: Project) -> None:
        """Forget the programs that are none any more."""
        now = set(project.programs.values())
        self._known = {program: known for program, known in self._known.items() if program in now}


def check(
    project: Project,
    config: Config,
    step: Step = lambda files: None,
    memory: Memory | None = None,
) -> list[Finding]:
    """Return what is wrong in `project`; files that do not parse end up in `project.errors`.

    With a `memory`, only programs that changed since its last use are looked at. Raises
    `ConfigError` when the settings name a rule that does not exist.
    """
    selected = select(config)
    if memory is not None:
        memory.begin(project, config)
    with _no_collection():
        findings = _findings(project, config, selected, step, memory)
    return sorted(findings, key=lambda finding: (finding.path, finding.span, finding.rule))


def _findings(
    project: Project,
    config: Config,
    selected: dict[str, Rule],
    step: Step,
    memory: Memory | None,
) -> list[Finding]:
    suppressions = Suppressions(project.sources)
    findings: list[Finding] = []
    for part in project.parts():
        kept = memory if part is project else None  # the trees of a large project are not kept
        programs = _programs(part, step)
        gc.freeze()  # trees hold no circles: no collection needs to look at them
        garbage = 0
        for program in programs:
            found = kept.recall(project, program) if kept is not None else None
            if found is None:
                solution = places.infer(part, program, step)
                found = list(_found(solution, selected, suppressions, config))
                if kept is not None:
                    kept.keep(program, solution, found)
                del solution
                garbage += sum(len(part.sources[path].text) for path in program)
                if garbage > _GARBAGE:
                    gc.collect()  # scopes and functions refer to each other
                    garbage = 0
            findings += found
            step(len(program))
        if kept is not None:
            kept.end(project)
        if part is not project:
            del part
            gc.collect()
    return findings


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collect garbage only when told to: what a check makes is many objects that stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def _programs(part: Project, step: Step) -> list[frozenset[str]]:
    """Return the files that are judged together, which parses those about torch."""
    about = part.about_torch
    for path in about:
        part.tree(path)
        step(0)
    return list(dict.fromkeys(part.programs[path] for path in about))


def _found(
    solution: Solution, selected: dict[str, Rule], suppressions: Suppressions, config: Config
) -> Iterator[Finding]:
    for rule in selected.values():
        for found in rule.find(solution):
            finding = suppressions.apply(_with_safety(found, config))
            if finding is not None:
                yield finding


def select(config: Config) -> dict[str, Rule]:
    """Return the rules that `config` selects; raises `ConfigError` for one that does not exist."""
    known = rules.load()
    for name in (*config.select, *config.ignore, *config.safe, *config.unsafe_rule):
        if name not in known:
            raise ConfigError(unknown_rule(name, known))
    return {
        name: rule
        for name, rule in known.items()
        if name not in config.ignore and (not config.select or name in config.select)
    }


def unknown_rule(name: str, known: dict[str, Rule]) -> str:
    """Return the message for a rule that does not exist, with the name that may be meant."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else "`samedevice rules` lists them"
    return f"there is no rule {name}; {hint}"


def is_wrong(finding: Finding) -> bool:
    """Tell whether a finding asks for action: a note only says what was seen and left alone."""
    return finding.level != "note"


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
