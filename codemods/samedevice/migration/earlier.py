"""What an earlier run has seen of a program, for one of which little has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..finding import Finding
from ..inference.focus import ProgramSummary, Target


@dataclass(frozen=True)
class Texts:
    """The texts of a program when all of it was judged, and what its parts say of each other."""

    texts: Mapping[str, str]
    rest: ProgramSummary


@dataclass(frozen=True)
class Earlier:
    """What was found in a program when its texts were others.

    `placed` is how many values of each definition have a known place.
    """

    kept: Texts
    findings: list[Finding]
    placed: Mapping[Target, int]
