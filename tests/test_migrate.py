import os
from dataclasses import replace
from pathlib import Path

import pytest

from samedevice.finding import Edit, Finding, Fix, Span
from samedevice.inference.bonds import Bonds
from samedevice.migration import migrate
from samedevice.migration.homes import Homes
from samedevice.migration.migrate import Outcome, key
from samedevice.migration.originals import Originals
from samedevice.migration.trials import Trials
from samedevice.reading import source
from samedevice.reading.config import Config, ConfigError
from samedevice.reading.project import Project
from samedevice.reading.source import SourceError
from samedevice.verify.groups import Groups

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(config: Config | None = None, **files: str) -> Outcome:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)
    config = config or Config()
    return migrate.migrate(migrate.read(["."], config), config)


def after(outcome: Outcome) -> dict[str, str]:
    return {change.path: change.after.decode() for change in outcome.changes}


def test_a_change_holds_the_bytes_and_the_findings_behind_it() -> None:
    outcome = run(a="import torch\n\nx = torch.zeros(3)\n", b="y = 1\n")
    (change,) = outcome.changes
    assert change.path == "a.py"
    assert change.before == b"import torch\n\nx = torch.zeros(3)\n"
    assert b"x = torch.zeros(3, device=device)\n" in change.after
    assert [(item.rule, item.span.line) for item in change.findings] == [("zeros", 3)]
    assert outcome.rounds == 1
    assert outcome.remaining == []


def test_nothing_is_written_before_apply() -> None:
    text = "import torch\n\nx = torch.zeros(3)\n"
    outcome = run(a=text)
    assert Path("a.py").read_text() == text
    migrate.apply(outcome)
    assert Path("a.py").read_bytes() == outcome.changes[0].after
    assert os.listdir() == ["a.py"]


def test_a_second_run_changes_nothing() -> None:
    migrate.apply(run(a="import torch\n\nx = torch.zeros(3)\n"))
    assert run().changes == []


def test_encoding_and_newlines_stay() -> None:
    Path("a.py").write_bytes(
        "# coding: latin-1\r\nimport torch\r\nname = 'é'\r\nx = torch.zeros(3)\r\n".encode(
            "latin-1"
        )
    )
    (change,) = run().changes
    assert b"name = '\xe9'\r\n" in change.after
    assert change.after.count(b"\n") == change.after.count(b"\r\n")


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    text = "import torch\nx = torch.empty(3)\n"
    outcome = run(a=text)
    assert outcome.changes == []
    assert [finding.rule for finding in outcome.remaining] == ["empty"]
    assert after(run(Config(unsafe=True))) == {
        "a.py": "import torch\nx = torch.empty(3, device='cpu')\n"
    }


def test_the_safety_of_a_rule_can_be_set() -> None:
    text = "import torch\nx = torch.empty(3)\ny = torch.zeros(3)\n"
    outcome = run(Config(safe=("empty",), unsafe_rule=("zeros",)), a=text)
    assert after(outcome) == {
        "a.py": "import torch\nx = torch.empty(3, device='cpu')\ny = torch.zeros(3)\n"
    }
    (finding,) = outcome.remaining
    assert finding.fix is not None
    assert finding.fix.reason == "the settings say so"


def test_select_and_ignore() -> None:
    text = "import torch\nmystery()\nx = torch.zeros(3)\n"
    assert run(Config(select=("mystery",)), a=text).changes == []
    assert run(Config(ignore=("zeros",))).changes == []
    assert run(Config(ignore=("mystery",))).remaining == []


def test_a_rule_that_does_not_exist_is_named_with_the_one_that_may_be_meant() -> None:
    with pytest.raises(ConfigError, match="there is no rule zeross; did you mean zeros?"):
        run(Config(ignore=("zeross",)))


def test_a_fix_over_several_files_is_made_in_all_of_them() -> None:
    text = "import torch\nx = torch.full((2,), 1)\n"
    assert set(after(run(a=text, b=text, c=text))) == {"a.py", "b.py", "c.py"}


def test_a_fix_over_several_files_is_made_in_none_when_one_refuses() -> None:
    good = "import torch\nx = torch.full((2,), 1)\ny = torch.zeros(3)\n"
    bad = "import torch\nx = torch.full((2,), 13)\n"
    outcome = run(a=good, b=bad)
    assert set(after(outcome)) == {"a.py"}
    assert "torch.full((2,), 1)\n" in after(outcome)["a.py"]
    assert "device=device" in after(outcome)["a.py"]
    (finding,) = outcome.remaining
    assert "more than device handling" in outcome.refused[key(finding)]


def test_a_fix_that_never_rests_is_left_out_and_no_other() -> None:
    outcome = run(
        a="import b\nimport torch\nx = torch.zeros(3)\n",
        b="import torch\nx = torch.ones(3)\n",
        c="import torch\nx = torch.zeros(3)\n",
    )
    assert set(after(outcome)) == {"a.py", "c.py"}
    assert not outcome.errors
    (finding,) = outcome.remaining
    assert finding.path == "b.py"
    assert "round after round" in outcome.refused[key(finding)]


def test_a_file_that_does_not_parse_is_one_error_and_the_others_are_done() -> None:
    outcome = run(a="import torch\nx = torch.zeros(3)\n", b="def f(:\n")
    assert set(after(outcome)) == {"a.py"}
    (error,) = outcome.errors
    assert str(error).startswith("b.py:1:7: ")


def test_declined_findings_are_left_with_all_that_only_they_need() -> None:
    text = "import torch\nx = torch.zeros(3)\ny = torch.zeros(4)\n"
    outcome = run(a=text)
    first, second = outcome.changes[0].findings
    project = migrate.read(["."], Config())
    without = migrate.migrate(project, Config(), {key(first)})
    assert "x = torch.zeros(3)\n" in after(without)["a.py"]
    assert "y = torch.zeros(4, device=device)\n" in after(without)["a.py"]
    assert migrate.migrate(project, Config(), {key(first), key(second)}).changes == []


def test_places_of_later_rounds_are_led_back_to_the_original_lines() -> None:
    outcome = run(a="import torch\nx = torch.zeros(3)\nmystery()\n")
    (finding,) = outcome.remaining
    assert outcome.sources["a.py"].line(finding.span.line) == "mystery()"
    assert finding.span.line > 3
    assert outcome.before(finding).span.line == 3


def test_a_comment_holds_off_the_fix() -> None:
    text = "import torch\nx = torch.zeros(3)  # samedevice: ignore[zeros]\n"
    outcome = run(a=text)
    assert outcome.changes == []
    assert outcome.remaining == []


def test_a_file_that_changed_meanwhile_is_not_overwritten_and_nothing_else_is_written() -> None:
    text = "import torch\nx = torch.zeros(3)\n"
    outcome = run(a=text, b=text)
    Path("b.py").write_text("mine = 1\n")
    with pytest.raises(SourceError, match=r"b\.py: changed since it was read"):
        migrate.apply(outcome)
    assert Path("a.py").read_text() == text
    assert Path("b.py").read_text() == "mine = 1\n"


def test_a_file_that_cannot_be_written_takes_the_others_back() -> None:
    text = "import torch\nx = torch.zeros(3)\n"
    outcome = run(a=text, b=text, c=text)
    Path("b.py").chmod(0o444)
    with pytest.raises(SourceError, match=r"b\.py: cannot be written"):
        migrate.apply(outcome)
    assert {Path(name).read_text() for name in ("a.py", "b.py", "c.py")} == {text}
    assert sorted(os.listdir()) == ["a.py", "b.py", "c.py"]


def test_a_notebook() -> None:
    cell = '{"cell_type": "code", "source": ["import torch\\n", "x = torch.zeros(3)"]}'
    Path("n.ipynb").write_text(f'{{"cells": [{cell}], "nbformat": 4}}')
    (change,) = run().changes
    assert "device=device" in source.from_bytes(change.after, "n.ipynb").text


HALF = """\
import torch


def fit(x):
    with torch.autocast(x.device.type):
        torch.cuda.set_device(0)
"""


def test_a_half_is_withdrawn_before_a_round_that_repairs_nothing_else() -> None:
    """A fix that names no device gives no other line a repair: its result is not inferred."""
    (first, second, left), project = _half(), Project([source.from_text(HALF, "a.py")])
    back = Originals(project.sources, project.sources)
    for code, expected in (("device", False), ("x.device", True)):
        groups = Groups(project, lambda program: Bonds())
        edit = Edit("a.py", second.span, "method", (("code", f".to({code})"),))
        wanted = [replace(second, fix=Fix((edit,)))]
        findings = [*wanted, left]
        job = migrate._Migration(
            project, Config(), (), lambda files: None, Trials(project, None, None), None
        )
        attempt = migrate._Try(job, (), Homes(project), set(), groups, applied=[first])
        assert attempt._is_half(findings, wanted, back) is expected
        assert (groups.reason(first) is not None) is expected
        assert not attempt._is_half(findings, [], back)


def _half() -> list[Finding]:
    """Return what serves machines without CUDA, something else, and what needs CUDA and stays."""
    drop = Fix((Edit("a.py", Span(5, 9, 5, 38), "replace", (("code", "x"),)),))
    return [
        Finding("a.py", Span(5, 9, 5, 38), "amp-tied-to-cuda", "mixed precision", fix=drop),
        Finding("a.py", Span(4, 0, 6, 32), "other", "something else"),
        Finding("a.py", Span(6, 8, 6, 32), "cuda-only-api", "needs CUDA"),
    ]
