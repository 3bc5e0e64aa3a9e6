"""The arguments and flags that commands share; a flag has one meaning wherever it is."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from .help import FILES, OTHER, REPORTS, RULES, RUNNING


class Format(str, Enum):
    """The forms that `check` can report in."""

    text = "text"
    concise = "concise"
    json = "json"
    sarif = "sarif"
    github = "github"
    gitlab = "gitlab"
    junit = "junit"
    html = "html"


def rule_names() -> list[str]:
    """Return the rules, for the completion of a shell."""
    from .. import rules

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
        metavar="RULE", help="Only this rule (repeat it, or a,b).", autocompletion=rule_names,
        rich_help_panel=RULES,
    ),
]  # fmt: skip
ExtendSelect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Add this rule to those that the settings select.",
        autocompletion=rule_names, rich_help_panel=RULES,
    ),
]  # fmt: skip
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Without this rule (repeat it, or a,b).", autocompletion=rule_names,
        rich_help_panel=RULES,
    ),
]  # fmt: skip
Safe = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Count this rule's fixes as safe.", autocompletion=rule_names,
        rich_help_panel=RULES,
    ),
]  # fmt: skip
UnsafeRule = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Count this rule's fixes as unsafe.", autocompletion=rule_names,
        rich_help_panel=RULES,
    ),
]  # fmt: skip
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Leave out files that match, as in .gitignore.",
        rich_help_panel=FILES,
    ),
]
Convert = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Convert scripts that stay on the CPU for what they are for (checks, benchmarks).",
        rich_help_panel=FILES,
    ),
]
ConfigFile = Annotated[
    str,
    typer.Option(
        "--config", metavar="FILE", show_default=False, rich_help_panel=FILES,
        help="Read the settings from this file: a pyproject.toml, or a TOML file of their own.",
    ),
]  # fmt: skip
Isolated = Annotated[
    bool, typer.Option("--isolated", help="Read no settings.", rich_help_panel=FILES)
]
StdinFilename = Annotated[
    str,
    typer.Option(
        metavar="FILE", show_default=False, rich_help_panel=FILES,
        help="The name of the file that comes on standard input.",
    ),
]  # fmt: skip
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Do not use or write the cache.", rich_help_panel=OTHER),
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch", help="Run again after each change of a file, until Ctrl-C.",
        rich_help_panel=OTHER,
    ),
]  # fmt: skip
Resolver = Annotated[
    str,
    typer.Option(
        metavar="cuda|accelerator|MODULE:FUNCTION",
        help="The code that decides the device (default: what suits the project).",
        show_default=False, rich_help_panel=RULES,
    ),
]  # fmt: skip
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print findings and errors, no summary.", rich_help_panel=REPORTS
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", rich_help_panel=REPORTS,
        help="Print which settings and files were read, and how long it took.",
    ),
]  # fmt: skip

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
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Stop a run that takes longer.", show_default="none",
        rich_help_panel=RUNNING,
    ),
]  # fmt: skip
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Stop a run that takes more, such as 4G.",
        show_default="nine tenths of the memory", rich_help_panel=RUNNING,
    ),
]  # fmt: skip
OutputLimit = Annotated[
    str,
    typer.Option(
        metavar="SIZE", help="Stop a run that prints more.", rich_help_panel=RUNNING
    ),
]  # fmt: skip
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Seed Python, NumPy and torch.", show_default="as they are",
        rich_help_panel=RUNNING,
    ),
]  # fmt: skip
Python = Annotated[
    str | None,
    typer.Option(
        metavar="PATH", help="The interpreter to use.", show_default="this one",
        rich_help_panel=RUNNING,
    ),
]  # fmt: skip
JsonReport = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Write what was seen as JSON; - is stdout.",
        rich_help_panel=REPORTS,
    ),
]  # fmt: skip
