"""What the commands of `samedevice batch` take: options, and from words to settings and back."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from .run import Settings
    from .sources import Listed
    from .state import State


FINE, ATTENTION, INTERRUPTED = 0, 1, 130


class EngineName(str, Enum):
    """The engines."""

    pool = "pool"
    ray = "ray"


Listing = Annotated[
    str,
    typer.Argument(
        metavar="LIST",
        help="A .toml file, a text file of addresses, a folder of checkouts, or FORGE:GROUP with "
        "github, gitlab, gitea, bitbucket or azure.",
        show_default=False,
    ),
]
Folder = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the batch is kept.")]
Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Only these repositories.", show_default="all"),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROTOCOL", help="Let git speak http, git or file, too.", show_default="https, ssh"
    ),
]
Api = Annotated[
    str, typer.Option(metavar="URL", help="The forge's API, if it is your own installation.")
]
TokenEnv = Annotated[
    str, typer.Option(metavar="VARIABLE", help="The variable that holds the forge's token.")
]
PolicyFile = Annotated[
    str, typer.Option("--policy", metavar="FILE", help="Settings; see docs/batch.md.")
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=0,
        help="How many repositories at a time.",
        show_default="one for each core",
    ),
]
Push = Annotated[bool, typer.Option("--push", help="Push the branches.")]
PullRequests = Annotated[
    bool, typer.Option("--pull-request", help="Push, and open or update pull requests.")
]
Engine = Annotated[EngineName, typer.Option(help="This machine, or a Ray cluster.")]
Address = Annotated[str, typer.Option(metavar="ADDRESS", help="The address of the Ray cluster.")]

FOLDER = Path("samedevice-batch")


def policy(file: str, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a policy file and of flags, by their names in TOML."""
    from . import policy as policy_

    policy = policy_.read(file) if file else policy_.Policy()
    return policy.with_table(flags, "flags").to_json()


def with_policy(settings: Settings, file: str) -> Settings:
    """Return settings with the policy and the rollout of another file."""
    from dataclasses import replace

    author = settings.policy.get("author", "")
    policy_ = {"author": author, **policy(file, {})}
    return replace(settings, policy=policy_, rollout=rollout(file))


def counted(number: int, noun: str) -> str:
    """Return a number of things, in words."""
    from .report_data import counted

    return counted(number, noun)


def rollout(file: str) -> dict[str, Any]:
    """Return the `[rollout]` table of a policy file."""
    from . import rollout as rollout_

    return rollout_.of_file(file) if file else {}


def listed(what: str, settings: Settings, api: str, token_env: str) -> Listed:
    """Return the repositories that a user names; raises `ConfigError`."""
    from . import sources

    return sources.read(what, settings.allow, api=api, token_env=token_env)


def with_bare(settings: Settings, listed: Listed) -> Settings:
    """Let git clone from paths where a folder that was named holds bare repositories."""
    import os
    from dataclasses import replace

    if any(os.path.isabs(one.source) and not one.checkout for one in listed.repositories):
        return replace(settings, allow=(*settings.allow, "file"))
    return settings


def protocols(allow: list[str] | None) -> tuple[str, ...]:
    """Return what git may speak; raises `ConfigError` for another word."""
    from ..reading.config import ConfigError
    from .git import PROTOCOLS

    for name in allow or ():
        if name not in (*PROTOCOLS, "http", "git", "file"):
            raise ConfigError(f"--allow {name}: expected http, git or file")
    return tuple(dict.fromkeys((*PROTOCOLS, *(allow or ()))))


def cluster(
    address: str, cpus: float, gpus: float, memory: int | None, resources: list[str] | None
) -> Any:
    """Return the Ray cluster of the options; raises `ConfigError`."""
    from ..reading.config import ConfigError
    from .engines import Cluster

    own = {}
    for item in resources or ():
        name, _, number = item.partition("=")
        try:
            own[name] = float(number)
        except ValueError:
            raise ConfigError(f"--resource {item}: expected NAME=NUMBER") from None
    return Cluster(address, cpus, gpus, memory << 20 if memory else None, own)


def delivering(settings: Settings, push: bool, pull_request: bool) -> Settings:
    """Return settings that deliver at least what they did, and what is asked for now."""
    from dataclasses import replace

    from .job import Delivery

    before = settings.delivery
    now = Delivery(push or pull_request or before.push, pull_request or before.pull_request)
    return replace(settings, delivery=now)


def changed(
    state: State, push: bool, pull_request: bool, jobs: int, engine: EngineName | None, address: str
) -> Settings:
    """Return the batch's settings with those that were given anew."""
    from dataclasses import replace

    from .run import Settings

    settings = delivering(Settings.of(state), push, pull_request)
    if jobs:
        settings = replace(settings, width=jobs)
    if engine is not None:
        settings = replace(settings, engine=engine.value)
    if address:
        settings = replace(settings, cluster=replace(settings.cluster, address=address))
    return settings


def names(given: list[str] | None) -> list[str]:
    """Return the names in options that may each hold several, with commas."""
    return [name for word in given or () for name in word.split(",") if name]


def console(stderr: bool = False) -> Console:
    """Return a console that takes nothing of what it prints for markup."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def print_json(data: Any) -> None:
    """Print JSON on one line."""
    import json

    typer.echo(json.dumps(data))


def printable(text: str) -> str:
    """Return text that no terminal obeys."""
    from ..report.place import printable

    return printable(text)


def confirmed(question: str) -> bool:
    """Ask a question on the terminal; without an answer it is no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        typer.echo("\nno answer; --yes does not ask", err=True)
        return False


def opened(folder: Path) -> State:
    """Open the batch in a folder; raises `ConfigError`."""
    from . import state

    return state.open_(folder)
