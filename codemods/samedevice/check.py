"""Project x rules -> findings in reading order, minus suppressed ones."""

from __future__ import annotations

import difflib
import gc
from collections.abc import Callable
from dataclasses import replace

from . import places, rules
from .config import Config, ConfigError
from .finding import Finding
from .project import Project
from .rules import Rule
from .suppress import Suppressions

Step = Callable[[int], None]
"""Is told how many more files are done."""


def check(project: Project, config: Config, step: Step = lambda files: None) -> list[Finding]:
    """Return what is wrong in `project`; files that do not parse end up in `project.errors`.

    Raises `ConfigError` when the settings name a rule that does not exist.
    """
    selected = select(config)
    suppressions = Suppressions(project.sources)
    findings = []
    for part in project.parts():
        solution = places.infer(part)
        for rule in selected.values():
            for found in rule.find(solution):
                finding = suppressions.apply(_with_safety(found, config))
                if finding is not None:
                    findings.append(finding)
        step(len(part.sources))
        if part is not project:
            del solution
            gc.collect()  # scopes and functions refer to each other
    return sorted(findings, key=lambda finding: (finding.path, finding.span, finding.rule))


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
