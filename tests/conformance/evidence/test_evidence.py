"""No edit takes what is no tensor for one: what ran before `fix` runs after it, and says the same.

Four generated families: what may be something else on another path (`family`), what comes from code
that is not there (`unseen`), what is called like a device (`named`), and trainings of the CPU whose
values end where only the CPU reads (`converted`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator

import pytest

from . import converted, family, named, unseen
from .running import Accelerator, repaired

#: Of about that many programs one is tested in `make test`; `slow` tests run all.
SAMPLE = {"converted": 60, "joined": 60, "named": 6, "unseen": 60}
FAMILIES: dict[str, tuple[Callable[[], Iterable[family.Program]], dict[str, str]]] = {
    "converted": (converted.programs, {}),
    "joined": (family.programs, {}),
    "named": (named.programs, {}),
    "unseen": (unseen.programs, {"mystery.py": unseen.LIBRARY}),
}


@pytest.fixture(scope="module")
def accelerator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accelerator]:
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    found = Accelerator(tmp_path_factory.mktemp("evidence"))
    yield found
    found.close()


@pytest.mark.parametrize("name", FAMILIES)
def test_some_run_as_before(name: str, accelerator: Accelerator) -> None:
    hold(name, accelerator, sampled=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_all_run_as_before(name: str, accelerator: Accelerator) -> None:
    hold(name, accelerator, sampled=False)


def hold(name: str, accelerator: Accelerator, *, sampled: bool) -> None:
    """Fail if a program of a family runs on the accelerator, and its repaired one does not."""
    make, beside = FAMILIES[name]
    broken, edited = [], 0
    for program in make():
        if sampled and zlib.crc32(program.name.encode()) % SAMPLE[name]:
            continue
        after = repaired(program.text)
        if after == {"main.py": program.text}:
            continue
        edited += 1
        now = accelerator.run(after | beside)
        before = accelerator.run({"main.py": program.text} | beside)
        if before["code"] == 0 and (now["code"] or said(now) != said(before)):
            last = (now["stderr"].strip() or now["stdout"]).split("\n")[-1]
            broken.append(f"{program.name}: {last}\n{after['main.py']}")
    assert not broken, "\n".join(broken)
    assert edited > 10, "the family asks nothing any more"


def said(ran: dict[str, str]) -> list[str]:
    """Return what a program has printed; what comes first is drawn by lot."""
    return sorted(ran["stdout"].split("\n"))
