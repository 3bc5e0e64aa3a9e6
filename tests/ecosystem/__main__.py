"""What a change of samedevice changes on public projects: `python -m tests.ecosystem OLD`.

Runs `check` and `fix --diff` of two versions of this repository, OLD and NEW (what lies here unless
given), on the projects of projects.toml, and writes a Markdown page of the findings and edits that
one has and the other has not, for who reviews the change. --record writes a second one, which tells
places and counts and nothing of what the projects' authors wrote, so that it may be kept. A project
is taken from --checkouts where it is there, and fetched otherwise. Nothing of it is executed or
changed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from .fetch import FOLDER, Pinned, fetch, listed

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 200  # lines of a project's differences

Finding = tuple[str, int, str, str]


@dataclass(frozen=True)
class Result:
    """What one version says about one project; `failure` is why it says nothing."""

    findings: frozenset[Finding] = frozenset()
    edits: tuple[tuple[str, tuple[str, ...]], ...] = ()  # by file: removed and added lines
    errors: frozenset[str] = frozenset()
    failure: str = ""


def package(revision: str, to: Path) -> Path:
    """Return a folder with the code of a revision, or of this working tree if it is ""."""
    if not revision:
        return ROOT / "codemods"
    packed = subprocess.run(
        ["git", "archive", revision, "codemods"], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(to / revision)
    return to / revision / "codemods"


def run(code: Path, project: Path, limit: float) -> Result:
    """Return what the samedevice in `code` says about a project."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPATH": str(code), "XDG_CACHE_HOME": cache}
        environment["COLUMNS"] = "1000"
        said = []
        for words in (["check", "--format", "json", "."], ["fix", "--diff", "."]):
            try:
                process = subprocess.run(
                    [sys.executable, "-m", "samedevice", *words],
                    cwd=project,
                    env=environment,
                    capture_output=True,
                    timeout=limit,
                )
            except subprocess.TimeoutExpired:
                return Result(failure=f"`{words[0]}` takes more than {limit:.0f} s")
            if b"Traceback" in process.stderr or process.returncode not in (0, 1, 2):
                last = process.stderr.decode(errors="replace").strip().splitlines()[-1:]
                return Result(failure=f"`{words[0]}`: {' '.join(last)}")
            said.append(process.stdout.decode(errors="replace"))
    document = json.loads(said[0])
    return Result(
        findings=frozenset(
            (one["path"], one["line"], one["rule"], one["message"]) for one in document["findings"]
        ),
        edits=tuple(edits(said[1])),
        errors=frozenset(f"{one['path']}: {one['message']}" for one in document["errors"]),
    )


def edits(diff: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each file of a diff and its changed lines."""
    path, lines = "", list[str]()
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            if path:
                yield path, tuple(lines)
            path, lines = line[4:].split("\t")[0].removeprefix("b/"), []
        elif line.startswith(("+", "-")) and not line.startswith("--- "):
            lines.append(line)
    if path:
        yield path, tuple(lines)


def difference(old: Result, new: Result, code: bool = True) -> list[str]:
    """Return the lines of a diff block that say what differs; none if nothing does.

    Without `code` there is nothing in them that the authors of the project wrote but its paths.
    """
    if old.failure or new.failure:
        both = ((sign, one.failure) for sign, one in (("-", old), ("+", new)))
        return [f"{sign} {failure}" for sign, failure in both if failure]
    lines = [f"- error: {one}" for one in sorted(old.errors - new.errors)]
    lines += [f"+ error: {one}" for one in sorted(new.errors - old.errors)]
    for sign, some in (("-", old.findings - new.findings), ("+", new.findings - old.findings)):
        lines += [
            f"{sign} {path}:{line}: {rule}" + (f": {text}" if code else "")
            for path, line, rule, text in sorted(some)
        ]
    before, after = dict(old.edits), dict(new.edits)
    for path in sorted({*before, *after}):
        gone = Counter(before.get(path, ())) - Counter(after.get(path, ()))
        come = Counter(after.get(path, ())) - Counter(before.get(path, ()))
        if gone or come:
            counts = f": {gone.total()} lines gone, {come.total()} new"
            lines.append(f"@@ edits of {path}" + ("" if code else counts))
            if code:
                lines += [f"- {line}" for line in gone.elements()]
                lines += [f"+ {line}" for line in come.elements()]
    return lines


def page(names: tuple[str, str], pairs: dict[str, tuple[Result, Result]], code: bool = True) -> str:
    """Return the Markdown page."""
    blocks, rows = [], []
    for name, (old, new) in pairs.items():
        lines = difference(old, new, code)
        if not lines:
            continue
        less, more = len(old.findings - new.findings), len(new.findings - old.findings)
        files = sum(line.startswith("@@") for line in lines)
        rows.append(f"| {name} | {less} | {more} | {files} |")
        cut = f"\n... and {len(lines) - SHOWN} lines more" if len(lines) > SHOWN else ""
        text = "\n".join(lines[:SHOWN]) + cut
        blocks.append(f"<details><summary>{name}</summary>\n\n````diff\n{text}\n````\n\n</details>")
    found = [sum(len(result[n].findings) for result in pairs.values()) for n in (0, 1)]
    edited = [sum(len(result[n].edits) for result in pairs.values()) for n in (0, 1)]
    same = len(pairs) - len(rows)
    failed = sum(bool(new.failure) and not old.failure for old, new in pairs.values())
    head = (
        f"# {names[0]} → {names[1]} on {len(pairs)} public projects\n\n"
        f"{found[0]:,} → {found[1]:,} findings; {edited[0]:,} → {edited[1]:,} files edited; "
        f"{same} projects are judged and edited as before; {failed} fail that did not.\n"
    )
    if not rows:
        return head
    table = ["| project | findings gone | findings new | files with other edits |",
             "| --- | --- | --- | --- |", *rows]  # fmt: skip
    return "\n".join([head, *table, "", *blocks]) + "\n"


def main() -> int:
    """Compare; exit code 1 if something that worked fails now."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", help="revision of this repository")
    parser.add_argument("new", nargs="?", default="", help="another one")
    parser.add_argument("--checkouts", type=Path, default=FOLDER)
    parser.add_argument("--only", default="", help="projects whose name has this in it")
    parser.add_argument("--first", type=int, help="so many projects only")
    parser.add_argument("--page", type=Path, help="written there instead of to the output")
    parser.add_argument("--record", type=Path, help="the page without what others wrote")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chosen = [project for project in listed() if options.only in project.name][: options.first]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.jobs) as pool:
        codes = [package(revision, Path(temporary)) for revision in (options.old, options.new)]

        def both(project: Pinned) -> tuple[Result, Result]:
            try:
                place = fetch(project, options.checkouts)
            except (subprocess.CalledProcessError, OSError) as error:
                failure = Result(failure=f"cannot be fetched: {error}")
                return failure, failure
            old, new = (run(code, place, options.limit) for code in codes)
            lines = len(difference(old, new))
            print(f"{project.name}: {lines} lines differ", file=sys.stderr, flush=True)
            return old, new

        compared = pool.map(both, chosen)
        pairs = {one.name: pair for one, pair in zip(chosen, compared, strict=True)}
    names = options.old, options.new or "the working tree"
    text = page(names, pairs)
    if options.record:
        options.record.write_text(page(names, pairs, code=False), "utf-8")
    if options.page:
        options.page.write_text(text, "utf-8")
    else:
        print(text)
    return int(any(new.failure and not old.failure for old, new in pairs.values()))


if __name__ == "__main__":
    sys.exit(main())
