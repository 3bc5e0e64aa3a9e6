import io

import pytest
from rich.console import Console

from samedevice.finding import Finding, Fix, Origin, Span
from samedevice.reading import source
from samedevice.report import text


def shown(code: str, finding: Finding, width: int = 80, **console: bool) -> str:
    stream = io.StringIO()
    sources = {finding.path: source.from_text(code, finding.path)}
    text.show(Console(file=stream, width=width, markup=False, **console), [finding], sources)
    return stream.getvalue()


def finding(line: int, column: int, end_line: int, end_column: int, **more: object) -> Finding:
    span = Span(line, column, end_line, end_column)
    return Finding("a.py", span, "rule", "wrong", **more)  # type: ignore[arg-type]


def excerpt(code: str, at: Finding, width: int = 80, **console: bool) -> list[str]:
    return [line.partition("| ")[2] for line in shown(code, at, width, **console).splitlines()[1:3]]


def test_carets_stand_under_the_code() -> None:
    assert excerpt("x = f(1)\n", finding(1, 4, 1, 8)) == ["x = f(1)", "    ^^^^"]


def test_carets_after_tabs_and_wide_characters() -> None:
    assert excerpt("\tx = '日本', f(1)\n", finding(1, 11, 1, 15)) == [
        "    x = '日本', f(1)",
        "    " + " " * 12 + "^^^^",
    ]


def test_a_finding_of_several_lines_shows_the_first() -> None:
    assert excerpt("x = f(\n    1,\n)\n", finding(1, 4, 3, 1)) == ["x = f(", "    ^^"]


def test_an_empty_range_still_has_a_caret() -> None:
    assert excerpt("\n", finding(1, 0, 1, 0)) == ["", "^"]


def test_long_lines_stay_whole_when_nobody_looks() -> None:
    code = "x = [" + "1, " * 100 + "f(1)]"
    assert excerpt(code + "\n", finding(1, 305, 1, 309))[0] == code


@pytest.mark.parametrize("width", [20, 30, 40, 79])
@pytest.mark.parametrize("before", [0, 5, 17, 100])
@pytest.mark.parametrize("wide", [False, True])
def test_on_a_narrow_terminal_the_carets_still_stand_under_the_code(
    width: int, before: int, wide: bool
) -> None:
    filler = "日" if wide else "b"
    code = "    " + filler * before + "MARK" + "a" * 60
    at = finding(1, 4 + before, 1, 8 + before)
    line, carets = excerpt(code + "\n", at, width, force_terminal=True, no_color=True)
    lines = [_plain(line), _plain(carets)]
    cells = "".join(character * (2 if character == "日" else 1) for character in lines[0])
    assert len(cells) + 7 <= width
    start = lines[1].index("^")
    assert cells[start : start + lines[1].count("^")] == "MARK"


def _plain(line: str) -> str:
    import re

    return re.sub(r"\x1b\[[\d;]*m", "", line)


def test_colours_only_on_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    at = finding(1, 0, 1, 1)
    assert "\x1b[" not in shown("x\n", at)
    assert "\x1b[" in shown("x\n", at, force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in shown("x\n", at, force_terminal=True)


def test_code_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in shown("x = '\x1b[2J'\n", finding(1, 4, 1, 11))


def test_origins_and_what_there_is_to_know_about_the_fix() -> None:
    origin = Origin("b.py", Span(12, 4, 12, 5), "x was created on the CPU")
    shown_text = shown("x\n", finding(1, 0, 1, 1, origins=(origin,), unfixed="it is not known"))
    assert "= b.py:12: x was created on the CPU\n" in shown_text
    assert "= not fixed: it is not known\n" in shown_text
    unsafe = Fix((), safe=False, reason="the numbers are others")
    assert "= fixed with --unsafe only: the numbers are others\n" in shown(
        "x\n", finding(1, 0, 1, 1, fix=unsafe)
    )


def test_a_notebook_s_places_are_cells() -> None:
    cells = '{"cells": [{"cell_type": "markdown", "source": ""}, ' + (
        '{"cell_type": "code", "source": ["a = 1\\n", "x = f(1)"]}], "nbformat": 4}'
    )
    notebook = source.from_text(cells, "n.ipynb")
    line = notebook.text.split("\n").index("x = f(1)") + 1
    at = Finding("n.ipynb", Span(line, 4, line, 8), "rule", "wrong")
    stream = io.StringIO()
    text.show(Console(file=stream, markup=False), [at], {"n.ipynb": notebook})
    assert stream.getvalue().startswith("n.ipynb:cell 2:2:5 warning [rule] wrong\n")
