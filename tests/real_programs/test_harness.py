"""The harness itself: what it compares, lists and supplies. The programs need their checkouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import conversions
from .catalogue import Program, load
from .compare import difference, tokens
from .examine import Examination, left_to_do
from .inputs import supply
from .report import write
from .stage import Run


def test_every_program_is_listed_once_with_what_it_needs() -> None:
    programs = load()
    assert {program.list for program in programs} >= {"A", "B", "C", "D"}
    for program in programs:
        assert program.path in program.copied or any(
            program.path.startswith(f"{name}/") for name in program.copied
        ), program.name


def test_an_unknown_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "programs.toml"
    path.write_text(
        '[[repository]]\nlist = "A"\nrepo = "a/b"\n'
        '[[repository.program]]\npath = "x.py"\nspeed = 1\n'
    )
    with pytest.raises(ValueError, match="speed"):
        load(path)


def said(stdout: str, losses: list[str] | None = None) -> Run:
    return Run(0, stdout, losses=losses or [])


def test_durations_and_addresses_are_no_difference() -> None:
    before = said("epoch 1 loss 0.25 took 1.5s\n<obj at 0x7f00aa11bb22>")
    after = said("epoch 1 loss 0.25 took 2.75s\n<obj at 0x7f00aa11bb33>")
    assert difference(before, before, after) == ""


def test_a_changed_number_is_a_difference() -> None:
    before, after = said("loss 0.25"), said("loss 0.26")
    assert "0.26" in difference(before, before, after)


def test_a_silent_program_is_compared_by_its_losses() -> None:
    before, after = said("", ["0.5", "0.25"]), said("", ["0.5", "0.26"])
    assert "backward pass 2" in difference(before, before, after)
    assert difference(before, before, said("", ["0.5"])) == "2 backward passes became 1"


def test_what_differs_between_two_runs_before_is_no_evidence() -> None:
    before, again, after = said("id 17 loss 1"), said("id 23 loss 1"), said("id 99 loss 1")
    assert difference(before, again, after) == ""
    assert difference(before, again, said("id 99 loss 2")) != ""


def test_the_device_in_a_printed_tensor_may_be_passed_over() -> None:
    before, after = said("tensor([1.])"), said("tensor([1.], device='cuda:0')")
    assert difference(before, before, after) != ""
    assert difference(before, before, after, devices=True) == ""


def test_a_progress_bar_counts_by_what_it_leaves() -> None:
    assert tokens("10%\r50%\r100% done") == tokens("100% done")


def test_inputs_are_the_same_on_every_run(tmp_path: Path) -> None:
    program = Program("A", "a/b", "x.py", inputs={"data/cora": "citations 9", "w.txt": "words 3"})
    for name in ("one", "two"):
        supply(program, tmp_path / name)
    for name in ("data/cora/cora.content", "data/cora/cora.cites", "w.txt"):
        one, two = ((tmp_path / folder / name).read_text() for folder in ("one", "two"))
        assert one == two and one.count("\n") >= 3


def test_an_empty_record_gives_a_page(tmp_path: Path) -> None:
    write([], tmp_path / "page.md")
    assert "Real programs" in (tmp_path / "page.md").read_text()


CONVERTED = Path(__file__).with_name("conversions.toml")


def converted(**stages: object) -> Examination:
    """A program that was edited and is right on the device, unless `stages` say otherwise."""
    good = ("before", "fixed", "parses", "after", "equal", "virtual", "on_device", "agrees")
    return Examination(
        "F",
        "a/b/x.py",
        (),
        "0" * 40,
        "",
        **{**dict.fromkeys(good, ""), "changed_lines": 4, **stages},
    )


def test_what_became_of_a_conversion_has_one_word() -> None:
    stays = {"on_device": "parameters stepped elsewhere", "agrees": None}
    assert conversions.verdict(converted()) == "converted"
    assert conversions.verdict(converted(changed_lines=0)) == "as it was"
    assert conversions.verdict(converted(virtual="RuntimeError")) == "breaks on a device"
    assert conversions.verdict(converted(after="TypeError", equal=None)) == "breaks on the CPU"
    assert conversions.verdict(converted(changed_lines=0, told="incomplete: x", **stays)) == "told"
    assert conversions.verdict(converted(told="1 finding left as found", **stays)) == "told"
    assert conversions.verdict(converted(changed_lines=0, **stays)) == "silent"
    assert conversions.verdict(converted(before="FileNotFoundError")) == ""


def test_what_fix_left_is_told_by_its_clearest_line() -> None:
    undecided = "nothing to change in 1 file; 1 undecided: a.py:3 (`check --undecided` lists them)"
    incomplete = "  a.py: incomplete: y"
    assert left_to_do("nothing to change in 1 file", "a.py") == ""
    assert left_to_do(f"note: x\n{undecided}\n", "a.py") == undecided
    assert left_to_do(f"note: x\n{undecided}\n", "b.py") == ""
    assert left_to_do(f"{undecided}\n1 finding left as found:\n{incomplete}", "a.py") == (
        incomplete.strip()
    )


def test_a_script_that_stays_is_told_by_its_own_line() -> None:
    lines = [
        "b.py stays on the CPU: it says so",
        "3 findings left as found:",
        "  a.py: incomplete: y",
    ]
    assert left_to_do("\n".join(lines), "b.py") == lines[0]
    assert left_to_do("\n".join(lines), "a.py") == "a.py: incomplete: y"


def test_the_programs_to_convert_are_no_others_of_the_catalogue() -> None:
    programs = load(CONVERTED)
    assert {program.list for program in programs} == {"F", "G"}
    assert not {program.repo for program in programs} & {program.repo for program in load()}


def test_a_page_of_conversions_counts_what_ran(tmp_path: Path) -> None:
    unfit = converted(before="FileNotFoundError")
    conversions.write([converted(), converted(virtual="RuntimeError"), unfit], tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    none = " | 0 (0.0%)"
    assert f"| all | 2 | 1 | 1 (50.0%){3 * none} | 1 (50.0%){none} |" in page
    assert "RuntimeError" in page and "FileNotFoundError" not in page
    assert "| not looked into | breaks on a device 1 | a/b/x.py |" in page


def test_a_cause_names_programs_of_the_catalogue() -> None:
    names = {program.name for program in load(CONVERTED)}
    for programs in conversions.causes().values():
        assert set(programs) <= names
