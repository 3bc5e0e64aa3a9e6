"""`samedevice rules`."""

from __future__ import annotations

from typing import Annotated

import typer

from .errors import CLEAN, exit_codes, fail
from .help import Command
from .options import rule_names
from .root import app
from .screen import NARROW, make_console


@app.command(cls=Command)
@exit_codes
def rules(
    name: Annotated[
        str, typer.Argument(metavar="RULE", help="Explain this rule.", autocompletion=rule_names)
    ] = "",
) -> int:
    """List the rules, or explain one with an example."""
    from rich.markdown import Markdown
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from .. import rules as rules_
    from ..finding import current_rule
    from ..migration.check import unknown_rule

    known = rules_.load()
    console = make_console()
    if not name:
        if not console.is_terminal:
            console.width = 1000  # one line a rule for grep and the like
        if console.width < NARROW:
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
    name = current_rule(name)
    if name not in known:
        fail(unknown_rule(name, known))
    if not console.is_terminal:
        typer.echo(f"{name}\n{known[name].doc}")  # as it is, for pagers, logs and assistants
        return CLEAN
    console.print(Text(name, "bold"))
    console.print(Markdown(known[name].doc))
    return CLEAN
