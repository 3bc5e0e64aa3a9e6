"""What a run did to places: operations by device, transfers by line, optimizer steps, losses.

The data classes travel as JSON and need no torch; `prove.watch` fills them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

KEPT_LOSSES = 10_000
KEPT_STEPS = 100  # of an optimizer, after which the values of its parameters are kept

# What one transfer costs where it was not measured: a launch and a PCIe 3.0 x16 link.
_SECONDS_PER_TRANSFER = 10e-6
_BYTES_PER_SECOND = 12e9


@dataclass
class Transfer:
    """All transfers of one line that go the same way.

    `how` is what asked for it ("copy", "value", "index", ...). `nbytes` is their sum. `waits`
    counts those for which the program waited until the device had finished; `again` those that
    moved a tensor that this line had moved already and that nobody had changed since. `seconds` is
    the time the program spent in them, None on a virtual device.
    """

    source: str
    target: str
    how: str
    file: str
    line: int
    text: str = ""
    count: int = 0
    nbytes: int = 0
    waits: int = 0
    again: int = 0
    seconds: float | None = None

    @property
    def cost(self) -> float:
        """Seconds: as measured, or as a PCIe 3.0 x16 link would take (10 us and 12 GB/s)."""
        if self.seconds is not None:
            return self.seconds
        return self.count * _SECONDS_PER_TRANSFER + self.nbytes / _BYTES_PER_SECOND

    @property
    def advice(self) -> str:
        """What would make it cheaper, or "" when nothing would."""
        if self.again and self.again * 2 >= self.count - 1:
            return "the same tensor each time: move it once, before the loop"
        if self.count < 10:
            return ""
        if self.how == "value":
            return "one value at a time: keep them on the device, read them together at the end"
        if self.how == "size":
            return "waits for the size of the result: torch.where or a mask keeps the size"
        if self.how == "data":
            return "built from Python values each time: build it once, or from tensors"
        if self.how == "index":
            return "the index comes from the CPU each time: keep it on the device"
        return ""


@dataclass
class Optimizer:
    """One optimizer: its class, how often it stepped, and how many parameters on which device.

    `sums` are the sums of all parameters after each of the first 100 steps, None where one is not
    finite.
    """

    name: str
    steps: int = 0
    devices: dict[str, int] = field(default_factory=dict)
    sums: list[float | None] = field(default_factory=list)


@dataclass
class Losses:
    """What `backward` was called on: its values in order (the first 10,000) and their devices.

    `infinite` counts the values that are not finite; among `values` they are None.
    """

    count: int = 0
    infinite: int = 0
    values: list[float | None] = field(default_factory=list)
    devices: dict[str, int] = field(default_factory=dict)


@dataclass
class Refusal:
    """An operation that places stopped; where the program went on, it caught the exception."""

    message: str
    file: str
    line: int
    text: str = ""


@dataclass
class Record:
    """What a run did. `operations` are counts by device and torch's name of the operation.

    `made` counts the tensors that were made on virtual devices. A run that was not recorded has
    that, its optimizers, its losses, `autocast` and `random`.

    `refused` are the first operations that places stopped. `floats` are the floating types that
    something was computed in, and `autocast` the types of devices for which the program asked for
    lower precision. `random` is a digest of the state of torch's generator: two runs that drew the
    same numbers end in the same one.
    """

    operations: dict[str, dict[str, int]] = field(default_factory=dict)
    transfers: list[Transfer] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    losses: Losses = field(default_factory=Losses)
    refused: list[Refusal] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    autocast: list[str] = field(default_factory=list)
    random: str = ""
    made: int = 0

    def count(self, device: str) -> int:
        """Return how many operations ran on `device` ("cuda" counts "cuda:0" and "cuda:1")."""
        return sum(
            sum(names.values())
            for place, names in self.operations.items()
            if place == device or place.split(":")[0] == device
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """Return what `to_json` gave away."""
        return cls(
            {device: dict(names) for device, names in data["operations"].items()},
            [Transfer(**transfer) for transfer in data["transfers"]],
            [Optimizer(**optimizer) for optimizer in data["optimizers"]],
            Losses(**data["losses"]),
            [Refusal(**refusal) for refusal in data["refused"]],
            list(data["floats"]),
            list(data["autocast"]),
            data["random"],
            data["made"],
        )
