"""What readers stumble over stays out of messages, texts of rules, help and pages (see the page of
style)."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STYLE = ROOT / "docs" / "contributing" / "style.md"
PACKAGE = ROOT / "codemods" / "samedevice"
#: Pages that may speak the words of the inference, quote old sentences, or record what was.
OWN_WORDS = ("docs/explanation/", "docs/proof/", "docs/contributing/style.md")
#: The inference, and the virtual accelerator's inside: what they say is not said to users.
INSIDE = ("inference/", "prove/virtual/", "torchfacts/")


def unwanted() -> list[str]:
    """Return the second column of the table of words."""
    table = STYLE.read_text("utf-8").partition("## Words")[2]
    rows = [line.strip().strip("|").split("|") for line in table.splitlines() if line[:1] == "|"]
    return [words.strip() for row in rows[2:] for words in row[1].split(" / ")]


@cache
def pages() -> dict[str, str]:
    """Return the text of each page."""
    texts = {}
    found = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "codemods/vscode/README.md"]
    for path in found:
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OWN_WORDS):
            texts[name] = path.read_text("utf-8")
    return texts


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a module that may be shown: no docstrings, no single words."""
    hidden = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            hidden.update(id(part) for part in node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in hidden:
            if isinstance(node.value, str) and " " in node.value.strip():
                yield node.value


@cache
def code() -> dict[str, str]:
    """Return all that each file of the package says."""
    said = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(INSIDE):
            continue
        tree = ast.parse(path.read_bytes())
        shown = list(messages(tree))
        if name.startswith("rules/"):  # what `samedevice rules` shows
            shown.append(ast.get_docstring(tree) or "")
        if name.startswith("cli/"):  # what `--help` shows
            functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
            shown += [ast.get_docstring(each) or "" for each in functions]
        said[name] = "\n".join(shown)
    return said


def found_in(words: str, texts: dict[str, str]) -> list[str]:
    pattern = re.compile(rf"\b{re.escape(words)}\b".replace(r"\ ", r"\s+"), re.IGNORECASE)
    return [name for name, text in texts.items() if pattern.search(text)]


@pytest.mark.parametrize("words", unwanted())
def test_no_page_says(words: str) -> None:
    assert found_in(words.strip("`."), pages()) == []


@pytest.mark.parametrize("words", unwanted())
def test_no_message_and_no_rule_says(words: str) -> None:
    assert found_in(words.strip("`."), code()) == []


def test_nobody_says_we() -> None:
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    del texts[STYLE.relative_to(ROOT).as_posix()]
    assert found_in("we", texts) == [] and found_in("our", texts) == []


def test_the_words_are_read_off_the_page() -> None:
    words = unwanted()
    assert len(words) > 30 and "on the host" in words and "come to rest" in words


def test_messages_are_seen() -> None:
    tree = ast.parse(
        '"""On the host."""\nsay(f"`{x}` is on the host")\nprint("to the host")\nkey = "host"\n'
    )
    assert list(messages(tree)) == ["`X` is on the host", "to the host"]
    said = code()
    assert "is a plain attribute: it stays on the CPU" in said["rules/tensor_not_a_buffer.py"]
    assert "Why: a DataLoader yields tensors on the CPU." in said["rules/batch_not_moved.py"]
    assert "Report what is on the wrong device" in said["cli/check.py"]
