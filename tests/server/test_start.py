"""A session begins with what an earlier one found, and keeps to what the texts say now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from samedevice import inference
from samedevice.server.analysis import Folder, Settings

CODE = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nmodel(torch.zeros(1, 2))\n"


@pytest.fixture
def inferred(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[set[str]]:
    """The files that are inferred."""
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(tmp_path / "cache"))
    seen: list[set[str]] = []
    infer = inference.infer

    def watched(project, program=None, *rest, **named):  # type: ignore[no-untyped-def]
        seen.append({Path(path).name for path in program})
        return infer(project, program, *rest, **named)

    monkeypatch.setattr(inference, "infer", watched)
    return seen


def test_a_second_session_infers_what_changed_only(
    tmp_path: Path, inferred: list[set[str]]
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "one.py").write_text(CODE)
    (code / "two.py").write_text(CODE)
    first = Folder(code.as_posix()).analyse({}, Settings())
    assert sorted(map(sorted, inferred)) == [["one.py"], ["two.py"]]
    inferred.clear()
    second = Folder(code.as_posix())
    assert second.analyse({}, Settings()).findings == first.findings != ()
    assert not inferred
    edited = {(code / "one.py").as_posix(): CODE + "torch.ones(1)\n"}
    assert second.glance(edited, Settings()) is None  # nothing was inferred to compare with
    second.analyse(edited, Settings())
    assert inferred == [{"one.py"}]


def test_a_second_session_knows_what_the_parts_of_a_large_program_say(
    tmp_path: Path, inferred: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samedevice.migration.cache.WORTHWHILE", 100)
    code = tmp_path / "code"
    code.mkdir()
    helper = "import torch\n\n\ndef twice(x):\n    return x * 2\n\n\ndef rest(x):\n"
    helper += "    y = torch.ones(3)\n    return x.cuda() + y.cuda() * 3\n"
    (code / "helper.py").write_text(helper)
    (code / "one.py").write_text("import helper\n" + CODE + "helper.rest(torch.ones(1))\n" * 9)
    Folder(code.as_posix()).analyse({}, Settings())
    inferred.clear()
    second = Folder(code.as_posix())
    second.analyse({}, Settings())
    assert not inferred
    path = (code / "helper.py").as_posix()
    edited = {path: helper.replace("x * 2", "x * 3")}
    glanced = second.glance(edited, Settings())
    assert glanced is not None and glanced.is_whole
    told = [(one.path, one.span, one.message) for one in glanced.findings]
    whole = second.analyse(edited, Settings()).findings
    assert told == [(one.path, one.span, one.message) for one in whole] != []


def test_what_is_not_saved_is_not_kept(tmp_path: Path, inferred: list[set[str]]) -> None:
    code = tmp_path / "code"
    code.mkdir()
    path = code / "one.py"
    path.write_text(CODE)
    Folder(code.as_posix()).analyse({path.as_posix(): CODE + "x = 1\n"}, Settings())
    cache = tmp_path / "cache"
    assert not cache.exists() or not os.listdir(cache)
    Folder(code.as_posix()).analyse({path.as_posix(): CODE}, Settings())
    assert os.listdir(cache)
