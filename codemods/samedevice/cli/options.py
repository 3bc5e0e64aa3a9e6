"""The arguments and flags that commands share; a flag has one meaning wherever it is."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Format(str, Enum):
    """The forms that `check` can report in."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    gitlab = "gitlab"


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
        metavar="RULE", help="Only this rule (repeat it, or a,b).", autocompletion=rule_names
    ),
]


Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Without this rule (repeat it, or a,b).", autocompletion=rule_names
    ),
]


Safe = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Count this rule's fixes as safe.", autocompletion=rule_names
    ),
]


UnsafeRule = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE", help="Count this rule's fixes as unsafe.", autocompletion=rule_names
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
