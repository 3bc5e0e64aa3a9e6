"""What is kept from run to run: only what changed is judged again, and nothing can break it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from samedevice import inference
from samedevice.finding import Edit, Finding, Fix, Import, Origin, Resolver, Span
from samedevice.migration import cache, check, migrate, plain
from samedevice.migration.cache import Cache
from samedevice.reading import reader
from samedevice.reading.config import Config
from samedevice.verify.beside import told

CODE = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nmodel(torch.zeros(1, 2))\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two programs, one of two files, and a file without torch."""
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(tmp_path / "cache"))
    code = tmp_path / "code"
    code.mkdir()
    (code / "alone.py").write_text(CODE)
    (code / "main.py").write_text(CODE + "import helper\n")
    (code / "helper.py").write_text("import torch\ndef f(x):\n    return x + torch.zeros(3)\n")
    (code / "other.py").write_text("print(1\n")
    monkeypatch.chdir(code)
    return code


@pytest.fixture
def inferred(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The programs that are inferred."""
    seen: list[set[str]] = []
    infer = inference.infer

    def watched(project, program=None, *rest, **named):  # type: ignore[no-untyped-def]
        seen.append(set(program))
        return infer(project, program, *rest, **named)

    monkeypatch.setattr(inference, "infer", watched)
    return seen


def run(config: Config | None = None) -> list[Finding]:
    config = config or Config()
    found = reader.read(["."], config)
    known = Cache(found, config)
    findings = check.check(found, config, cache=known)
    known.write()
    assert not found.errors
    return findings


def test_what_did_not_change_is_not_judged_again(
    project: Path, inferred: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run()
    assert len(first) >= 4
    assert sorted(map(sorted, inferred)) == [["alone.py"], ["helper.py", "main.py"]]
    inferred.clear()
    with monkeypatch.context() as patch:
        patch.setattr("ast.parse", None)  # not even parsed
        assert run() == first
    assert not inferred
    (project / "other.py").write_text("print(2)\n")
    assert run() == first
    assert not inferred


def test_a_fix_knows_what_a_check_found_and_what_it_makes_itself(
    project: Path, inferred: list[set[str]]
) -> None:
    def fix(known: bool = True) -> migrate.Outcome:
        found = reader.read(["."], Config())
        kept = Cache(found, Config()) if known else None
        outcome = migrate.migrate(found, Config(), cache=kept)
        if kept is not None:
            kept.write()
        return outcome

    expected = fix(known=False)
    assert len(expected.changes) == 2
    run()
    inferred.clear()
    first = fix()
    assert first.changes == expected.changes and first.remaining == expected.remaining
    # once each, for what the edits make: the texts that the check saw are known with all they tell
    assert sorted(map(sorted, inferred)) == [["alone.py"], ["helper.py", "main.py"]]
    inferred.clear()
    assert fix().changes == expected.changes
    assert not inferred
    migrate.apply(first)
    assert not fix().changes
    assert not inferred
    (project / "alone.py").write_text(CODE.replace("1, 2", "2, 2"))
    assert {change.path for change in fix().changes} == {"alone.py"}


def test_a_fix_of_a_program_for_the_cpu_infers_nothing_again(
    project: Path, inferred: list[set[str]]
) -> None:
    for path in project.glob("*.py"):
        path.unlink()
    (project / "train.py").write_text(
        "import torch\n"
        "model = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(3):\n"
        "    optimizer.zero_grad()\n"
        "    model(torch.zeros(1, 2)).sum().backward()\n"
        "    optimizer.step()\n"
    )

    def fix() -> list[migrate.Change]:
        found = reader.read(["."], Config())
        kept = Cache(found, Config())
        outcome = migrate.migrate(found, Config(), cache=kept)
        kept.write()
        assert outcome.converted == {"train.py"}
        return outcome.changes

    expected = fix()
    assert expected
    inferred.clear()
    assert fix() == expected
    assert not inferred


def test_what_is_told_beside_comes_back_as_it_was(project: Path) -> None:
    found = reader.read(["."], Config())
    first = Cache(found, Config())
    findings = check.check(found, Config(), cache=first)
    first.write()
    second = Cache(found, Config())
    for program in dict.fromkeys(found.programs[path] for path in found.about_torch):
        here = [finding for finding in findings if finding.path in program]
        solution = inference.infer(found, program, watch=True)
        expected = told(found, program, here, solution)
        assert expected.bonds is not None and expected.bonds.lines
        assert second.told(found, program) == expected


def test_a_changed_file_is_judged_with_what_depends_on_it(
    project: Path, inferred: list[set[str]]
) -> None:
    first = run()
    inferred.clear()
    (project / "helper.py").write_text("import torch\nx = torch.zeros(3).cuda()\n")
    assert len(run()) > len(first)
    assert inferred == [{"main.py", "helper.py"}]


def test_a_file_of_settings_that_code_reads_is_part_of_it(
    project: Path, inferred: list[set[str]]
) -> None:
    for path in project.glob("*.py"):
        path.unlink()
    (project / "main.py").write_text(
        'import json, torch\ncfg = json.load(open("run.json"))\n'
        'model = torch.nn.Linear(2, 2).to(cfg["device"])\n'
    )
    (project / "run.json").write_text('{"device": "cuda"}')
    first = run()
    assert ["run.json:1" in found.message for found in first] == [True]
    inferred.clear()
    assert run() == first and not inferred
    (project / "run.json").write_text('{"device": "cpu"}')
    assert not run() and inferred


def test_other_settings_and_other_files_are_another_matter(
    project: Path, inferred: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run()
    inferred.clear()
    assert run(Config(ignore=("hard-coded-device",))) != first
    assert len(inferred) == 2
    (project / "device.py").write_text("")
    run()
    assert len(inferred) == 4
    monkeypatch.setattr(cache, "__version__", "0.0.0")
    run()
    assert len(inferred) == 6


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\0\xff",
        b"[" * 100_000,
        b'{"format": 1, "key": "", "files": {}, "found": {}}',
        b"{}",
        b"[1]",
        "cut",
        "numbers",
        "texts",
    ],
)
def test_a_damaged_cache_is_ignored_and_made_anew(
    project: Path, inferred: list[set[str]], damage: bytes | str
) -> None:
    first = run()
    (entry,) = cache.entries()
    whole = entry.read_bytes()
    if isinstance(damage, str):
        known = json.loads(whole)
        bad = {"numbers": 1, "texts": ["text"], "cut": []}[damage]
        known["files"] = dict.fromkeys(known["files"], bad)
        known["found"] = dict.fromkeys(known["found"], bad if damage != "cut" else [[1, 2]])
        damage = json.dumps(known).encode()
    entry.write_bytes(damage)
    inferred.clear()
    assert run() == first
    assert inferred
    inferred.clear()
    assert run() == first
    assert not inferred


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_what_others_may_write_is_not_read(project: Path, inferred: list[set[str]]) -> None:
    run()
    inferred.clear()
    os.chmod(cache.folder(), 0o777)
    run()
    assert len(inferred) == 2
    os.chmod(cache.folder(), 0o700)
    (entry,) = cache.entries()
    os.chmod(entry, 0o666)
    run()
    assert len(inferred) == 4
    (entry,) = cache.entries()
    shutil.move(entry, entry.with_suffix(".moved"))
    entry.symlink_to(entry.with_suffix(".moved"))
    run()
    assert len(inferred) == 6
    assert not entry.is_symlink()


def test_a_full_disk_is_no_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    assert run()
    assert not list(cache.folder().iterdir())


def test_no_place_for_a_cache_is_no_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "file").write_text("")
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(project / "file" / "cache"))
    assert run()
    assert not cache.entries()


def test_many_at_once_leave_a_whole_cache(project: Path) -> None:
    command = [sys.executable, "-m", "samedevice", "check", "--format=json", "."]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    reports = {process.communicate()[0] for process in running}
    assert len(reports) == 1
    assert [path.suffix for path in cache.folder().iterdir()] == [".json"]
    (entry,) = cache.entries()
    assert json.loads(entry.read_bytes())["found"]


def test_what_was_not_used_for_longest_goes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    (first,) = cache.entries()
    os.utime(first, (1, 1))
    run(Config(ignore=("hard-coded-device",)))
    assert len(cache.entries()) == 2
    monkeypatch.setattr(cache, "LIMIT", 1)
    run(Config(ignore=("tensor-type",)))
    assert len(cache.entries()) == 1
    assert not first.exists()
    assert cache.clear() > 0
    assert not cache.entries()


def test_findings_come_back_as_they_were() -> None:
    span = Span(1, 2, 3, 4)
    fix = Fix(
        (Edit("a.py", span, "keyword", (("name", "device"), ("value", "d"))),),
        safe=False, reason="é\ud800", imports=(Import("a.py", "m"),),
        resolvers=(Resolver("a.py", "device", "m", None),), erasure="x",
    )  # fmt: skip
    finding = Finding(
        "a.py", span, "rule", "text", (Origin("b.py", span, "there"),), fix, "", "note"
    )
    assert plain.load(Finding, json.loads(json.dumps(plain.dump(finding)))) == finding


@dataclass(frozen=True)
class Sample:
    number: int
    word: Literal["a", "b"] = "a"
    pair: tuple[str, bool] = ("", False)
    other: float | None = None
    more: tuple[int, ...] = field(default=())


@pytest.mark.parametrize(
    "data",
    [
        [1, "c", ["", False], None, []],
        [True, "a", ["", False], None, []],
        [1, "a", [""], None, []],
        [1, "a", ["", 0], None, []],
        [1, "a", ["", True], "1", []],
        [1, "a", ["", True], None, "12"],
        [1, "a", ["", True], None, [None]],
        [1],
        {},
        None,
    ],
)
def test_what_is_no_such_class_does_not_come_back(data: object) -> None:
    assert plain.load(Sample, plain.dump(Sample(1, "b", ("x", True), 1.5, (2,)))).more == (2,)
    with pytest.raises(ValueError):
        plain.load(Sample, data)
