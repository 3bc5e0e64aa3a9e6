"""The documentation: its commands and snippets run, and its reference is that of the code."""

import ast
import doctest
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from samedevice import cli, rules

sys.path.insert(0, str(Path(__file__).parent))

import scratch  # noqa: E402  # beside this file, which is in no package
import snippets  # noqa: E402

DOCS = snippets.ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), snippets.ROOT / "README.md"])
RUN = [page for page in PAGES if "<!-- run" in page.read_text(encoding="utf-8")]
_COMMANDS = typer.main.get_command(cli.app)


def name(page: Path) -> str:
    return page.relative_to(snippets.ROOT).as_posix()


def skip_without_extras(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for words, module in scratch.NEEDS.items():
        if words in text:
            pytest.importorskip(module)


@pytest.mark.parametrize("page", RUN, ids=name)
def test_what_needs_no_torch_runs(page: Path, tmp_path: Path) -> None:
    skip_without_extras(page)
    assert snippets.check(page, tmp_path / "work", torch=False) == []


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("page", RUN, ids=name)
def test_everything_runs(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    skip_without_extras(page)
    assert snippets.check(page, tmp_path / "work", torch=True) == []


def test_all_that_can_be_run_is_run() -> None:
    """Every block of commands or Python says how it is run, or is in a table with the reason."""
    commands = set()
    for page in PAGES:
        for block in snippets.blocks(page.read_text(encoding="utf-8")):
            commands |= {command for command, _ in snippets.commands(block.text)}
            if block.language not in ("console", "sh", "bash", "python") or block.what:
                continue
            elsewhere = {name(page), f"{name(page)}: {block.text.partition(' ')[0].split('.')[0]}"}
            told = elsewhere & set(scratch.ELSEWHERE) or block.text.startswith(">>> ")
            assert told, f"{name(page)}:{block.line}: nothing says how this is run"
    assert set(scratch.NOT_RUN) <= commands, "the table has commands that no page has"


@pytest.mark.parametrize("command", scratch.NOT_RUN)
def test_commands_that_are_not_run_exist_with_their_flags(command: str) -> None:
    word, *words = command.split()[1:]
    found = _COMMANDS
    while word in getattr(found, "commands", {}):
        found = found.commands[word]
        word, *words = words
    found.make_context("samedevice", [word, *words])


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
            if "modernize" in block.text:
                pytest.importorskip("bowler")
            where = f"{name(page)}:{block.line}"
            test = doctest.DocTestParser().get_doctest(block.text, {}, where, None, None)
            assert doctest.DocTestRunner().run(test).failed == 0
        elif block.language in readers:
            try:
                readers[block.language](block.text)
            except Exception as error:
                pytest.fail(f"{name(page)}:{block.line}: {error}")


def test_configurations_of_editors_parse(tmp_path: Path) -> None:
    """Those that tests/test_editors.py runs, and those for versions that are not here."""
    readers = {
        "lua": ["nvim", "--headless", "-u", "NONE", "+lua assert(loadfile('FILE'))", "+qa"],
        "elisp": ["emacs", "--batch", "--eval",
                  '(with-temp-buffer (insert-file-contents "FILE") (check-parens)'
                  " (condition-case nil (while t (read (current-buffer))) (end-of-file nil)))"],
    }  # fmt: skip
    for number, block in enumerate(snippets.blocks((DOCS / "editors.md").read_text("utf-8"))):
        reader = readers.get(block.language)
        if reader is None or shutil.which(reader[0]) is None:
            continue
        path = tmp_path / f"{number}"
        path.write_text(block.text, encoding="utf-8")
        words = [word.replace("FILE", str(path)) for word in reader]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "Error" not in done.stderr, done.stderr


def test_settings_in_the_pages_exist(tmp_path: Path) -> None:
    from samedevice.reading import config

    for page in PAGES:
        for block in snippets.blocks(page.read_text(encoding="utf-8")):
            if block.language == "toml" and "[tool.samedevice]" in block.text:
                (tmp_path / "pyproject.toml").write_text(block.text, encoding="utf-8")
                config.load([str(tmp_path)])


def test_a_block_that_fails_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for number, (language, words, text) in enumerate([
        ("console", ": list", "$ samedevice check --no-such-flag\n"),
        ("console", ": list", "$ make no-such-target\n"),
        ("sh", "", "exit 1\n"),
        ("python", "", "1 / 0\n"),
    ]):  # fmt: skip
        page.write_text(f"<!-- run{words} -->\n```{language}\n{text}```\n")
        with pytest.raises(AssertionError, match="exit code"):
            snippets.check(page, tmp_path / f"{number}" / "work", torch=False)
    page.write_text("<!-- run: fails -->\n```python\n1 / 0\n# NameError: x\n```\n")
    assert snippets.check(page, tmp_path / "error" / "work", torch=False)


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


def test_every_rule_has_a_page_with_its_example_as_a_diff(generated: dict[str, str]) -> None:
    for name in rules.load():
        assert f"| [{name}](rules/{name}.md) | " in generated["reference/rules.md"]
        page = generated[f"reference/rules/{name}.md"]
        assert f"\n# {name}\n" in page and '    ```python\n    """' in page  # its source
        if "```diff\n" not in page and "there is no fix" in page:
            continue  # nothing becomes of its example
        diff = page.split("```diff\n")[1].split("```")[0]
        assert re.search("^[-+]", diff, re.M), page


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
