"""`--help` in the reader's words: flags under headings, what they take by its name, no types.

typer writes help in two ways: with rich, which takes long to load, and plainly, without headings.
This is the plain way with the headings that `rich_help_panel` names.
"""

from __future__ import annotations

import re
from typing import Any

import typer.core

#: The headings of flags, in the order in which they are shown; flags without one are the first.
PLAIN, RULES, FILES, REPORTS, BASELINE, RUNNING, OTHER = (
    "Options", "Rules", "Files and settings", "Output", "Baseline", "Running the program",
    "Other",
)  # fmt: skip
_ORDER = (PLAIN, RULES, FILES, REPORTS, BASELINE, RUNNING, OTHER)

#: The headings of commands, with the commands under each.
COMMANDS = {
    "Find and repair": ("check", "fix", "explain", "map", "rules", "modernize"),
    "Execute programs": ("run", "prove"),
    "Set up": ("init", "doctor", "server", "cache"),
    "Many repositories": ("batch",),
}


_SENTENCE = 200  # letters of a command's first sentence that are shown


class Command(typer.core.TyperCommand):
    """A command whose flags are shown under headings."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, without braces around what has to be given."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and flags."""
        _parameters(self, ctx, formatter)


class Group(typer.core.TyperGroup):
    """A group of commands; the one at the top has its commands under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write flags, then commands."""
        if ctx.parent is None:
            self._grouped(ctx, formatter)
            _parameters(self, ctx, formatter)
        else:
            _parameters(self, ctx, formatter)
            with formatter.section("Commands"):
                formatter.write_dl(
                    [
                        (name, one.get_short_help_str(_SENTENCE))
                        for name, one in self.commands.items()
                    ]
                )

    def _grouped(self, ctx: Any, formatter: Any) -> None:
        widest = max(len(name) for name in self.commands)
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                limit = formatter.width - 6 - widest
                formatter.write_dl(
                    [
                        (f"{name:<{widest}}", self.commands[name].get_short_help_str(limit))
                        for name in names
                    ]
                )


def _parameters(command: Any, ctx: Any, formatter: Any) -> None:
    arguments: list[tuple[str, str]] = []
    flags: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is None:
            continue
        if parameter.param_type_name == "argument":
            name = (parameter.metavar or parameter.name.upper()).strip("[]{}.")
            arguments.append((name, _help(record[1])))
        else:
            own = {"help": OTHER, "install_completion": OTHER, "show_completion": OTHER}
            heading = own.get(parameter.name) or getattr(parameter, "rich_help_panel", None)
            flags.setdefault(heading or PLAIN, []).append((_flag(record[0]), _help(record[1])))
    if arguments:
        with formatter.section("Arguments"):
            formatter.write_dl(arguments)
    for heading in sorted(flags, key=_ORDER.index):
        with formatter.section(heading):
            formatter.write_dl(flags[heading])


def _flag(name: str) -> str:
    """Return a flag with what it takes; choices without the angle brackets of types."""
    return re.sub(r"[<\[]([^<>\[\]]*\|[^<>\[\]]*)[>\]]$", r"\1", name)


def _help(text: str) -> str:
    """Return the text of a flag with its default in words, and nothing about types."""
    extra = re.search(r"\s*\[([^\[\]]*)\]$", text)
    if extra is None or not re.match(r"default|x[<>]|\d+<=|required|env var", extra[1]):
        return text
    kept = []
    for part in extra[1].split("; "):
        default = re.fullmatch(r"default: \(?(.*?)\)?", part)
        if default is not None:
            kept.append(f"default: {default[1]}")
    return text[: extra.start()] + (f" ({', '.join(kept)})" if kept else "")
