"""What several processes count together is what each of them counts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")
sys.path.insert(0, str(Path(__file__).parent))

import bench_glance  # noqa: E402

LIBRARY = "import torch\n\n\ndef f(x):\n    return x + torch.zeros(3)\n"
PROGRAM = "import torch\nfrom library import f\n\nprint(f(torch.ones(3).cuda()))\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(tmp_path / "cache"))
    code = tmp_path / "code"
    code.mkdir()
    (code / "library.py").write_text(LIBRARY)
    (code / "program.py").write_text(PROGRAM)
    return str(code)


def options(**given: object) -> argparse.Namespace:
    asked: dict[str, object] = {"edits": 120, "jobs": 2, "seed": 7, "seconds": 600.0}
    asked |= {"bodies": False, "without_rest": False, "show": True}
    return argparse.Namespace(**asked | given)


def test_shares_are_of_different_seeds_and_all_edits(folder: str) -> None:
    shares = bench_glance.shares(folder, options())
    assert [share.edits for share in shares] == [50, 50, 20]
    assert [share.seed for share in shares] == [7, 8, 9]
    assert [share.edits for share in bench_glance.shares(folder, options(jobs=1))] == [120]


def test_what_is_counted_is_added_up(folder: str) -> None:
    each = [
        bench_glance.compare(share)
        for seed in (7, 8)
        for share in bench_glance.shares(folder, options(edits=5, jobs=1, seed=seed))
    ]
    whole = bench_glance.joined(each)
    assert all(one.counts["edits"] >= 5 for one in each)
    assert whole.counts["edits"] == len(whole.whole) == len(whole.first) == len(whole.answered)
    assert whole.counts["edits"] == sum(one.counts["edits"] for one in each)
    assert whole.counts["equal"] == whole.counts["wholes"]


def test_none_begins_after_its_hour(folder: str) -> None:
    (share,) = bench_glance.shares(folder, options(edits=5, jobs=1, seconds=-1.0))
    assert not bench_glance.compare(share).whole
