"""Programs of small proofs run in forks of one process that has torch, where a test asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samedevice.prove import run
from samedevice.prove.process import Ended, supervise

sys.path.insert(0, str(Path(__file__).parent / "proofs"))
from forks import Forks  # noqa: E402

sys.path.pop(0)


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Yield the process that has torch."""
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    started = Forks(tmp_path_factory.mktemp("forks"))
    yield started
    started.close()


@pytest.fixture
def warm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what is seeded with 0 in forks; all else as ever.

    A fork has the hash seed and the random state of the process that it is from.
    """
    if os.name != "posix":
        return
    forks: Forks = request.getfixturevalue("forks")

    def supervised(command: Any, *, env: Any, **more: Any) -> Ended:
        python, *words = command
        if python == sys.executable and env.get("PYTHONHASHSEED") == "0":
            python = forks.python
        return supervise([python, *words], env=env, **more)

    monkeypatch.setattr(run, "supervise", supervised)
