"""The command line: words to settings, outcomes to text and exit codes; nothing else.

Everything but typer is imported by the command that needs it, so that `--help` answers at once.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import functools
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec

import typer

from . import __version__
from .batch import commands

if TYPE_CHECKING:
    from rich.console import Console

    from .baseline import Compared
    from .cache import Cache
    from .check import Step
    from .config import Config
    from .finding import Finding
    from .migrate import Change, Outcome
    from .modernize.plan import Plan
    from .project import Project
    from .repair import Explanation
    from .rules import Rule
    from .source import SourceError

P = ParamSpec("P")

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room for what is written
GONE = 10  # repaired findings of a baseline that are listed
_PAUSE = 0.5  # seconds between two looks at the files that are watched
LONG = 200  # files from which a run shows its progress
_NARROW = 60  # columns from which a name and what is said about it stand side by side

_WHAT = "finds where PyTorch tensors and modules are on the wrong device, and repairs it."

app = typer.Typer(
    help=f"F{_WHAT[1:]}",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 clean, 1 findings (or a diff), 2 an error.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"samedevice {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        _greet()


_FIRST = {
    "check {here}": "what is on the wrong device, and why",
    "fix {here}": "repair it: shows a diff, asks, writes",
    "map {here}": "the code as a page, coloured by where every tensor lives",
    "explain FILE": "what a traceback from a GPU machine is about",
    "run FILE": "execute a program on a virtual accelerator",
    "doctor": "what is installed, and how to get what is missing",
}


def _greet() -> None:
    """Say what there is and what to do next; a newcomer would check this folder, if it has code."""
    here = Path()
    try:
        code = any(any(here.glob(pattern)) for pattern in ("*.py", "*.ipynb", "*/*.py"))
    except OSError:
        code = False
    path = "." if code else "PATH"
    typer.echo(f"samedevice {__version__} {_WHAT}\n")
    for words, meaning in _FIRST.items():
        typer.echo(f"  samedevice {words.format(here=path):<12}  {meaning}")
    typer.echo(f"\nNext: samedevice check {path}\nEverything else: samedevice --help")


# Releases of typer have brought click, or carry their own: these are the classes of either.
_USAGE: type[Exception] = typer.BadParameter.__mro__[1]
_CLICK: type[Exception] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Run the command line."""
    try:
        code = app(prog_name="samedevice", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("interrupted", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        _no_more_output()
        code = FAILED
    except _CLICK as error:
        wrong: Any = error
        _tell_error(wrong.format_message().replace(": Value error, ", ": "))
        if isinstance(error, _USAGE):
            command = wrong.ctx.command_path if wrong.ctx is not None else "samedevice"
            typer.echo(f"`{command} --help` lists what there is", err=True)
        code = FAILED
    sys.exit(code)


class Format(str, Enum):
    """The forms that `check` can report in."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    gitlab = "gitlab"


def _rule_names() -> list[str]:
    from . import rules

    return list(rules.load())


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH", help="Files and folders; - is standard input.", show_default="."
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Only this rule (repeat it, or a,b).", autocompletion=_rule_names
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Without this rule (repeat it, or a,b).", autocompletion=_rule_names
    ),
]
Safe = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Count this rule's fixes as safe.", autocompletion=_rule_names
    ),
]
UnsafeRule = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Count this rule's fixes as unsafe.", autocompletion=_rule_names
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Leave out what matches, as in .gitignore."),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Judge everything anew, and keep nothing of it.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Do it again after each change of a file, until Ctrl-C.")
]
Resolver = Annotated[
    str,
    typer.Option(
        metavar="cuda|accelerator|MODULE:FUNCTION",
        help="What decides the device; by default what suits the project.",
        show_default=False,
    ),
]


def _unwritable(error: UnicodeError) -> tuple[str, int]:
    """Write what an output's encoding lacks: our own arrows as ASCII has them, the rest by number.

    A path or a line of code may hold anything, and a code page of Windows has 256 characters.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    for arrow, plain in (("\u2192", "->"), ("\u21b3", ">")):
        lacking = lacking.replace(arrow, plain)
    return lacking.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error("samedevice", _unwritable)


def _exit_codes(command: Callable[P, int]) -> Callable[P, None]:
    """Exit with the code that `command` returns; one clear message for what a user can mend."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from .config import ConfigError
        from .source import SourceError

        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="samedevice")
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except (ConfigError, SourceError) as error:
            _fail(str(error))
        except BrokenPipeError:
            _no_more_output()
            code = FAILED
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            code = INTERRUPTED
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                _no_more_output()
                _fail(f"{error.filename or 'the output'}: cannot be written: {error.strerror}")
            import traceback

            traceback.print_exc()
            _fail("this is a fault in samedevice; please report it with the lines above")
        raise typer.Exit(code)

    return run


def _no_more_output() -> None:
    """Keep Python from writing what is left to a reader that went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> NoReturn:
    _tell_error(message)
    raise typer.Exit(FAILED)


def _tell_error(message: str) -> None:
    from rich.text import Text

    line = Text.assemble(("error: ", "bold red"), message)
    _console(stderr=True).print(line, soft_wrap=True)


@app.command(short_help="Report what is on the wrong device, and why.")
@_exit_codes
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
            "--jobs", "-j", metavar="N", min=1, show_default="one for each core",
            help="Processes for a large project.",
        ),
    ] = None,
    watch: Watch = False,
) -> int:
    """Report what is on the wrong device, and why; changes none of the code and runs none of it."""
    if watch:
        return _watched(paths or ["."], exclude, check, {**locals(), "watch": False})
    from . import baseline as baseline_
    from . import check as check_
    from . import parallel
    from .report import text

    paths = paths or ["."]
    reports = [_named_report(given) for given in report or ()]
    config = _config(paths, select, ignore, safe, unsafe_rule, exclude, resolver)
    config = config.with_flags(baseline=baseline)
    if write_baseline and prune_baseline:
        _fail("--write-baseline and --prune-baseline exclude each other")
    if (write_baseline or prune_baseline) and (not config.baseline or "-" in paths):
        _fail("a baseline is for files, and its own is named by --baseline FILE or in the settings")
    old = baseline_.Baseline("")
    if config.baseline and not write_baseline:
        old = baseline_.read(config.baseline)
    rules = check_.select(config)
    project = _read(paths, config)
    cache = None if no_cache or "-" in paths else _cache(project, config)
    with _working("checking", project) as step:
        findings = check_.check(
            project, config, step, cache=cache, processes=jobs or parallel.cores()
        )
    if cache is not None:
        cache.write()
    errors = project.errors
    if write_baseline or prune_baseline:
        done = baseline_.update(config, findings, project, paths, add=write_baseline)
        _tell_errors(errors)
        typer.echo(done, err=True)
        return FAILED if errors else CLEAN
    compared = old.compare(findings, project, paths, config)
    findings = compared.new
    wrong = any(map(check_.is_wrong, findings))
    for form, path in reports:
        _write_report(path, _dump(form, findings, project, rules))
    if format is not Format.text:
        typer.echo(_dump(format, findings, project, rules), nl=False)
    else:
        text.show(_console(), findings, project.sources)
        _tell_errors(errors)
        _summary(findings, _looked_at(project.sources, errors))
        _tell_baseline(compared)
    return FAILED if errors else FOUND if wrong else CLEAN


def _named_report(given: str) -> tuple[Format, str]:
    """Return the form and the file of `--report FORMAT=FILE`."""
    form, _, path = given.partition("=")
    forms = [known.value for known in Format if known is not Format.text]
    if form not in forms or not path:
        _fail(f"--report {given}: expected FORMAT=FILE with {', '.join(forms)}")
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        _fail(f"--report {given}: there is no folder {folder}")
    return Format(form), path


def _dump(
    format: Format, findings: Sequence[Finding], project: Project, rules: Mapping[str, Rule]
) -> str:
    """Return a report for a program, with a newline at its end if it has any line."""
    from .report import github, gitlab, json, sarif

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


@app.command(short_help="Repair it: show a diff, ask, write.")
@_exit_codes
def fix(
    paths: Paths = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for each change, as git add -p does.")
    ] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Apply unsafe fixes, too; each says why it is one.")
    ] = False,
    modernize: Annotated[
        bool, typer.Option("--modernize", help="First do what `samedevice modernize --all` does.")
    ] = False,
    prove: Annotated[
        str,
        typer.Option(
            metavar="PROGRAM",
            help='Run "main.py --epochs 1" before and after, in copies; write only what passes.',
            show_default=False,
        ),
    ] = "",
    run: Annotated[
        str,
        typer.Option(
            metavar="PROGRAM",
            help="Run it on the virtual accelerator, in a copy, and repair the clashes it shows.",
            show_default=False,
        ),
    ] = "",
    time_limit: TimeLimit = 600.0,
    report: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Write the list of changes, and of what was left and why, to a .json, .md or "
            ".html file.",
            show_default=False,
        ),
    ] = "",
    select: Select = None,
    ignore: Ignore = None,
    safe: Safe = None,
    unsafe_rule: UnsafeRule = None,
    exclude: Exclude = None,
    resolver: Resolver = "",
    no_cache: NoCache = False,
    watch: Watch = False,
) -> int:
    """Show what would change as a diff, ask, and write it.

    Runs none of the code, unless --prove or --run says so.
    """
    if watch:
        if not (yes or diff):
            _fail("--watch asks nothing: it goes with --yes or --diff")
        return _watched(paths or ["."], exclude, fix, {**locals(), "watch": False})
    from . import migrate
    from .report import changes as changes_

    paths = paths or ["."]
    if yes + diff + interactive > 1:
        _fail("--yes, --diff and --interactive exclude each other")
    if "-" in paths and (len(paths) > 1 or interactive):
        _fail("code from standard input is fixed alone and without questions")
    if (prove or run) and (paths == ["-"] or modernize):
        _fail("--prove and --run need files to run, and go without --modernize")
    if modernize and (interactive or report):
        _fail("--modernize goes without --interactive and --report: run samedevice modernize first")
    if report:
        changes_.check_name(report)
    config = _config(paths, select, ignore, safe, unsafe_rule, exclude, resolver, unsafe)
    if modernize:
        from .modernize import plan

        planned = plan.plan(paths, config, everything=True, track=_track)
        project = plan.project(planned.outcome, config)
    else:
        project = _read(paths, config)
    cache = None if no_cache or modernize or run or "-" in paths else _cache(project, config)
    if run:
        outcome = _repaired(project, config, paths, run, time_limit)
    else:
        with _working("fixing", project) as step:
            outcome = migrate.migrate(project, config, step=step, cache=cache)
    if modernize:
        outcome = plan.then(planned.outcome, outcome)
    if interactive:
        from .interactive import choose

        declined = choose(outcome, _console())
        if declined:
            with _working("fixing", project) as step:
                outcome = migrate.migrate(project, config, declined, step, cache=cache)
    if cache is not None:
        cache.write()
    if report:
        _write_report(report, changes_.dump(changes_.change_list(outcome), report))
    if paths == ["-"] and not diff:
        return _to_stdout(outcome)
    if prove and outcome.changes and not _passes(outcome, paths, prove, time_limit):
        typer.echo("not proved: nothing was written", err=True)
        return FOUND
    code = _finish(outcome, ask=not (yes or interactive), diff=diff)
    if modernize:
        _tell_notes(planned)
    return code


def _cache(project: Project, config: Config) -> Cache:
    """Return what is known of a project from earlier runs: of `check` and `fix` alike."""
    from dataclasses import replace

    from .cache import Cache

    return Cache(project, replace(config, unsafe=False))  # what is found is the same either way


def _root(paths: Sequence[str]) -> Path:
    """Return the folder that a program of these paths runs in."""
    first = Path(paths[0])
    return first if first.is_dir() else first.parent


def _passes(outcome: Outcome, paths: Sequence[str], program: str, limit: float | None) -> bool:
    """Run a program before and after the changes and show what that proves."""
    from . import repair
    from .prove.commands import show_proof
    from .prove.process import Limits
    from .prove.run import ProgramError, Settings

    console = _console(stderr=True)
    try:
        with console.status("") as status:
            proof = repair.proved(
                outcome, _root(paths), program, Settings(limits=Limits(seconds=limit)),
                lambda what: status.update(f"{what} ..."),
            )  # fmt: skip
    except ProgramError as error:
        _fail(str(error))
    show_proof(proof, console)
    return proof.passed


def _repaired(
    project: Project, config: Config, paths: Sequence[str], program: str, limit: float | None
) -> Outcome:
    """Fix a project, run the program, and repair what the run shows."""
    from . import repair
    from .prove.display import render_clash
    from .prove.process import Limits
    from .prove.run import ProgramError, Settings

    console = _console(stderr=True)
    try:
        with console.status("") as status:
            done = repair.by_running(
                project, config, _root(paths), program, Settings(limits=Limits(seconds=limit)),
                lambda what: status.update(f"{what} ..."),
            )  # fmt: skip
    except ProgramError as error:
        _fail(str(error))
    if done.result.status == "refused":
        _fail(done.result.message)
    for finding in done.seen:
        console.print(f"{finding.path}:{finding.span.line}: {finding.message}", markup=False)
    if done.result.clash is not None:
        console.print(render_clash(done.result.clash))
        console.print(f"not repaired: {done.stuck}")
    else:
        console.print(f"{program}: {done.result.message or done.result.status}", markup=False)
    return done.outcome


@app.command(short_help="Explain a traceback from a GPU machine.")
@_exit_codes
def explain(
    error: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with the traceback, or - for stdin.")
    ],
    paths: Annotated[
        list[str] | None, typer.Argument(help="The project. Default: the working directory.")
    ] = None,
    exclude: Exclude = None,
) -> int:
    """Find the statement of a traceback in the project, and say what meets there and why.

    Runs none of the code. Exit code: 0 explained, 1 it is not of this project, 2 no traceback.
    """
    from . import repair

    try:
        text = sys.stdin.read() if error == "-" else Path(error).read_text(errors="replace")
    except OSError as problem:
        _fail(f"{error}: cannot be read: {problem.strerror}")
    paths = paths or ["."]
    config = _config(paths, None, None, None, None, exclude, "")
    project = _read(paths, config)
    found = repair.explain(text, project, config)
    if found is None:
        _fail(f"{error}: there is no traceback in it; paste all of it, from its first line on")
    _tell_explanation(found, project)
    return CLEAN if found.path else FOUND


def _tell_explanation(found: Explanation, project: Project) -> None:
    """Print what a traceback says about a project."""
    from .report.text import show

    console = _console()
    console.print(f"{found.exception}: {found.message}", style="bold red", markup=False)
    if not found.path:
        console.print("none of its frames is in this project", markup=False)
        return
    console.print(f"{found.path}:{found.line}: {found.code}", markup=False, highlight=False)
    for operand in found.operands:
        where = _PLACES[operand.place.value] if operand.certain else _DEMAND
        console.print(f"  {operand.code} {where}", markup=False)
        for origin in operand.origins:
            console.print(
                f"    {origin.path}:{origin.span.line}: {origin.text}",
                markup=False,
                highlight=False,
            )
    if found.findings:
        show(console, found.findings, project.sources)
        if any(finding.fix is not None for finding in found.findings):
            console.print("`samedevice fix` repairs it", markup=False)
    else:
        console.print(
            'inference finds nothing wrong here; `samedevice fix --run "PROGRAM"` looks by running',
            markup=False,
        )


_PLACES = {
    "host": "is on the CPU",
    "central": "is on the device",
    "fixed": "is on a device of its own",
    "follows": "is where the function's input is",
    "unknown": "is somewhere that cannot be seen here: the CPU, unless something moves it",
}
_DEMAND = "is on the CPU, but has to be where the others are"


def _to_stdout(outcome: Outcome) -> int:
    """Write the fixed code of standard input to standard output."""
    for source in outcome.sources.values():
        sys.stdout.buffer.write(source.encode(source.text))
    return _result(outcome)


def _finish(outcome: Outcome, *, ask: bool, diff: bool) -> int:
    """Show or write the changes of `outcome`; returns the exit code."""
    from . import migrate

    if diff or ask:
        _show_diff(outcome.changes)
    if diff:
        _tell(outcome, written=False)
        return FAILED if _result(outcome) == FAILED else FOUND if outcome.changes else CLEAN
    asked = ask and bool(outcome.changes)
    if asked:
        _tell(outcome, written=False)
        if not _confirmed("Write these changes?"):
            typer.echo("nothing was written", err=True)
            return FAILED if _result(outcome) == FAILED else FOUND
    migrate.apply(outcome)
    if asked:
        typer.echo(f"{_count(len(outcome.changes), 'file')} changed", err=True)
    else:
        _tell(outcome, written=True)
    return _result(outcome)


def _result(outcome: Outcome) -> int:
    """Print what could not be worked on and return the exit code of a finished migration."""
    from .check import is_wrong

    _tell_errors(outcome.errors)
    if outcome.errors:
        return FAILED
    return FOUND if any(map(is_wrong, outcome.remaining)) else CLEAN


@app.command(short_help="Turn Python 2 files into Python 3: show a diff, ask, write.")
@_exit_codes
def modernize(
    paths: Paths = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also files that parse and use names that Python 3 has not."),
    ] = False,
    exclude: Exclude = None,
) -> int:
    """Turn files of Python 2, or from before 3.7, into Python 3; shows a diff and asks, as fix."""
    from .modernize.plan import plan

    paths = paths or ["."]
    if yes and diff:
        _fail("--yes and --diff exclude each other")
    if "-" in paths and len(paths) > 1:
        _fail("code from standard input is changed alone")
    config = _config(paths, None, None, None, None, exclude, "")
    planned = plan(paths, config, everything, _track)
    if paths == ["-"] and not diff:
        return _to_stdout(planned.outcome)
    code = _finish(planned.outcome, ask=not yes, diff=diff)
    _tell_notes(planned)
    return code


@app.command()
@_exit_codes
def rules(
    name: Annotated[
        str, typer.Argument(help="Explain this rule.", autocompletion=_rule_names)
    ] = "",
) -> int:
    """List the rules, or explain one with an example."""
    from rich.markdown import Markdown
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from . import rules as rules_
    from .check import unknown_rule

    known = rules_.load()
    console = _console()
    if not name:
        if not console.is_terminal:
            console.width = 1000  # one line a rule for grep and the like
        if console.width < _NARROW:
            for rule in known.values():
                console.print(Text(rule.name, "bold"))
                console.print(Padding(rule.summary, (0, 0, 0, 4)))
            return CLEAN
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("rule", no_wrap=True)
        table.add_column("what it finds")
        for rule in known.values():
            table.add_row(rule.name, rule.summary)
        console.print(table)
        return CLEAN
    if name not in known:
        _fail(unknown_rule(name, known))
    console.print(Text(name, "bold"))
    console.print(Markdown(known[name].doc))
    return CLEAN


On = Annotated[
    str,
    typer.Option(
        metavar="virtual|cpu|cuda|auto",
        help="Where to run: a virtual accelerator needs no GPU; auto is a GPU if there is one.",
    ),
]
DeviceName = Annotated[
    str, typer.Option(metavar="NAME", help="What the virtual accelerator is called.")
]
Devices = Annotated[int, typer.Option(metavar="N", help="How many virtual devices there are.")]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", show_default="none")]
MemoryLimit = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Such as 4G.", show_default="most of the memory")
]
OutputLimit = Annotated[str, typer.Option(metavar="SIZE", help="Such as 64M.")]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="Seed Python, NumPy and torch.", show_default="as they are"),
]
Python = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="The interpreter to use.", show_default="this one"),
]
JsonReport = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write what was seen as JSON; - is stdout."),
]


@app.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
    short_help="Run a program on a virtual accelerator or a real one.",
)
@_exit_codes
def run(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="What would follow `python`: main.py --epochs 1"),
    ],
    on: On = "virtual",
    device_name: DeviceName = "cuda",
    devices: Devices = 1,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    output_limit: OutputLimit = "64M",
    seed: Seed = None,
    python: Python = None,
    report: JsonReport = None,
    record: Annotated[
        bool, typer.Option(help="Watch operations and losses; faster without.")
    ] = True,
    transfers: Annotated[
        int, typer.Option(metavar="N", help="How many transfers to list, the largest first.")
    ] = 10,
) -> int:
    """Execute PROGRAM, show what it prints, and explain what stopped it and where tensors were."""
    from .prove import commands

    return commands.run(
        program,
        on=on,
        device_name=device_name,
        devices=devices,
        time_limit=time_limit,
        memory_limit=memory_limit,
        output_limit=output_limit,
        seed=seed,
        python=python,
        report=report,
        record=record,
        transfers=transfers,
    )


@app.command(short_help="Run a program before and after a change, and compare.")
@_exit_codes
def prove(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The file or folder as it was.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The file or folder as it is now.")],
    entry: Annotated[
        str | None,
        typer.Option(
            metavar="PROGRAM",
            help='What would follow `python` in the folders: "main.py --epochs 1". Two single '
            "files are programs themselves.",
            show_default=False,
        ),
    ] = None,
    on: On = "virtual",
    device_name: DeviceName = "cuda",
    devices: Devices = 1,
    time_limit: TimeLimit = 600.0,
    memory_limit: MemoryLimit = None,
    output_limit: OutputLimit = "64M",
    seed: Seed = None,
    python: Python = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="timings|paths|addresses", help="What may differ between the outputs."
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave these files out of the copies."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Give the copies these files, too."),
    ] = None,
    report: JsonReport = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof as a page.")
    ] = None,
) -> int:
    """Execute the program in copies of BEFORE and AFTER, on the CPU and on an accelerator.

    Proved: the outputs on the CPU are the same, and on the accelerator it runs to the end, there.
    """
    from .prove import commands

    return commands.prove(
        before,
        after,
        entry,
        on=on,
        device_name=device_name,
        devices=devices,
        time_limit=time_limit,
        memory_limit=memory_limit,
        output_limit=output_limit,
        seed=seed,
        python=python,
        ignore=ignore or (),
        exclude=exclude or (),
        data=data or (),
        report=report,
        html=html,
        beside=lambda old, new, page: _map_beside(old, new, before, page),
    )


def _map_beside(old: Path, new: Path, before: str, page: Path) -> dict[str, str]:
    """Write the map of a change next to the page of its proof; what cannot be read has none."""
    from .config import ConfigError
    from .map import commands
    from .source import SourceError

    try:
        named = before if os.path.exists(before) else "."  # a revision of the project here
        return commands.beside(old, new, os.path.basename(os.path.abspath(named)), page)
    except (ConfigError, SourceError, OSError):
        return {}


@app.command(name="map", short_help="Draw where every tensor lives, as one HTML page.")
@_exit_codes
def map_(
    paths: Paths = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="The page; - is standard output."),
    ] = "map.html",
    fixed: Annotated[
        bool, typer.Option("--fixed", help="Beside it, show the project as `fix` would leave it.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="With --fixed, apply unsafe fixes, too.")
    ] = False,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    resolver: Resolver = "",
) -> int:
    """Write the code as a page in which each tensor, module and move has the colour of its place.

    It needs no network, and runs none of the code.
    """
    from .map import commands

    paths = paths or ["."]
    commands.check_output(output, show)
    config = _config(paths, select, ignore, None, None, exclude, resolver, unsafe)
    project = _read(paths, config)
    if project.sources:
        with _working("mapping", project) as step:
            commands.run(project, config, paths, output, fixed=fixed, show=show, step=step)
    _tell_errors(project.errors)
    if project.sources and output != "-":
        typer.echo(f"{output} written", err=True)
    return FAILED if project.errors else CLEAN


@app.command(short_help="Tell what is installed, and how to get what is missing.")
@_exit_codes
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Look at this installation: versions, torch, devices, the virtual accelerator, extras, git.

    It imports torch and runs a small program of its own, none of yours. Exit code: 2 if something
    that is here does not work.
    """
    from rich.table import Table
    from rich.text import Text

    from . import doctor as doctor_

    console = _console(stderr=True)
    with console.status("looking at torch ..."):
        checks = doctor_.examine()
    if as_json:
        typer.echo(doctor_.dump(checks))
    else:
        styles = {"ok": "green", "missing": "yellow", "wrong": "bold red", "note": "dim"}
        to = _console()
        table = Table.grid(padding=(0, 2, 0, 0))
        for check in checks:
            detail = Text(check.detail, overflow="fold")
            if check.get:
                detail.append(f"\nto get it: {check.get}", "bold")
            state = Text(check.state, styles[check.state], no_wrap=True)
            if to.width < _NARROW:
                table.add_row(state, Text(f"{check.name}\n").append_text(detail))
            else:
                table.add_row(state, Text(check.name, no_wrap=True), detail)
        to.print(table)
        typer.echo(doctor_.summary(checks), err=True)
    return FAILED if any(check.state == "wrong" for check in checks) else CLEAN


@app.command(short_help="Serve an editor by the Language Server Protocol.")
@_exit_codes
def server(
    tcp: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=1, max=65535, help="Serve on a socket of this machine instead."
        ),
    ] = None,
) -> int:
    """Serve an editor on standard input and output; docs/editors.md has the editors' settings."""
    try:
        from .server import serve
    except ImportError as error:
        from .doctor import install

        _fail(f"{error.name} is missing: {install('pygls', 'lsprotocol', extra='server')}")
    try:
        serve(tcp)
    except OSError as error:
        if tcp is None:
            raise
        _fail(f"--tcp {tcp}: {error.strerror}")
    return CLEAN


cache = typer.Typer(
    help="What `check` keeps from run to run, so that only what changed is judged again.",
    no_args_is_help=True,
)
app.add_typer(cache, name="cache")


@cache.command("dir")
@_exit_codes
def cache_dir() -> int:
    """Print the folder of the cache."""
    from .cache import folder

    typer.echo(folder())
    return CLEAN


@cache.command("info")
@_exit_codes
def cache_info() -> int:
    """Print how many projects the cache knows, and its size."""
    from .cache import LIMIT, entries, folder

    known = entries()
    size = sum(path.stat().st_size for path in known)
    typer.echo(f"{folder()}: {_count(len(known), 'project')}, {size / 1e6:.1f} MB")
    typer.echo(f"what was not used for longest goes at {LIMIT / 1e6:.0f} MB")
    return CLEAN


@cache.command("clear")
@_exit_codes
def cache_clear() -> int:
    """Remove all that is kept."""
    from .cache import clear, folder

    try:
        typer.echo(f"{clear() / 1e6:.1f} MB freed in {folder()}", err=True)
    except OSError as error:
        _fail(f"{error.filename}: cannot be removed: {error.strerror}")
    return CLEAN


batch = typer.Typer(help="Migrate many repositories.", no_args_is_help=True)
app.add_typer(batch, name="batch")
for _command in commands.COMMANDS:
    batch.command()(_exit_codes(_command))


def _config(
    paths: Sequence[str],
    select: Sequence[str] | None,
    ignore: Sequence[str] | None,
    safe: Sequence[str] | None,
    unsafe_rule: Sequence[str] | None,
    exclude: Sequence[str] | None,
    resolver: str,
    unsafe: bool = False,
) -> Config:
    from . import config

    return config.load(paths).with_flags(
        select=_names(select),
        ignore=_names(ignore),
        safe=_names(safe),
        unsafe_rule=_names(unsafe_rule),
        exclude=exclude or (),
        resolver=resolver,
        unsafe=unsafe,
    )


def _names(given: Sequence[str] | None) -> list[str]:
    """Return the rules that a flag was given, which may be several in one word with commas."""
    return [name for word in given or () for name in word.split(",") if name]


def _read(paths: Sequence[str], config: Config) -> Project:
    from .reading import read

    project = read(paths, config, _track)
    if not project.sources and not project.errors:
        typer.echo(f"there is no Python file or notebook in {', '.join(paths)}", err=True)
    return project


def _watched(
    paths: Sequence[str],
    exclude: Sequence[str] | None,
    command: Callable[..., None],
    options: Mapping[str, object],
) -> int:
    """Run a command, and again after each change of a file under `paths`, until Ctrl-C."""
    import time

    from .files import state

    if "-" in paths:
        _fail("--watch is for files")
    config = _config(paths, None, None, None, None, exclude, "")
    seen: object = None
    try:
        while True:
            now = state(paths, config.exclude)
            if now != seen:
                seen = now
                try:
                    command(**options)
                except typer.Exit as done:
                    if done.exit_code == INTERRUPTED:
                        return CLEAN
                now_is = time.strftime("%H:%M:%S")
                typer.echo(f"{now_is} waiting for changes, until Ctrl-C", err=True)
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return CLEAN


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    # Markup and emoji codes stay text: what is printed is mostly somebody's code.
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def _track(paths: Sequence[str], title: str) -> Iterator[str]:
    """Yield `paths`, with a progress bar on a terminal when there are many."""
    console = _console(stderr=True)
    if len(paths) < LONG or not console.is_terminal:
        yield from paths
        return
    from rich.progress import track

    yield from track(paths, title, console=console, transient=True)


@contextlib.contextmanager
def _working(title: str, project: Project) -> Iterator[Step]:
    """Show on a terminal how far a long run is; what is yielded is told of files that are done."""
    console = _console(stderr=True)
    if len(project.sources) < LONG or not console.is_terminal:
        yield lambda files: None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(title, total=len(project.sources))

        def step(files: int) -> None:
            if progress.finished:  # and now the next round
                progress.reset(task)
            progress.advance(task, files)

        yield step


def _show_diff(changes: Iterable[Change]) -> None:
    """Print the diff: in colours for people, as bytes that `git apply` takes for programs."""
    from .report import diff

    console = _console()
    for change in changes:
        if console.is_terminal:
            diff.show(console, change)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(diff.unified(change))
            sys.stdout.buffer.flush()


def _looked_at(sources: Collection[str], errors: Sequence[SourceError]) -> int:
    """Return how many files were read and parsed."""
    return len(set(sources) - {error.path for error in errors})


def _tell_errors(errors: Sequence[SourceError]) -> None:
    """Print what could not be worked on, and what helps."""
    from .report.text import show_errors

    show_errors(_console(stderr=True), errors)
    old = [error.path for error in errors if error.message.startswith(_PYTHON_2)]
    if old:
        typer.echo(f"Python 2? `samedevice modernize {old[0]}` turns it into Python 3", err=True)


#: What Python 3 says to code that was written for Python 2.
_PYTHON_2 = (
    "Missing parentheses in call to",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
)


def _summary(findings: Sequence[Finding], files: int) -> None:
    """Print what `check` found, in one line."""
    from .check import is_wrong

    wrong = [finding for finding in findings if is_wrong(finding)]
    fixes = [finding.fix for finding in wrong if finding.fix]
    safe = sum(fix.safe for fix in fixes)
    if not files:
        return  # as was told
    if not wrong:
        notes = f" ({_count(len(findings), 'note')})" if findings else ""
        typer.echo(f"nothing wrong in {_count(files, 'file')}{notes}", err=True)
        return
    line = f"{_count(len(wrong), 'finding')} in {_count(files, 'file')}"
    if safe:
        line += f"; `samedevice fix` repairs {safe}"
    if safe < len(fixes):
        line += f"; `samedevice fix --unsafe` repairs {len(fixes)}"
    typer.echo(line, err=True)


def _tell_baseline(compared: Compared) -> None:
    """Print what the baseline kept out of the report, and which of its entries are gone."""
    if compared.old:
        typer.echo(f"{_count(len(compared.old), 'older finding')} in the baseline", err=True)
    if compared.gone:
        entries = _count(compared.gone.total(), "finding")
        typer.echo(f"{entries} of the baseline gone (see --prune-baseline):", err=True)
    listed = sorted(compared.gone.elements())
    for entry in listed[:GONE]:
        typer.echo(f"  {entry.path} [{entry.rule}] {entry.code}", err=True)
    if len(listed) > GONE:
        typer.echo(f"  and {len(listed) - GONE:,} more", err=True)


def _tell(outcome: Outcome, *, written: bool) -> None:
    """Print what `fix` did or would do: files and fixes by rule, then what it leaves and why."""
    from .check import is_wrong
    from .report.changes import why_left
    from .report.place import place, printable

    if outcome.changes:
        applied = dict.fromkeys(item for change in outcome.changes for item in change.findings)
        counts = Counter(finding.rule for finding in applied).most_common()
        fixes = ", ".join(f"{count} {rule}" for rule, count in counts)
        files = _count(len(outcome.changes), "file")
        typer.echo(f"{files} {'changed' if written else 'would change'} ({fixes})", err=True)
    left = [finding for finding in outcome.remaining if is_wrong(finding)]
    if left:
        typer.echo(f"{_count(len(left), 'finding')} left as found:", err=True)
    for finding in left:
        at = finding if written else outcome.before(finding)  # as the files are now
        where = place(at.path, at.span, outcome.sources if written else outcome.originals)
        reason = printable(why_left(finding, outcome))
        typer.echo(f"  {where} [{finding.rule}] {reason}", err=True)
    read = _looked_at(outcome.sources, outcome.errors)
    if read and not outcome.changes and not left:
        typer.echo(f"nothing to change in {_count(read, 'file')}", err=True)


def _tell_notes(planned: Plan) -> None:
    """Print what is left to do by hand after `modernize`, and for which files `--all` is."""
    from .report.place import printable

    for note in planned.notes:
        typer.echo(
            f"  {printable(note.path)}:{note.span.line}: {printable(note.message)}", err=True
        )
    if planned.waiting:
        files = _count(len(planned.waiting), "more file")
        typer.echo(
            f"{files} would change with --all: it uses names that Python 3 has not", err=True
        )


def _confirmed(question: str) -> bool:
    """Ask; no answer is a no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        typer.echo("\nno answer; --yes writes without asking, --diff only shows", err=True)
        return False


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _write_report(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        _fail(f"--report {path}: cannot be written: {error.strerror}")
