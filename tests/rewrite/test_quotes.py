"""New code has the quotes of its line, else of its file."""

from __future__ import annotations

import pytest

from .spelled import one

ASKED = '"cuda" if t.cuda.is_available() else "cpu"'
HERE = "'cuda' if t.cuda.is_available() else 'cpu'"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a = 'b'\nc = d\n", f"a = 'b'\nc = {HERE}\n"),
        ('a = "b"\nc = d\n', f'a = "b"\nc = {ASKED}\n'),
        ("a = b\nc = d\n", f"a = b\nc = {ASKED}\n"),
        ("a = \"b\"\nc = d, 'e'\n", f"a = \"b\"\nc = {HERE}, 'e'\n"),
        ("a = 'b'\nc = d, \"e\"\n", f"a = 'b'\nc = {ASKED}, \"e\"\n"),
        ('"""It\'s a file\'s text."""\nc = d\n', f'"""It\'s a file\'s text."""\nc = {ASKED}\n'),
    ],
)
def test_new_words(text: str, after: str) -> None:
    assert one(text, "d", "replace", code=ASKED) == after


def test_what_was_there_keeps_its_quotes() -> None:
    text = "a = ['b', 'c']\nd(\"e\")\n"
    code = 'if f == "cuda":\n    d("e")'
    after = "a = ['b', 'c']\nif f == \"cuda\":\n    d(\"e\")\n"
    assert one(text, 'd("e")', "replace_statement", code=code) == after
