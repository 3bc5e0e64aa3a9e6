"""The pages of the reference, made from the code whenever MkDocs builds the site (a hook of it)."""

from __future__ import annotations

import difflib
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter
from typer.testing import CliRunner

from samedevice import __version__, cli, rules
from samedevice.batch import commands as batch_commands
from samedevice.batch import record
from samedevice.cli import installation
from samedevice.prove import commands as prove_commands
from samedevice.reading import config
from samedevice.report import changes
from samedevice.report import json as report

_CODE = r"(?:    [^\n]*\n|\n)+"
_EXAMPLE = re.compile(rf"^Example:\n\n(?P<before>{_CODE})becomes\n\n(?P<after>{_CODE})", re.M)


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to those of the folder (called by MkDocs)."""
    from mkdocs.structure.files import File

    for path, make in PAGES.items():
        files.append(File.generated(config, path, content=make()))
    return files


def rule_index() -> str:
    """Return the page that lists all rules."""
    rows = "\n".join(
        f"| [{rule.name}](rules/{rule.name}.md) | {rule.summary} |"
        for rule in rules.load().values()
    )
    return (
        "---\ndescription: All rules of samedevice, with what each finds.\n---\n\n# Rules\n\n"
        "Each has a page with its reason, an example and its source. `samedevice rules NAME` shows "
        "the same in a terminal; [rules.json](../rules.json) has this list for programs.\n\n"
        f"| rule | what it finds |\n| --- | --- |\n{rows}\n"
    )


def rule_page(name: str) -> str:
    """Return the page of one rule: why, its example as a diff, its switches, its source."""
    rule = rules.load()[name]
    body = _EXAMPLE.sub(_as_diff, rule.doc.partition("\n")[2] + "\n")
    path = Path(rules.__file__).with_name(f"{name.replace('-', '_')}.py")
    source = textwrap.indent(path.read_text("utf-8"), "    ")
    told = f'"{rule.summary}"'.replace("`", "")
    return (
        f"---\ndescription: {told}\n---\n\n# {name}\n\n**{rule.summary}**\n{body}\n"
        "## Switches\n\n"
        f"`samedevice check --select {name}` asks for this rule only, `--ignore {name}` leaves it "
        f"out, and `# samedevice: ignore[{name}]` at the end of a line does so for that line. "
        "[Settings](../settings.md) do the same for a project.\n\n"
        f'??? abstract "Its source: codemods/samedevice/rules/{path.name}"\n\n'
        f"    ```python\n{source}    ```\n\n[All rules](../rules.md)\n"
    )


def _as_diff(example: re.Match[str]) -> str:
    before, after = (textwrap.dedent(example[side]).strip("\n") for side in ("before", "after"))
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=99, lineterm="")
    diff = "\n".join(list(lines)[3:])  # without names and numbers of lines
    return f"```diff\n{diff}\n```\n\n"


def command_page() -> str:
    """Return what `--help` says, of every command."""
    parts = [
        "# Every command and flag\n\n"
        "What `--help` says. [The command line](../cli.md) explains it.\n"
    ]
    for words in _commands(typer.main.get_command(cli.app), ()):
        terminal = CliRunner(env={"COLUMNS": "96", "TERM": "dumb"})
        said = terminal.invoke(cli.app, [*words, "--help"], prog_name="samedevice")
        title = " ".join(("samedevice", *words))
        text = re.sub(r" +$", "", said.output.strip(), flags=re.M)
        parts.append(f"## {title}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _commands(inner, (*words, name))


_OTHER_KINDS = {
    "per-file-ignores": "a table of patterns, each with a list of rules",
    "extend": "the name of a file",
}
_KINDS = {"bool": "true or false", "str": "a string", "int | None": "a number", "": "a table"}
_NO_FLAG = {
    "docs-url": "Where this site is served: findings and SARIF link the page of their rule there.",
    "line-length": "Width of the code that `fix` writes, in characters; "
    "by default what ruff or black are given.",
    "per-file-ignores": "Rules that are off in the files that a pattern names, as in .gitignore.",
    "extend": "Settings to start from: those of another file, seen from this one.",
    "batch": "This repository's own settings for [a batch](../batch.md#policy).",
}


def settings_page() -> str:
    """Return the keys of `[tool.samedevice]` with their flags' help."""
    group: Any = typer.main.get_command(cli.app)
    flags = {
        flag.removeprefix("--"): option.help or ""
        for name in ("fix", "check")
        for option in group.commands[name].params
        for flag in option.opts
    }
    types = {field.name.replace("_", "-"): str(field.type) for field in fields(config.Config)}
    rows = []
    for key in config.KEYS:
        known = "a list of strings" if key in config.LISTS else _OTHER_KINDS.get(key)
        kind = known or _KINDS[types.get(key, "")]
        flag = f"`--{key}`" if key in flags else ""
        rows.append(f"| `{key}` | {kind} | {flag} | {flags.get(key) or _NO_FLAG[key]} |")
    return (
        "# Settings\n\nKeys of the table `[tool.samedevice]` in the nearest pyproject.toml upward. "
        "[The command line](../cli.md#settings) has an example.\n\n"
        "| key | value | flag | |\n| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n\n"
        "A key that is not listed, or a value of another type, is an error (exit code 2) that "
        "names the file.\n"
    )


def exit_code_page() -> str:
    """Return the exit codes, from the constants of the command line and the rooms' docstrings."""
    codes = {
        cli.CLEAN: "clean: nothing found, or everything found was repaired",
        cli.FOUND: "findings are left, or a diff was shown and not written",
        cli.FAILED: "an error: some file or setting could not be used; other files are still done",
        cli.INTERRUPTED: "interrupted (Ctrl-C)",
    }
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in codes.items())
    parts = [f"# Exit codes\n\n| code | |\n| --- | --- |\n{rows}\n"]
    for title, module in (("run and prove", prove_commands), ("batch", batch_commands)):
        told = [
            paragraph
            for paragraph in inspect.cleandoc(module.__doc__ or "").split("\n\n")
            if "xit codes" in paragraph
        ]
        if told:
            parts.append(f"## {title}\n\n" + "\n\n".join(told) + "\n")
    return "\n".join(parts)


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each document that programs read, by the command that writes it."""
    return {
        "check --format json": _schema(report.Report),
        "fix --report changes.json": _schema(changes.ChangeList, version=report.VERSION),
        "doctor --json": _schema(installation.Checks, version=1),
        "batch records": _schema(record.Record, schema=record.SCHEMA),
    }


def _schema(kind: Any, **constants: int) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(mode="serialization")
    first = {name: {"const": value, "type": "integer"} for name, value in constants.items()}
    schema["properties"] = first | schema["properties"]
    schema["required"] = [*first, *schema.get("required", ())]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def json_page() -> str:
    """Return a JSON Schema for each of the documents that programs read."""
    parts = [
        "# JSON\n\nThe schemas (JSON Schema 2020-12) of what programs read, made from the types "
        "that the code writes. They change only with `version` (in a batch's records: `schema`). "
        "Findings are also written as SARIF 2.1.0, which has "
        "[its own schema](https://json.schemastore.org/sarif-2.1.0.json).\n"
    ]
    for title, schema in schemas().items():
        text = json.dumps(schema, indent=2)
        parts.append(f"## samedevice {title}\n\n```json\n{text}\n```\n")
    return "\n".join(parts)


def python_page() -> str:
    """Return the page of what may be imported, for mkdocstrings to fill."""
    names = [
        "samedevice.reading.config.Config", "samedevice.reading.config.load",
        "samedevice.migration.migrate.read", "samedevice.migration.check.check",
        "samedevice.migration.migrate.migrate",
        "samedevice.finding.Finding", "samedevice.finding.Fix", "samedevice.finding.Span",
        "samedevice.map.page",
        "samedevice.prove.prove.prove", "samedevice.prove.run.run_program",
        "samedevice.prove.run.Settings",
    ]  # fmt: skip
    blocks = "\n\n".join(f"::: {name}" for name in names)
    return (
        f"# From Python\n\nsamedevice {__version__}. What stays as it is from version to version "
        f"is the command line; these are what it calls.\n\n{blocks}\n"
    )


PAGES: dict[str, Callable[[], str]] = {
    "reference/rules.md": rule_index,
    **{f"reference/rules/{name}.md": partial(rule_page, name) for name in rules.load()},
    "reference/commands.md": command_page,
    "reference/settings.md": settings_page,
    "reference/exit-codes.md": exit_code_page,
    "reference/json.md": json_page,
    "reference/python.md": python_page,
}
