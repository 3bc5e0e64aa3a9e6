from dataclasses import replace

import pytest

from samedevice.finding import Edit, Finding, Fix, Span
from samedevice.reading import source
from samedevice.reading.config import PerFile
from samedevice.reading.suppress import Suppressions, comments_of, meant


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
        ("# type: ignore  # samedevice: ignore[one]", True),
        ("# noqa: E501 # samedevice: ignore", True),
        ("# samedevice: ignore[two]  # type: ignore[one]", False),
        ("# samedevice: ignore-next-line[one]", False),
        ("# samedevice: ignore-file[one]", True),
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


def test_the_next_line_and_the_whole_file() -> None:
    text = "x = 1  # samedevice: ignore-next-line[one]\ny = 2\nz = 3\n"
    assert [covers(text, line) for line in (1, 2, 3)] == [False, True, False]
    text = "x = 1\ny = 2  # why\n# samedevice: ignore-file[one]\n"
    assert covers(text, 1) and covers(text, 2)
    assert not covers(text, 1, "two")


def test_a_file_that_the_settings_name() -> None:
    sources = {path: source.from_text("x = 1\n", path) for path in ("lib/a.py", "b.py")}
    off = Suppressions(sources, [PerFile(".", "lib/", ("one",)), PerFile(".", "b*", ("two",))])
    covered = {(path, rule) for path in sources for rule in ("one", "two")
               if off.covers(path, Span(1, 0, 1, 1), rule)}  # fmt: skip
    assert covered == {("lib/a.py", "one"), ("b.py", "two")}


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# samedevice: ignored[one]", "write `# samedevice: ignore[one]`"),
        ("# samedevice: ignore_file", "write `# samedevice: ignore-file`"),
        ("# samedevice ignore[one]", "write `# samedevice: ignore[one]`"),
        ("# same-device: ignore", "write `# samedevice: ignore`"),
        ("# Samedevice: ignore", "write `# samedevice: ignore`"),
        ("# samedevice: noqa", "write `# samedevice: ignore`"),
        ("# samedevice: ignore[]", "write `# samedevice: ignore[RULE]`"),
        ("# samedevice: ignore[oen]", "did you mean one?"),
        ("# samedevice: ignore[nothing-like-it]", "`samedevice rules` lists them"),
        ("# nosec samedevice: ignore", "write `# samedevice: ignore`"),
        ("# pylint: disable=x, samedevice: ignore[one]", "write `# samedevice: ignore[one]`"),
        ("# type: ignore  # samedevice: ignore[one]", None),
        ("# one writes 'samedevice: ignore[one]' for that", None),
        ("# samedevice: ignore[one]", None),
        ("# samedevice: see the handbook", None),
        ("# samedevice repairs this", None),
        ("# type: ignore", None),
    ],
)
def test_misspelt_comments_say_what_is_meant(comment: str, said: str | None) -> None:
    found = [
        hint for one in comments_of(f"x = 1  {comment}\n") for _, hint in meant(one, ["one", "two"])
    ]
    assert found == ([said] if said else [])


def test_a_comment_with_a_line_to_itself_may_speak_of_the_form() -> None:
    assert not list(comments_of("# A comment like samedevice: ignore[one] does it.\nx = 1\n"))


@pytest.mark.parametrize(
    ("comment", "selected", "idle"),
    [
        ("ignore[one]", "one two", ""),
        ("ignore[one, two]", "one two", "two"),
        ("ignore[two]", "one", ""),  # nobody looked for two
        ("ignore[two]", "one two", "two"),
        ("ignore", "one two", ""),
        ("ignore-file[one]", "one two", ""),
    ],
)
def test_comments_that_nothing_needs(comment: str, selected: str, idle: str) -> None:
    known = ["one", "two", "unused-suppression"]
    text = f"x = 1  # samedevice: {comment}\n"
    off = Suppressions({"a.py": source.from_text(text, "a.py")})
    off.apply(Finding("a.py", Span(1, 0, 1, 1), "one", "wrong"))
    found = list(off.unused(["a.py"], [*selected.split(), known[-1]], known))
    assert [one.message.split()[2].strip(":") for one in found] == ([idle] if idle else [])
    assert all(one.level == "note" for one in found)


def test_a_comment_for_all_rules_that_nothing_needs() -> None:
    off = Suppressions({"a.py": source.from_text("x = 1  # samedevice: ignore\n", "a.py")})
    known = ["one", "unused-suppression"]
    assert [one.span for one in off.unused(["a.py"], known, known)] == [Span(1, 7, 1, 27)]
    assert not list(off.unused(["a.py"], ["unused-suppression"], known))


def test_a_rule_by_its_old_name() -> None:
    text = "x = 1  # samedevice: ignore[host-boundary, one]\n"
    off = Suppressions({"a.py": source.from_text(text, "a.py")})
    assert off.covers("a.py", Span(1, 0, 1, 1), "not-moved-to-cpu")
    (comment,) = comments_of(text)
    assert comment.renamed == ("host-boundary",)
    assert list(meant(comment, ["one", "not-moved-to-cpu"])) == []
