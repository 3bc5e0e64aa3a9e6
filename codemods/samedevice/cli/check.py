"""`samedevice check`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from ..finding import UNDECIDED
from .errors import CLEAN, FAILED, FOUND, exit_codes, fail
from .help import BASELINE, OTHER, REPORTS, Command
from .options import (
    ConfigFile,
    Convert,
    Exclude,
    ExtendSelect,
    Format,
    Ignore,
    Isolated,
    NoCache,
    Paths,
    Quiet,
    Resolver,
    Safe,
    Select,
    StdinFilename,
    UnsafeRule,
    Verbose,
    Watch,
)  # fmt: skip
from .project import cache_of, read, settings, watched
from .root import app
from .screen import (
    Clock,
    count,
    listen,
    looked_at,
    make_console,
    say,
    tell_errors,
    unfollowed,
    working,
    write_report,
)  # fmt: skip

if TYPE_CHECKING:
    from ..finding import Finding
    from ..migration.baseline import Compared
    from ..reading.config import Config
    from ..reading.project import Project
    from ..report.edits import Edits
    from ..rules import Rule


@app.command(cls=Command, short_help="Report what is on the wrong device, and why.")
@exit_codes
def check(
    paths: Paths = None,
    format: Annotated[
        Format, typer.Option(help="The form of the report.", rich_help_panel=REPORTS)
    ] = Format.text,
    report: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT=FILE",
            rich_help_panel=REPORTS,
            help="Also write a report to a file: sarif=findings.sarif (repeat it).",
        ),
    ] = None,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics",
            help="Print how often each rule found something.",
            rich_help_panel=REPORTS,
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    exit_zero: Annotated[
        bool,
        typer.Option(
            "--exit-zero",
            help="Exit with 0 even when something was found.",
            rich_help_panel=REPORTS,
        ),
    ] = False,
    select: Select = None,
    extend_select: ExtendSelect = None,
    ignore: Ignore = None,
    safe: Safe = None,
    unsafe_rule: UnsafeRule = None,
    resolver: Resolver = "",
    exclude: Exclude = None,
    convert: Convert = None,
    config_file: ConfigFile = "",
    isolated: Isolated = False,
    stdin_filename: StdinFilename = "",
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Leave out the findings listed in this file.",
            show_default=False,
            rich_help_panel=BASELINE,
        ),
    ] = None,
    write_baseline: Annotated[
        bool,
        typer.Option(
            "--write-baseline",
            help="Write today's findings to that file.",
            rich_help_panel=BASELINE,
        ),
    ] = False,
    prune_baseline: Annotated[
        bool,
        typer.Option(
            "--prune-baseline",
            help="Remove repaired findings from that file.",
            rich_help_panel=BASELINE,
        ),
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
            help="How many processes a large project may use.",
            rich_help_panel=OTHER,
        ),
    ] = None,
    undecided: Annotated[
        bool,
        typer.Option(
            "--undecided",
            help="List the values whose device is unknown.",
            rich_help_panel=REPORTS,
        ),
    ] = False,
    watch: Watch = False,
) -> int:
    """Report what is on the wrong device, and why.

    Changes none of the code and runs none of it.
    """  # fmt: skip
    listen(quiet, verbose)
    paths = paths or ["."]
    config = settings(
        paths, select=select, extend_select=extend_select, ignore=ignore, safe=safe,
        unsafe_rule=unsafe_rule, exclude=exclude, convert=convert, resolver=resolver,
        baseline=baseline, file=config_file, isolated=isolated, stdin_filename=stdin_filename,
    )  # fmt: skip
    if watch:
        return watched(paths, config, check, {**locals(), "watch": False})
    if write_baseline and prune_baseline:
        fail("--write-baseline and --prune-baseline cannot be used together")
    if (write_baseline or prune_baseline) and (not config.baseline or "-" in paths):
        fail("a baseline is for files: name it by --baseline FILE or in the settings")
    if statistics and format is not Format.text:
        fail("--statistics cannot be used with --format")
    reports = [_named_report(given) for given in report or ()]
    checked = _Checked(
        config, paths, stdin_filename, cached=not no_cache, jobs=jobs, baseline=not write_baseline
    )
    if write_baseline or prune_baseline:
        return checked.update_baseline(add=write_baseline)
    compared = checked.compared
    for form, path in reports:
        write_report(path, _dump(form, compared.new, checked))
    if format is not Format.text:
        typer.echo(_dump(format, compared.new, checked), nl=False)
    else:
        _show(checked, statistics, undecided)
    if {Format.json, Format.sarif} & {format, *(form for form, _ in reports)}:
        checked.tell_left_out()
    found = FOUND if checked.wrong and not exit_zero else CLEAN
    return FAILED if checked.project.errors else found


class _Checked:
    """A project, what was found in it, and how that compares with the baseline."""

    def __init__(
        self,
        config: Config,
        paths: Sequence[str],
        stdin: str,
        *,
        cached: bool,
        jobs: int | None,
        baseline: bool,
    ) -> None:
        from ..migration import baseline as baseline_
        from ..migration import check, glance, parallel

        self.config, self.paths = config, paths
        self._old = baseline_.Baseline("")
        if baseline and config.baseline:
            self._old = baseline_.read(config.baseline)
        self.rules: Mapping[str, Rule] = check.select(config)
        clock = Clock()
        self.project: Project = read(paths, config, stdin)
        clock.tell("read", count(len(self.project.named), "file"))
        cache = cache_of(self.project, config) if cached and "-" not in paths else None
        self._placed: dict[str, int] = {}
        with working("checking", self.project) as step:
            found = check.check(
                self.project, config, step, cache=cache, processes=jobs or parallel.cores(),
                placed=self._placed, quick=glance.since, whole=True,
            )  # fmt: skip
        self.findings = check.named(self.project, found)
        self._found = found
        if cache is not None:
            cache.write()
        clock.tell("checked", f"with {count(len(self.rules), 'rule')}")

    @cached_property
    def compared(self) -> Compared:
        """What of the findings is new."""
        return self._old.compare(self.findings, self.project, self.paths, self.config)

    @cached_property
    def edits(self) -> Edits:
        """What the fixes change, one by one."""
        from ..report.edits import Edits

        return Edits(self.project, self.config)

    @property
    def placed(self) -> dict[str, int]:
        """How many values of each file that was named have a known place."""
        return {path: n for path, n in self._placed.items() if path not in self.project.context}

    @cached_property
    def beyond(self) -> dict[str, int]:
        """How many findings the files have that are imported by those that were named."""
        from ..migration.check import is_wrong

        imported = self.project.imported_by_named() if self.project.context else ()
        found = (one.path for one in self._found if is_wrong(one) and one.path in imported)
        return dict(Counter(found))

    @property
    def wrong(self) -> bool:
        """Whether a new finding asks for action."""
        from ..migration.check import is_wrong

        return any(map(is_wrong, self.compared.new))

    def tell_left_out(self) -> None:
        """Say which files have more findings than edits of their fixes in a report."""
        from ..report.place import printable

        for path, number in self.edits.left_out.items():
            say(
                f"{printable(path)} has so many findings that {number:,} of their fixes are "
                "reported without edits: `samedevice fix --diff` has them"
            )

    def update_baseline(self, *, add: bool) -> int:
        """Rewrite the baseline; return the exit code."""
        from ..migration import baseline

        done = baseline.update(self.config, self.findings, self.project, self.paths, add=add)
        tell_errors(self.project.errors)
        say(done)
        return FAILED if self.project.errors else CLEAN


def _show(checked: _Checked, statistics: bool, undecided: bool) -> None:
    from ..report import text

    project, compared = checked.project, checked.compared
    if statistics:
        text.show_statistics(make_console(), compared.new, checked.rules)
    else:
        shown = [one for one in compared.new if undecided or one.rule != UNDECIDED]
        site = checked.config.docs_url
        text.show(make_console(), shown, project.sources, checked.rules, site)
    tell_errors(project.errors)
    _summary(compared.new, project, checked.beyond)
    _tell_beyond(checked.beyond)
    _tell_baseline(compared)
    _tell_placed(checked, listed=undecided and not statistics)


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


def _dump(format: Format, findings: Sequence[Finding], checked: _Checked) -> str:
    """Return a report for a program, with a newline at its end if it has any line."""
    from ..report import findings_page, github, gitlab, json, junit, sarif, text

    project, rules = checked.project, checked.rules
    errors, sources = project.errors, project.sources
    placed = sum(checked.placed.values())
    match format:
        case Format.json:
            with working("making edits", project):
                dumped = json.dump(findings, errors, sources, checked.edits, placed)
        case Format.sarif:
            with working("making edits", project):
                site = checked.config.docs_url
                dumped = sarif.dump(findings, errors, rules, checked.edits, placed, site)
        case Format.gitlab:
            dumped = gitlab.dump(findings, errors, sources)
        case Format.junit:
            dumped = junit.dump(findings, errors, sources, checked.placed)
        case Format.html:
            judged = len(project.named)
            dumped = findings_page.dump(findings, errors, sources, rules, judged, placed)
        case Format.concise:
            dumped = text.concise(findings, errors, sources)
        case _:
            dumped = github.dump(findings, errors, sources)
    return f"{dumped}\n" if dumped and not dumped.endswith("\n") else dumped


def _summary(findings: Sequence[Finding], project: Project, beyond: Collection[str]) -> None:
    """Print what `check` found, in one line.

    Nothing is wrong where the program may stop at nothing that is told.
    """
    from ..migration.check import is_wrong, may_stop

    wrong = [finding for finding in findings if is_wrong(finding)]
    unknown = [finding for finding in findings if finding.rule == UNDECIDED]
    files = looked_at(project.named, project.errors)
    fixes = [finding.fix for finding in wrong if finding.fix]
    safe = sum(fix.safe for fix in fixes)
    if not files:
        return  # `read` has said so
    if not wrong:
        others = len(findings) - len(unknown)
        notes = f" ({count(others, 'note')})" if others else ""
        open_ = unknown or beyond or any(map(may_stop, findings))
        found = "no findings" if open_ else "nothing wrong"
        say(f"{found} in {count(files, 'file')}{notes}")
        return
    line = f"{count(len(wrong), 'finding')} in {count(files, 'file')}"
    if safe:
        line += f"; `samedevice fix` has a repair for {safe}"
    if safe < len(fixes):
        line += f"; `samedevice fix --unsafe` has one for {len(fixes)}"
    say(line)


def _tell_beyond(beyond: Mapping[str, int]) -> None:
    """Print which files that are imported have findings, which are not shown."""
    from ..report.place import printable

    if not beyond:
        return
    files = [printable(path) for path in beyond][:BEYOND]
    if len(beyond) > BEYOND:
        files[-1] += f" and {count(len(beyond) - BEYOND, 'more file')}"
    has, them = ("has", "it") if len(beyond) == 1 else ("have", "them")
    found = count(sum(beyond.values()), "finding")
    say(f"{', '.join(files)}, imported here, {has} {found}: name {them}, too, or the folder")


def _tell_placed(checked: _Checked, *, listed: bool) -> None:
    """Print how many values have a known place, and which have none."""
    number = sum(checked.placed.values())
    unknown = unfollowed(checked.compared.new, checked.project.sources, listed=listed)
    if number and not unknown and UNDECIDED in checked.rules:
        unknown = "none undecided"
    if number or unknown:
        say(f"{count(number, 'value')} placed" + (unknown and f", {unknown}"))


BEYOND = 3  # imported files with findings that are listed
GONE = 10  # repaired findings of a baseline that are listed


def _tell_baseline(compared: Compared) -> None:
    """Print what the baseline kept out of the report, and which of its entries are gone."""
    if compared.old:
        say(f"{count(len(compared.old), 'older finding')} in the baseline")
    if compared.gone:
        entries = count(compared.gone.total(), "finding")
        say(f"{entries} of the baseline gone (see --prune-baseline):")
    listed = sorted(compared.gone.elements())
    for entry in listed[:GONE]:
        say(f"  {entry.path} [{entry.rule}] {entry.code}")
    if len(listed) > GONE:
        say(f"  and {len(listed) - GONE:,} more")
