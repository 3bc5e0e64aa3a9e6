"""Files under paths -> what `modernize` would do to them, as an Outcome like that of `fix`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...finding import Finding, Span
from ...reading import files, reader, source
from ...reading.config import Config
from ...reading.project import Project
from ...reading.source import Source, SourceError
from ..migrate import Change, Outcome, Track
from . import modernize

RULE = "python2"
"""The name that changes and notes of this package bear where rules have theirs."""


@dataclass
class Plan:
    """What would be written, and what to look at by hand afterwards.

    `outcome.sources` are all files that could be read, those that changed in their new form.
    `waiting` are files that Python 3 parses and that use names it does not have: they change with
    `everything` only.
    """

    outcome: Outcome
    notes: list[Finding]
    waiting: list[str]


def plan(
    paths: Sequence[str],
    config: Config,
    everything: bool = False,
    track: Track = lambda paths, _: paths,
) -> Plan:
    """Read the files under `paths` and convert those that Python 3 cannot parse.

    Nothing is written or run. Raises `SourceError` when Bowler is needed and cannot be imported.
    """
    found = files.find(paths, config.exclude)
    result = Plan(Outcome([], [], {}, found.errors, {}, {}, 1), [], [])
    for path in track(found.paths, "reading"):
        try:
            old = source.read(path)
        except SourceError as error:
            result.outcome.errors.append(error)
            continue
        result.outcome.originals[path] = result.outcome.sources[path] = old
        _convert(old, everything, result)
    if result.outcome.changes and not everything:
        result.waiting += _waiting(result.outcome)
    return result


def _convert(old: Source, everything: bool, result: Plan) -> None:
    try:
        done = modernize(old.text, old.path, everything)
    except ImportError as error:
        raise SourceError(
            old.path,
            f"this needs {error.name}, which is not installed: pip install 'samedevice[modernize]'",
        ) from None
    except OSError as error:  # fissix writes its grammar's tables when it is first imported
        why = f"fissix cannot write its cache: {error.strerror}: {error.filename}"
        raise SourceError(old.path, f"{why}; set XDG_CACHE_HOME to a folder that it can") from None
    result.outcome.errors += [SourceError(old.path, why, line) for line, why in done.errors]
    if done.text == old.text:
        return
    try:
        data = old.encode(done.text)
        new = source.from_bytes(data, old.path)
    except SourceError as error:
        result.outcome.errors.append(error)
        return
    findings = tuple(_finding(old.path, line, what) for line, what in done.changes)
    result.outcome.changes.append(Change(old.path, old.encode(old.text), data, findings))
    result.outcome.sources[old.path] = new
    result.notes += [_finding(old.path, line, what) for line, what in done.notes]


def _finding(path: str, line: int, what: str) -> Finding:
    return Finding(path, Span(line, 0, line, 0), RULE, what, level="note")


def _waiting(outcome: Outcome) -> Iterable[str]:
    """Yield the files beside the changed ones that only `everything` would change."""
    changed = {change.path for change in outcome.changes}
    for path, text in outcome.sources.items():
        if path not in changed and modernize(text.text, path, everything=True).text != text.text:
            yield path


def project(outcome: Outcome, config: Config, paths: Sequence[str]) -> Project:
    """Return the project that an outcome leaves behind, without the files that do not parse.

    What the files under `paths` import is read as it is.
    """
    broken = {error.path for error in outcome.errors}
    sources = [text for path, text in outcome.sources.items() if path not in broken]
    return reader.with_imports(paths, sources, config, [])


def then(first: Outcome, second: Outcome) -> Outcome:
    """Return one outcome for two in a row: `second` began with the sources that `first` made.

    Findings keep their lines, those of `second` in the text between the two.
    """
    old = {change.path: change.before for change in first.changes}
    reasons = {change.path: change.findings for change in first.changes}
    changes = {change.path: change for change in first.changes}
    for change in second.changes:
        changes[change.path] = replace(
            change,
            before=old.get(change.path, change.before),
            findings=reasons.get(change.path, ()) + change.findings,
        )
    return replace(
        second,
        changes=[changes[path] for path in sorted(changes)],
        errors=first.errors + second.errors,
        originals={**second.originals, **first.originals},
    )
