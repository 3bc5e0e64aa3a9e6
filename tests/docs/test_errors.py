"""docs/errors and docs/questions: programs fail as the page says, and run once repaired."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import errors  # noqa: E402  # beside this file, which is in no package

CASES = list(errors.cases())

# All programs of one kind run in one process, so that torch is imported once.
RUNNER = """
import json, sys

said = {}
for name, code in json.load(open("programs.json", encoding="utf-8")).items():
    try:
        exec(compile(code, name, "exec"), {"__name__": "program"})
        said[name] = None
    except Exception as error:
        said[name] = str(error)
json.dump(said, open("said.json", "w", encoding="utf-8"))
"""


def test_every_message_and_question_has_its_programs() -> None:
    pages = {case.page for case in CASES}
    named = {page.relative_to(errors.DOCS).as_posix() for page in errors.pages()}
    assert named - pages == {"errors/index.md"}
    assert len([page for page in pages if page.startswith("questions/")]) == 5
    for page in pages:
        cases = [case for case in CASES if case.page == page]
        text = (errors.DOCS / page).read_text("utf-8")
        runs = len(cases) + text.count("<!-- given -->\n")
        assert text.count("```python\n") == runs, f"{page}: a program is not run"
        if page.startswith("errors/"):
            assert len(cases) >= 3, f"{page}: three usual causes"


def test_every_wording_that_the_tool_knows_is_on_a_page() -> None:
    from samedevice.prove import clash

    said = " ".join(" ".join(page.read_text("utf-8").split()) for page in errors.pages())
    said = said.replace("`", "")
    missing = [pattern for _, pattern in clash._MESSAGES if not re.search(pattern, said)]
    assert not missing


def test_every_message_of_the_pages_is_read_as_one_about_devices() -> None:
    from samedevice.prove.clash import read_message

    assert [case.message for case in CASES if case.message and not read_message(case.message)] == []


@pytest.mark.parametrize("page", sorted({case.page for case in CASES}))
def test_the_change_is_the_one_that_fix_makes(page: str) -> None:
    for case in CASES:
        if case.page == page:
            assert case.diff and case.shown == case.diff, "tests/docs/errors.py writes it anew"
            if case.by_hand:
                assert case.after == errors.applied(case.before, case.shown), "fix makes a change"


def test_a_change_by_hand_has_to_fit() -> None:
    assert errors.applied("a\nb\nc\nd\n", " a\n-b\n+x\n...\n-d\n") == "a\nx\nc\n"
    with pytest.raises(ValueError, match="-e"):
        errors.applied("a\nb\n", " a\n-e\n")


@pytest.mark.torch
@pytest.mark.parametrize("on", ["virtual", "two", "cpu"])
def test_programs_fail_as_told_and_run_when_repaired(on: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("numpy")
    if on == "cpu" and torch.backends.cuda.is_built():
        pytest.skip("this build of torch has CUDA")
    from samedevice.prove.run import Settings, run_program

    programs, messages = {}, {}
    for number, case in enumerate(case for case in CASES if case.on == on):
        programs[f"{number} before"], programs[f"{number} after"] = case.before, case.after
        messages[f"{number} before"], messages[f"{number} after"] = case.message, ""
    (tmp_path / "run.py").write_text(RUNNER)
    (tmp_path / "programs.json").write_text(json.dumps(programs))
    made = Settings(record=False)
    for program in errors.given():
        (tmp_path / "given.py").write_text(program)
        assert run_program(["given.py"], cwd=tmp_path, settings=made).passed
    settings = Settings(
        on="cpu" if on == "cpu" else "virtual", devices=2 if on == "two" else 1, record=False
    )
    result = run_program(["run.py"], cwd=tmp_path, settings=settings)
    assert result.passed, result.message
    said = json.loads((tmp_path / "said.json").read_text())
    wrong = {
        name: (said[name], programs[name])
        for name, message in messages.items()
        if (message not in " ".join(str(said[name]).split()) if message else said[name] is not None)
    }
    assert not wrong
