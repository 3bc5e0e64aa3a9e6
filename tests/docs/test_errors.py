"""docs/errors and docs/questions: programs fail as the page says, and run once repaired."""

from __future__ import annotations

import json
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
        assert text.count("```python\n") == len(cases), f"{page}: a program is not run"


@pytest.mark.parametrize("page", sorted({case.page for case in CASES}))
def test_the_change_is_the_one_that_fix_makes(page: str) -> None:
    for case in CASES:
        if case.page == page:
            assert case.diff and case.shown == case.diff, "tests/docs/errors.py writes it anew"


@pytest.mark.torch
@pytest.mark.parametrize("on", ["virtual", "cpu"])
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
    settings = Settings(on=on, record=False)  # type: ignore[arg-type]  # one of its words
    result = run_program(["run.py"], cwd=tmp_path, settings=settings)
    assert result.passed, result.message
    said = json.loads((tmp_path / "said.json").read_text())
    wrong = {
        name: (said[name], programs[name])
        for name, message in messages.items()
        if (message not in str(said[name]) if message else said[name] is not None)
    }
    assert not wrong
