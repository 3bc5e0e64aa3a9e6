"""What a child process is asked to run, as a file between the two processes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

On = Literal["virtual", "cpu", "cuda", "auto"]


@dataclass(frozen=True)
class Job:
    """One program and how to run it. `report` and `stack` are files that the child writes.

    `target` is a path or, for a module, its dotted name. `memory` is in bytes. `lead` is a
    `prove.lead.Lead` as a dict: where imports are led, and what is followed.
    """

    kind: Literal["script", "module", "notebook"]
    target: str
    report: str
    stack: str
    arguments: list[str] = field(default_factory=list)
    on: On = "virtual"
    device_type: str = "cuda"
    devices: int = 1
    seed: int | None = None
    memory: int | None = None
    record: bool = True
    steps: bool = False
    sums: bool = False
    lead: dict[str, Any] | None = None

    def write(self, path: Path) -> None:
        """Write it where `read` finds it."""
        path.write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, path: Path) -> Job:
        """Read what `write` wrote."""
        return cls(**json.loads(path.read_text("utf-8")))
