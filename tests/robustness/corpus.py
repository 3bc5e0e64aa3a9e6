"""Checks and fixes public projects in full: `python -m tests.robustness.corpus [FOLDER...]`.

Each folder is one project; without any, those of tests/ecosystem are fetched. It is copied, fixed
with all fixes, and fixed again. Reports a crash, more than a second of the processor for each file
(and a minute in all), a second run that changes something, a result that Python cannot parse, and
a line that is changed though no edit of a finding is about it. Exit code 1 if there is any.

Seconds and lines a second are of one process for the first fix, its check included.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from samedevice.migration import migrate
from samedevice.reading.config import Config
from tests.ecosystem import fetch

from .limit import limit

LEAST = 60  # seconds for a project
UNSAFE = Config(unsafe=True)


@dataclass
class Report:
    """What came of one project."""

    name: str
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    findings: int = 0
    changed: int = 0
    errors: int = 0
    failures: list[str] = field(default_factory=list)


def strays(outcome: migrate.Outcome) -> Iterator[str]:
    """Yield lines that were changed or removed though no edit is about them.

    Edits bring imports, which may join one that is there, and leave names that nothing uses any
    more, whose assignments go.
    """
    for change in outcome.changes:
        old, new = outcome.originals.get(change.path), outcome.sources[change.path]
        if old is None:
            continue
        spans = [edit.span for finding in change.findings if finding.fix is not None
                 for edit in finding.fix.edits if edit.path == change.path]  # fmt: skip
        used = {node.id for node in ast.walk(new.tree) if isinstance(node, ast.Name)}
        for node in ast.walk(old.tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            dead = any(isinstance(one, ast.Name) and one.id not in used for one in targets)
            if dead or isinstance(node, (ast.Import, ast.ImportFrom)):
                spans.append(old.span(node))
        meant = {line for span in spans for line in range(span.line, span.end_line + 1)}
        before, after = old.text.split("\n"), new.text.split("\n")
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for kind, start, end, *_ in matcher.get_opcodes():
            if kind in ("replace", "delete"):
                for line in range(start, end):
                    text = before[line].strip()
                    if text and line + 1 not in meant:
                        yield f"{change.path}:{line + 1}: no edit is about it: {text}"


def examine(folder: Path) -> Report:
    """Fix a copy of one project, twice."""
    report = Report(folder.name)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "project")
        ignore = shutil.ignore_patterns(".git")
        shutil.copytree(folder, copy, symlinks=True, ignore=ignore, copy_function=_code)
        try:
            _fix(copy, report)
        except Exception:
            report.failures.append(traceback.format_exc(limit=-6))
        report.failures = [text.replace(temporary + "/", "") for text in report.failures]
    return report


def _code(source: str, target: str) -> None:
    if source.endswith((".py", ".ipynb", ".toml", ".cfg", ".txt", ".gitignore")):
        shutil.copyfile(source, target)


def _fix(copy: Path, report: Report) -> None:
    for turn in range(2):
        began = time.process_time()
        with limit(LEAST + report.files):
            project = migrate.read([str(copy)], UNSAFE)
            if not turn:
                report.files = len(project.sources)
                report.lines = sum(one.text.count("\n") for one in project.sources.values())
        with limit(LEAST + report.files):
            outcome = migrate.migrate(project, UNSAFE)
        if turn:
            for change in outcome.changes:
                report.failures.append(f"{change.path}: a second run changes it")
            return
        report.seconds = time.process_time() - began
        report.findings, report.changed = len(outcome.found), len(outcome.changes)
        report.errors = len(outcome.errors)
        report.failures += [str(error) for error in outcome.errors if "rest" in str(error)]
        report.failures += strays(outcome)
        for change in outcome.changes:
            try:
                ast.parse(outcome.sources[change.path].text)
            except SyntaxError as error:
                report.failures.append(f"{change.path}: {error}")
        migrate.apply(outcome)


def main() -> int:
    """Work on all projects and print what fails, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--checkouts", type=Path, default=fetch.FOLDER)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    folders = options.folders or [
        fetch.fetch(project, options.checkouts) for project in fetch.listed()
    ]
    total: Counter[str] = Counter()
    slowest = Report("")
    with multiprocessing.Pool(options.jobs, _start, maxtasksperchild=1) as pool:
        for one in pool.imap_unordered(examine, folders):
            print(f"{one.name}: {one.lines:,} lines, {one.seconds:.1f} s", file=sys.stderr)
            for failure in one.failures:
                print(f"{one.name}: {failure}", flush=True)
            for name in ("files", "lines", "seconds", "findings", "changed", "errors"):
                total[name] += getattr(one, name)
            total["failures"] += len(one.failures)
            slowest = max(slowest, one, key=lambda report: report.seconds)
    print(
        f"{len(folders)} projects, {total['files']:,} files, {total['lines']:,} lines in "
        f"{total['seconds']:.0f} s: {total['findings']:,} findings, {total['changed']:,} files "
        f"changed, {total['errors']} that cannot be worked on, {total['failures']} failures; the "
        f"slowest took {slowest.seconds:.0f} s: {slowest.name}"
    )
    return int(total["failures"] > 0)


def _start() -> None:
    warnings.simplefilter("ignore")  # what Python says about the projects' own strings


if __name__ == "__main__":
    sys.exit(main())
