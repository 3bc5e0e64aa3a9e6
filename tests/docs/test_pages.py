"""The documentation: its commands and snippets run, and its reference is that of the code."""

import ast
import contextlib
import doctest
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from samedevice import cli, rules

sys.path.insert(0, str(Path(__file__).parent))

import snippets  # noqa: E402  # beside this file, which is in no package

DOCS = snippets.ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), snippets.ROOT / "README.md"])
RUN = [page for page in PAGES if "<!-- run" in page.read_text(encoding="utf-8")]
_COMMANDS = typer.main.get_command(cli.app)


def name(page: Path) -> str:
    return page.relative_to(snippets.ROOT).as_posix()


@pytest.mark.parametrize("page", RUN, ids=name)
def test_what_needs_no_torch_runs(page: Path, tmp_path: Path) -> None:
    assert snippets.check(page, tmp_path / "work", torch=False) == []


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("page", RUN, ids=name)
def test_everything_runs(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert snippets.check(page, tmp_path / "work", torch=True) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist_with_their_flags(page: Path) -> None:
    """Every `samedevice ...` of a console block is one that the command line would take."""
    for block in snippets.blocks(page.read_text(encoding="utf-8")):
        if block.language != "console":
            continue
        for line, _ in snippets.commands(block.text):
            for part in re.split(r"\||&&|;", line):
                words = shlex.split(re.sub(r"2?>&?\S*", "", part), comments=True)
                if "..." not in words and words[:1] == ["samedevice"]:
                    parse(_COMMANDS, words[1:], f"{name(page)}:{block.line}: {line}")


def parse(command: object, words: list[str], where: str) -> None:
    """Parse words as the command line does, without running anything."""
    inner = getattr(command, "commands", {})
    if inner and words and not words[0].startswith("-"):
        assert words[0] in inner, where
        parse(inner[words[0]], words[1:], where)
        return
    try:
        with contextlib.suppress(typer.Exit, SystemExit):  # --version, --help
            command.make_context("samedevice", list(words))  # type: ignore[attr-defined]
    except Exception as error:
        pytest.fail(f"{where}: {error}")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_snippets_are_what_they_say(page: Path) -> None:
    yaml = pytest.importorskip("yaml")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    readers = {"python": ast.parse, "json": json.loads, "toml": tomllib.loads,
               "yaml": lambda text: list(yaml.safe_load_all(text))}  # fmt: skip
    for block in snippets.blocks(page.read_text(encoding="utf-8")):
        if block.text.startswith(">>> "):
            where = f"{name(page)}:{block.line}"
            test = doctest.DocTestParser().get_doctest(block.text, {}, where, None, None)
            assert doctest.DocTestRunner().run(test).failed == 0
        elif block.language in readers:
            try:
                readers[block.language](block.text)
            except Exception as error:
                pytest.fail(f"{name(page)}:{block.line}: {error}")


def test_settings_in_the_pages_exist(tmp_path: Path) -> None:
    from samedevice import config

    for page in PAGES:
        for block in snippets.blocks(page.read_text(encoding="utf-8")):
            if block.language == "toml" and "[tool.samedevice]" in block.text:
                (tmp_path / "pyproject.toml").write_text(block.text, encoding="utf-8")
                config.load([str(tmp_path)])


def test_a_snippet_that_prints_something_else_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- run -->\n```console\n$ echo one; echo two\none\n...\nthree\n```\n")
    assert snippets.check(page, tmp_path / "a", torch=False)
    page.write_text("<!-- run -->\n```console\n$ echo one; echo two; echo 3 s\n...\n... s\n```\n")
    assert snippets.check(page, tmp_path / "b", torch=False) == []


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    pytest.importorskip("pydantic")
    sys.path.insert(0, str(DOCS))
    import generate

    return {path: make() for path, make in generate.PAGES.items()}


def test_every_rule_has_its_example_as_a_diff(generated: dict[str, str]) -> None:
    sections = generated["reference/rules.md"].split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == list(rules.load())
    for section in sections:
        diff = section.split("```diff\n")[1].split("```")[0]
        assert re.search("^[-+]", diff, re.M), section


def test_every_command_and_setting_is_in_the_reference(generated: dict[str, str]) -> None:
    for command in ("check", "fix", "batch run", "batch rollback", "server", "map"):
        assert f"\n## samedevice {command}\n" in generated["reference/commands.md"]
    assert "| `unsafe` | true or false | `--unsafe` |" in generated["reference/settings.md"]
    assert "124 at the time limit" in generated["reference/exit-codes.md"]


def test_reports_follow_the_schemas(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("pydantic")
    sys.path.insert(0, str(DOCS))
    import generate

    (tmp_path / "a.py").write_text("import torch\nx = torch.zeros(3).cuda()\n")
    (tmp_path / "b.py").write_text("import torch\nx = (\n")
    printed = {
        "check --format json": ["check", "--format", "json", "."],
        "fix --report changes.json": ["fix", "--diff", "--report", "changes.json", "."],
    }
    for title, words in printed.items():
        done = subprocess.run(
            [sys.executable, "-m", "samedevice", *words],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        report = done.stdout if words[0] == "check" else (tmp_path / "changes.json").read_text()
        schema = generate.schemas()[title]
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(report), schema)
        assert json.loads(report)["errors"], "nothing was tried on errors"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(report) | {"version": 2}, schema)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=snippets.ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
