from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from samedevice.finding import Span
from samedevice.reading import source
from samedevice.reading.source import Source, SourceError


def named(file: Source, name: str) -> ast.Name:
    """Return the first `ast.Name` called `name`."""
    return next(n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and n.id == name)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1",
        b"x = 1\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"x = 1\ny = 2\r\nz = 3\rw = 4",
        b"\xef\xbb\xbfx = 1\r\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
        b"# coding: shift_jis\nx = '\x93\xfa'\r\n",
        "x = '\u2028\u2029\x85'; y = 'é😀'\n".encode(),
        b"x = 1\n\x0c\ny = 2\n\x0cz = 3\n\x0b",
        b"\tx\n",
    ],
)
def test_bytes_come_back(data: bytes) -> None:
    file = source.from_bytes(data, "a.py")
    assert "\r" not in file.text
    assert file.encode(file.text) == data


def test_newlines_of_new_and_kept_lines() -> None:
    windows = source.from_bytes(b"a\r\nb\r\n", "a.py")
    assert windows.encode("a\nnew\nb\n") == b"a\r\nnew\r\nb\r\n"
    mixed = source.from_bytes(b"a\r\nb\nc\r\nd\re", "a.py")
    assert mixed.encode("a\nnew\nb\nc\nd\ne") == b"a\r\nnew\r\nb\nc\r\nd\re"
    assert mixed.encode("b\nd\ne") == b"b\nd\re"


def test_spans_count_characters() -> None:
    text = "é = 'ß€😀'; x = f(é)\nif é:\n    z = '''a\n\u2028é'''; y = é\n"
    file = source.from_text(text)
    assert file.span(named(file, "x")) == Span(1, 11, 1, 12)
    assert file.segment(named(file, "f")) == "f"
    call = next(n for n in ast.walk(file.tree) if isinstance(n, ast.Call))
    assert file.segment(call) == "f(é)"
    assert file.span(named(file, "y")) == Span(4, 7, 4, 8)
    string = file.tree.body[2].body[0]  # type: ignore[attr-defined]
    assert file.segment(string) == "z = '''a\n\u2028é'''"


def test_every_segment_is_what_ast_says() -> None:
    text = "def é(a, *b: int = 'ü') -> c:\n\treturn (a,\n\t  'é', b)  # ß\n@d\nclass X: pass\n"
    text = text.replace(" = 'ü'", "")
    file = source.from_text(text)
    for node in ast.walk(file.tree):
        if hasattr(node, "lineno"):
            assert file.segment(node) == ast.get_source_segment(text, node)


def test_lines_and_offsets() -> None:
    file = source.from_text("a\n\x0cb\u2028c\n\nd")
    assert [file.line(n) for n in (1, 2, 3, 4)] == ["a", "\x0cb\u2028c", "", "d"]
    with pytest.raises(IndexError):
        file.line(5)
    for offset in range(len(file.text) + 1):
        assert file.offset(*file.position(offset)) == offset
    assert file.cell_of(1) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = (\n", "bad.py:1:5: '(' was never closed"),
        (b"x = 1\nprint 'two'\n", "bad.py:2:1: Missing parentheses"),
        (b"\x00\x01\x02", "bad.py: this is a binary file"),
        (b"x = 1\ny = '\xff\xfe'\n", "bad.py:2: not utf-8 text"),
        (b"# coding: no-such-codec\n", "bad.py: unknown encoding: no-such-codec"),
        (b"# coding: rot13\nk = 1\n", "bad.py: rot13 is not a text encoding"),
        (b"if x:\n\ty\n        z\n", "bad.py:3"),
    ],
)
def test_bad_input_is_one_message(data: bytes, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        _ = source.from_bytes(data, "bad.py").tree
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [
        "(" * 10_000 + ")" * 10_000,
        "-" * 200_000 + "x",
        "a" + ".b" * 100_000,
        "a" + " + a" * 1_000,
        "a" + "(\n1)" * 300,
        "[" * 90 + "x" + "]" * 90 + "[0]" * 400,
    ],
    ids=["parentheses", "signs", "attributes", "sums", "calls", "subscripts"],
)
def test_deep_nesting_is_a_message(code: str) -> None:
    with pytest.raises(SourceError, match=r"bad\.py.*nested"):
        _ = source.from_text(f"x = {code}\n", "bad.py").tree


def test_a_long_chain_of_elif_is_deep() -> None:
    chain = "if a: b\n" + "elif a: b\n" * 1000
    with pytest.raises(SourceError, match="nested too deeply"):
        _ = source.from_text(chain).tree
    assert source.from_text("x = [" + "a + b, " * 5000 + "]\n" + "a.b\n" * 9999).tree


def test_unreadable_paths(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"missing\.py: cannot be read: No such file"):
        source.read(str(tmp_path / "missing.py"))
    with pytest.raises(SourceError, match="not a regular file"):
        source.read(tmp_path)
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    with pytest.raises(SourceError, match="cannot be read: Too many levels"):
        source.read(loop)
    with pytest.raises(SourceError, match="cannot be read"):
        source.read("a\0b.py")


def test_a_character_the_encoding_lacks() -> None:
    file = source.from_bytes(b"# coding: latin-1\nx = 1\n", "a.py")
    with pytest.raises(SourceError, match=r"latin-1|iso-8859-1"):
        file.encode("# coding: latin-1\nx = '€'\n")


def test_warnings_of_the_code_are_its_own_business(recwarn: pytest.WarningsRecorder) -> None:
    _ = source.from_text("x = '\\d'; y = 1 is 1\n").tree
    assert not recwarn.list


def test_standard_library_comes_back() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    for path in sorted(folder.glob("*.py"))[::8]:
        file = source.read(path)
        assert file.encode(file.text) == path.read_bytes()
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Name):
                assert file.segment(node) == node.id
