"""`samedevice init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .changes import confirmed, show_diff
from .errors import CLEAN, FOUND, exit_codes, fail
from .help import Command
from .project import cache_of, read, settings
from .root import app
from .screen import count, looked_at, say, tell_errors, working

_PACKAGE = "samedevice"


@app.command(cls=Command, short_help="Set a project up: settings, baseline, pre-commit and CI.")
@exit_codes
def init(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The project.")] = ".",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    package: Annotated[
        str, typer.Option(metavar="PACKAGE", help="What pip installs in CI, such as a git URL.")
    ] = _PACKAGE,
) -> int:
    """Look at a project, and write what it lacks: settings, a baseline, pre-commit and CI files.

    What is there stays as it is. It shows a diff and asks, as `fix` does.
    """
    from . import initial

    if yes and diff:
        fail("--yes and --diff cannot be used together")
    if not Path(folder).is_dir():
        fail(f"{folder}: there is no such folder")
    if any(character in package for character in "\"'\\\n"):
        fail(f"--package {package}: it has characters that cannot be quoted")
    try:
        plan = initial.plan(Path(folder), package, _baseline(folder))
    except OSError as error:
        fail(f"{error.filename}: cannot be read: {error.strerror}")
    for line in plan.there:
        say(f"{line}: left as it is")
    if not plan.changes:
        say("nothing to write")
        return CLEAN
    ci = any(change.path.endswith((".yml", ".yaml")) for change in plan.changes)
    if not ci and not any(".y" in line or ".github" in line for line in plan.there):
        say("no pre-commit, GitHub or GitLab is used here: no file for them is written")
    if ci and package == _PACKAGE:
        say(
            f"note: {_PACKAGE} is not on PyPI yet; name where CI gets it: --package git+https://..."
        )
    if not yes:
        show_diff(plan.changes)
    if diff:
        return FOUND
    if not (yes or confirmed("Write these files?")):
        say("nothing was written")
        return FOUND
    for change in plan.changes:
        _write(change.path, change.after)
        say(f"{change.path} written")
    say(f"Next: samedevice check {folder}")
    return CLEAN


def _write(path: str, data: bytes) -> None:
    from ..migration import write

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write.replace(path, data)


def _baseline(folder: str) -> bytes | None:
    """Return the text of a baseline of what is wrong in a project now; None when nothing is."""
    import os
    from collections import Counter

    from ..migration import baseline
    from ..migration.check import check, is_wrong
    from . import initial

    config = settings([folder])
    project = read([folder], config)
    cache = cache_of(project, config)
    with working("checking", project) as step:
        findings = [one for one in check(project, config, step, cache=cache) if is_wrong(one)]
    cache.write()
    tell_errors(project.errors)
    files = looked_at(project.sources, project.errors)
    say(f"{count(len(findings), 'finding')} in {count(files, 'file')}")
    if not findings:
        return None
    named = baseline.Baseline(os.path.join(folder, initial.BASELINE))
    entries = Counter(entry for _, entry in named.named(findings, project.sources))
    return baseline.text(entries).encode()
