"""`samedevice map`."""

from __future__ import annotations

from typing import Annotated

import typer

from .errors import CLEAN, FAILED, exit_codes
from .help import Command
from .options import (
    ConfigFile,
    Exclude,
    ExtendSelect,
    Ignore,
    Isolated,
    Paths,
    Quiet,
    Resolver,
    Select,
)  # fmt: skip
from .project import read, settings
from .root import app
from .screen import listen, say, tell_errors, working


@app.command(cls=Command, name="map", short_help="Draw where every tensor is, as one HTML page.")
@exit_codes
def map_(
    paths: Paths = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="The page; - is standard output."),
    ] = "map.html",
    image: Annotated[
        str,
        typer.Option(
            "--image",
            metavar="FILE",
            help="Write a picture of the findings instead, such as for a README: an SVG, or a PNG "
            "with samedevice[image].",
        ),
    ] = "",
    fixed: Annotated[
        bool, typer.Option("--fixed", help="Also show the project as `fix` would leave it.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    quiet: Quiet = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="With --fixed, apply unsafe fixes, too.")
    ] = False,
    select: Select = None,
    extend_select: ExtendSelect = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    resolver: Resolver = "",
    config_file: ConfigFile = "",
    isolated: Isolated = False,
) -> int:
    """Write the code as a page in which each tensor, module and move has the colour of its device.

    It needs no network, and runs none of the code.
    """
    from ..map import commands

    listen(quiet)
    paths = paths or ["."]
    output = image or output
    commands.check_output(output, show, bool(image))
    config = settings(
        paths, select=select, extend_select=extend_select, ignore=ignore, exclude=exclude,
        resolver=resolver, unsafe=unsafe, file=config_file, isolated=isolated,
    )  # fmt: skip
    project = read(paths, config)
    if project.sources:
        with working("mapping", project) as step:
            commands.run(
                project,
                config,
                paths,
                output,
                image=bool(image),
                fixed=fixed,
                show=show,
                step=step,
            )
    tell_errors(project.errors)
    if project.sources and output != "-":
        say(f"{output} written")
    return FAILED if project.errors else CLEAN
