from dataclasses import replace

import pytest

from samedevice import source
from samedevice.finding import Edit, Finding, Fix, Span
from samedevice.suppress import Suppressions


def covers(text: str, line: int, rule: str = "one", end_line: int | None = None) -> bool:
    sources = {"a.py": source.from_text(text, "a.py")}
    return Suppressions(sources).covers("a.py", Span(line, 0, end_line or line, 1), rule)


@pytest.mark.parametrize(
    ("comment", "covered"),
    [
        ("# samedevice: ignore", True),
        ("# samedevice: ignore[one]", True),
        ("# samedevice: ignore[two, one]", True),
        ("#samedevice:ignore[ one ]  because", True),
        ("# samedevice: ignore[two]", False),
        ("# samedevice: ignore[]", False),
        ("# samedevice: ignored", False),
        ("# see samedevice: ignore", False),
    ],
)
def test_which_rules_a_comment_names(comment: str, covered: bool) -> None:
    assert covers(f"x = 1  {comment}\n", 1) is covered


def test_a_comment_speaks_for_its_own_line_only() -> None:
    text = "x = 1  # samedevice: ignore\ny = 2\n"
    assert covers(text, 1)
    assert not covers(text, 2)


def test_a_comment_with_a_line_to_itself_speaks_for_the_next_line_of_code() -> None:
    text = "if x:\n    # samedevice: ignore[one]\n\n    # why\n    y = f(\n        2)\n"
    assert covers(text, 5)
    assert not covers(text, 1)
    assert not covers(text, 6)
    assert covers(text, 5, end_line=6)


def test_inside_of_a_call() -> None:
    text = "f(\n    1,\n    # samedevice: ignore\n    2,\n    3,\n)\n"
    assert covers(text, 4)
    assert not covers(text, 2)
    assert not covers(text, 5)


def test_the_last_line_of_a_long_expression_will_do() -> None:
    assert covers("f(\n    1,\n)  # samedevice: ignore\n", 1, end_line=3)


def test_text_that_only_looks_like_a_comment() -> None:
    assert not covers('x = "# samedevice: ignore"\n', 1)


def test_a_finding_whose_fix_would_touch_such_a_line_loses_the_fix() -> None:
    text = "x = 1  # samedevice: ignore[one]\ny = 2\n"
    suppressions = Suppressions({"a.py": source.from_text(text, "a.py")})
    fix = Fix((Edit("a.py", Span(1, 0, 1, 1), "delete"),))
    finding = Finding("a.py", Span(2, 0, 2, 1), "one", "wrong", fix=fix)
    kept = suppressions.apply(finding)
    assert kept is not None
    assert kept.fix is None
    assert "a.py:1" in kept.unfixed
    other = replace(finding, rule="two")
    assert suppressions.apply(other) == other
    assert suppressions.apply(replace(finding, span=Span(1, 0, 1, 1))) is None
