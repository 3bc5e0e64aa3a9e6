"""Two suites that hold proofs to their promise: bad rewrites are refused, good ones accepted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from samedevice.prove.process import Limits
from samedevice.prove.prove import Proof, prove
from samedevice.prove.run import Settings

pytest.importorskip("torch")
pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs processes that fork")

sys.path.insert(0, str(Path(__file__).parent))
import bad  # noqa: E402
import good  # noqa: E402
from forks import Forks  # noqa: E402

sys.path.pop(0)

# One in three in the fast part; the causes that only one case has are among them.
FAST = 3


def cases(all_of_them: list) -> list:  # type: ignore[type-arg]
    return [
        pytest.param(one, id=one.name, marks=[] if at % FAST == 0 else [pytest.mark.slow])
        for at, one in enumerate(all_of_them)
    ]


@pytest.fixture
def python(forks: Forks) -> str:
    return forks.python


def proof_of(before: str | bad.Files, after: str | bad.Files, folder: Path, python: str) -> Proof:
    for side, files in (("old", before), ("new", after)):
        for name, text in ({"main.py": files} if isinstance(files, str) else files).items():
            path = folder / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    settings = Settings(seed=0, limits=Limits(seconds=100), python=python)
    return prove("old", "new", "main.py", settings=settings, near=folder)


def told(proof: Proof) -> str:
    rows = [f"{check.verdict:12} {check.name}: {check.detail}" for check in proof.checks]
    errors = [run.stderr.text[-800:] for run in proof.runs.values()]
    return "\n".join([proof.verdict, *rows, *filter(None, errors)])


@pytest.mark.parametrize("case", cases(good.GOOD))
def test_good_rewrites_are_accepted(case: good.Good, tmp_path: Path, python: str) -> None:
    proof = proof_of(case.before, case.after, tmp_path, python)
    assert proof.verdict == "proved", told(proof)


@pytest.mark.parametrize("case", cases(bad.BAD))
def test_bad_rewrites_are_refused(case: bad.Bad, tmp_path: Path, python: str) -> None:
    proof = proof_of(case.before, case.after, tmp_path, python)
    wanted = "inconclusive" if case.verdict == "inconclusive" else "failed"
    rows = [one for one in proof.checks if one.name == case.row and one.verdict == wanted]
    assert proof.verdict == case.verdict and rows, told(proof)
    assert case.words in rows[0].detail, told(proof)


def test_the_page_has_every_case() -> None:
    page = (Path(__file__).parents[3] / "docs" / "proof" / "proofs.md").read_text("utf-8")
    assert f"{len(bad.BAD)} deliberately bad ones" in page and f"{len(good.GOOD)} good ones" in page
    for case in bad.BAD:
        told = " (inconclusive)" if case.verdict == "inconclusive" else ""
        assert f"| {case.name} | {case.row}{told} |" in page
    assert ", ".join(case.name for case in good.GOOD) in page


def test_there_are_enough() -> None:
    for suite in (good.GOOD, bad.BAD):
        assert len(suite) >= 40
        assert len({case.name for case in suite}) == len(suite)
