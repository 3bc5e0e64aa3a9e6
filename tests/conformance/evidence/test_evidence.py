"""No edit takes what is no tensor for one: what ran before `fix` runs after it, and says the same.

Five generated families: what may be something else on another path (`family`), what comes from code
that is not there (`unseen`), what is called like a device (`named`), trainings of the CPU whose
values end where only the CPU reads (`converted`), and tensors in attributes of modules (`kept`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator

import pytest

from . import converted, family, kept, named, unseen
from .running import Machine, repaired

#: Of about that many programs one is tested in `make test`; `slow` tests run all.
SAMPLE = {"converted": 60, "joined": 60, "kept": 12, "named": 6, "unseen": 60}
FAMILIES: dict[str, tuple[Callable[[], Iterable[family.Program]], dict[str, str]]] = {
    "converted": (converted.programs, {}),
    "joined": (family.programs, {}),
    "kept": (kept.programs, {}),
    "named": (named.programs, {}),
    "unseen": (unseen.programs, {"mystery.py": unseen.LIBRARY}),
}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    """Yield the CPU and the virtual accelerator."""
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    scratch = tmp_path_factory.mktemp("evidence")
    found = Machine(scratch, "cpu"), Machine(scratch, "virtual")
    yield found
    for each in found:
        each.close()


@pytest.mark.parametrize("name", FAMILIES)
def test_some_run_as_before(name: str, machines: tuple[Machine, Machine]) -> None:
    hold(name, machines, sampled=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_all_run_as_before(name: str, machines: tuple[Machine, Machine]) -> None:
    hold(name, machines, sampled=False)


def hold(name: str, machines: tuple[Machine, Machine], *, sampled: bool) -> None:
    """Fail if a program of a family does not run on the accelerator when it is repaired.

    If it ran there before, or nothing of it is left and it ran on the CPU.
    """
    make, beside = FAMILIES[name]
    cpu, accelerator = machines
    broken, edited = [], 0
    for program in make():
        if sampled and zlib.crc32(program.name.encode()) % SAMPLE[name]:
            continue
        after, complete = repaired(program.text)
        if after == {"main.py": program.text}:
            continue
        edited += 1
        now = accelerator.run(after | beside)
        before = accelerator.run({"main.py": program.text} | beside)
        if before["code"] and complete:
            before = cpu.run({"main.py": program.text} | beside)
        if before["code"] == 0 and (now["code"] or said(now) != said(before)):
            last = (now["stderr"].strip() or now["stdout"]).split("\n")[-1]
            broken.append(f"{program.name}: {last}\n{after['main.py']}")
    assert not broken, "\n".join(broken)
    assert edited > 5, "the family asks nothing any more"


def said(ran: dict[str, str]) -> list[str]:
    """Return what a program has printed; what comes first may be drawn by lot."""
    return sorted(ran["stdout"].split("\n"))
