"""What an inference of a program tells beside what is wrong: it is asked when that is repaired."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.bonds import Bonds, bonds
from samedevice.inference.staying import Staying, staying
from samedevice.reading.project import Project
from samedevice.verify.named import Nameless, nameless
from samedevice.verify.receivers import uncertain


@dataclass(frozen=True)
class Told:
    """The findings whose fix moves what may be no tensor, and why; and what belongs together.

    `bonds` are None of a program in which nothing can be repaired. `staying` are the scripts that
    stay on the CPU, `for_the_cpu` the files of programs that use no device, and `nameless` the
    places where a device is meant and none may be named.
    """

    doubts: tuple[tuple[Finding, tuple[str, ...]], ...] = ()
    bonds: Bonds | None = None
    staying: tuple[Staying, ...] = ()
    for_the_cpu: tuple[str, ...] = ()
    nameless: tuple[Nameless, ...] = ()


def told(
    project: Project, program: frozenset[str], findings: Iterable[Finding], solution: Solution
) -> Told:
    """Return what a solution that has watched tells of the findings in its program."""
    fixed = [finding for finding in findings if finding.fix is not None]
    without_name = nameless(project, program, solution)
    if not fixed:
        return Told(staying=staying(solution), nameless=without_name)
    doubts: dict[Finding, tuple[str, ...]] = {}
    for finding, reason in uncertain(project, program, fixed, solution.watcher.doubts):
        doubts[finding] = *doubts.get(finding, ()), reason
    for_the_cpu = tuple(sorted(solution.policy.for_the_cpu))
    return Told(
        tuple(doubts.items()), bonds(solution), staying(solution), for_the_cpu, without_name
    )
