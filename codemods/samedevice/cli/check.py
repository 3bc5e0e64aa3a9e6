"""`samedevice check`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import CLEAN, FAILED, FOUND, exit_codes, fail
from .options import (
    Exclude,
    Format,
    Ignore,
    NoCache,
    Paths,
    Resolver,
    Safe,
    Select,
    UnsafeRule,
    Watch,
)  # fmt: skip
from .project import cache_of, read, settings, watched
from .root import app
from .screen import count, looked_at, make_console, tell_errors, working, write_report

if TYPE_CHECKING:
    from ..baseline import Compared
    from ..finding import Finding
    from ..project import Project
    from ..rules import Rule


@app.command(short_help="Report what is on the wrong device, and why.")
@exit_codes
def check(
    paths: Paths = None,
    format: Annotated[Format, typer.Option(help="The form of the report.")] = Format.text,
    report: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT=FILE",
            help="Write the report to a file, too: sarif=findings.sarif (repeat it).",
        ),
    ] = None,
    select: Select = None,
    ignore: Ignore = None,
    safe: Safe = None,
    unsafe_rule: UnsafeRule = None,
    exclude: Exclude = None,
    resolver: Resolver = "",
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Leave out the findings listed in this file.", show_default=False
        ),
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="List the findings of now in that file.")
    ] = False,
    prune_baseline: Annotated[
        bool, typer.Option("--prune-baseline", help="Take out of that file what was repaired.")
    ] = False,
    no_cache: NoCache = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            show_default="one for each core",
            help="Processes for a large project.",
        ),
    ] = None,
    watch: Watch = False,
) -> int:
    """Report what is on the wrong device, and why; changes none of the code and runs none of it."""
    if watch:
        return watched(paths or ["."], exclude, check, {**locals(), "watch": False})
    from .. import baseline as baseline_
    from .. import check as check_
    from .. import parallel
    from ..report import text

    paths = paths or ["."]
    reports = [_named_report(given) for given in report or ()]
    config = settings(paths, select, ignore, safe, unsafe_rule, exclude, resolver)
    config = config.with_flags(baseline=baseline)
    if write_baseline and prune_baseline:
        fail("--write-baseline and --prune-baseline exclude each other")
    if (write_baseline or prune_baseline) and (not config.baseline or "-" in paths):
        fail("a baseline is for files, and its own is named by --baseline FILE or in the settings")
    old = baseline_.Baseline("")
    if config.baseline and not write_baseline:
        old = baseline_.read(config.baseline)
    rules = check_.select(config)
    project = read(paths, config)
    cache = None if no_cache or "-" in paths else cache_of(project, config)
    with working("checking", project) as step:
        findings = check_.check(
            project, config, step, cache=cache, processes=jobs or parallel.cores()
        )
    if cache is not None:
        cache.write()
    errors = project.errors
    if write_baseline or prune_baseline:
        done = baseline_.update(config, findings, project, paths, add=write_baseline)
        tell_errors(errors)
        typer.echo(done, err=True)
        return FAILED if errors else CLEAN
    compared = old.compare(findings, project, paths, config)
    findings = compared.new
    wrong = any(map(check_.is_wrong, findings))
    for form, path in reports:
        write_report(path, _dump(form, findings, project, rules))
    if format is not Format.text:
        typer.echo(_dump(format, findings, project, rules), nl=False)
    else:
        text.show(make_console(), findings, project.sources)
        tell_errors(errors)
        _summary(findings, looked_at(project.sources, errors))
        _tell_baseline(compared)
    return FAILED if errors else FOUND if wrong else CLEAN


GONE = 10  # repaired findings of a baseline that are listed


def _named_report(given: str) -> tuple[Format, str]:
    """Return the form and the file of `--report FORMAT=FILE`."""
    form, _, path = given.partition("=")
    forms = [known.value for known in Format if known is not Format.text]
    if form not in forms or not path:
        fail(f"--report {given}: expected FORMAT=FILE with {', '.join(forms)}")
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        fail(f"--report {given}: there is no folder {folder}")
    return Format(form), path


def _dump(
    format: Format, findings: Sequence[Finding], project: Project, rules: Mapping[str, Rule]
) -> str:
    """Return a report for a program, with a newline at its end if it has any line."""
    from ..report import github, gitlab, json, sarif

    errors = project.errors
    match format:
        case Format.json:
            dumped = json.dump(findings, errors, project.sources)
        case Format.sarif:
            dumped = sarif.dump(findings, errors, rules)
        case Format.gitlab:
            dumped = gitlab.dump(findings, errors, project.sources)
        case _:
            dumped = github.dump(findings, errors)
    return f"{dumped}\n" if dumped else ""


def _summary(findings: Sequence[Finding], files: int) -> None:
    """Print what `check` found, in one line."""
    from ..check import is_wrong

    wrong = [finding for finding in findings if is_wrong(finding)]
    fixes = [finding.fix for finding in wrong if finding.fix]
    safe = sum(fix.safe for fix in fixes)
    if not files:
        return  # as was told
    if not wrong:
        notes = f" ({count(len(findings), 'note')})" if findings else ""
        typer.echo(f"nothing wrong in {count(files, 'file')}{notes}", err=True)
        return
    line = f"{count(len(wrong), 'finding')} in {count(files, 'file')}"
    if safe:
        line += f"; `samedevice fix` repairs {safe}"
    if safe < len(fixes):
        line += f"; `samedevice fix --unsafe` repairs {len(fixes)}"
    typer.echo(line, err=True)


def _tell_baseline(compared: Compared) -> None:
    """Print what the baseline kept out of the report, and which of its entries are gone."""
    if compared.old:
        typer.echo(f"{count(len(compared.old), 'older finding')} in the baseline", err=True)
    if compared.gone:
        entries = count(compared.gone.total(), "finding")
        typer.echo(f"{entries} of the baseline gone (see --prune-baseline):", err=True)
    listed = sorted(compared.gone.elements())
    for entry in listed[:GONE]:
        typer.echo(f"  {entry.path} [{entry.rule}] {entry.code}", err=True)
    if len(listed) > GONE:
        typer.echo(f"  and {len(listed) - GONE:,} more", err=True)
