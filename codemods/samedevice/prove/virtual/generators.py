"""Random numbers on the device: the same values as on the CPU for the same seed.

A device's default generator *follows* the CPU's, so that a program draws the numbers it would draw
without an accelerator. It becomes independent once the program tells them apart: by seeding it
(`torch.cuda.manual_seed`) with another number, or again after it was drawn from.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from samedevice.prove.virtual.state import STATE

_Base: Any = torch._C.Generator

# C++ hands a kernel another Python object for the same generator: known by its address
_made: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


class _Kind(type(_Base)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _Base) if cls is Generator else super().__instancecheck__(instance)


class Generator(_Base, metaclass=_Kind):  # type: ignore[misc]
    """`torch.Generator`, also for the accelerator."""

    _place: torch.device | None = None

    def __new__(cls, device: Any = "cpu") -> Any:
        """Return a generator of the CPU, or one that says it is the accelerator's."""
        place = torch.device(device)
        if place.type != STATE.device_type:
            return _Base(device)
        made = _Base.__new__(cls)
        made._place = torch.device(place.type, STATE.index(place))
        _made[made._cdata] = made
        return made

    @property
    def device(self) -> torch.device:
        """The device whose numbers it draws."""
        return self._place or _Base.device.__get__(self)

    def clone_state(self) -> Any:
        """Return another generator in the same state."""
        other = Generator(self.device)
        other.set_state(self.get_state())
        return other


class Default(Generator):
    """The generator that a device draws from when none is given."""

    def __new__(cls, index: int) -> Any:
        """Return the default generator of a device."""
        made = _Base.__new__(cls)
        made._place = torch.device(STATE.device_type, index)
        _made[made._cdata] = made
        made.follows = True
        made.drawn = False
        return made

    def __init__(self, index: int) -> None:
        pass

    def source(self) -> Any:
        """Return the generator that holds the state."""
        return torch.default_generator if self.follows else self

    def draw(self) -> Any:
        """Return what the CPU's kernel must be given to draw for this device."""
        self.drawn = True
        return None if self.follows else self

    def follow(self) -> None:
        """Follow the CPU's generator again."""
        self.follows, self.drawn = True, False

    def manual_seed(self, seed: int) -> Any:
        """Seed this device's numbers."""
        if self.follows and (self.drawn or torch.default_generator.initial_seed() != seed):
            self.follows = False
        if not self.follows:
            _Base.manual_seed(self, seed)
        return self

    def seed(self) -> int:
        """Seed with a number that is drawn, and return it."""
        self.follows = False
        return int(_Base.seed(self))

    def initial_seed(self) -> int:
        """Return the seed."""
        return int(_Base.initial_seed(self.source()))

    def get_state(self) -> torch.Tensor:
        """Return the state as bytes."""
        return _Base.get_state(self.source())  # type: ignore[no-any-return]

    def set_state(self, state: torch.Tensor) -> Any:
        """Restore a state."""
        if self.follows and not torch.equal(state, torch.default_generator.get_state()):
            self.follows = False
        if not self.follows:
            _Base.set_state(self, state)
        return self


DEFAULTS: list[Default] = []


def create_defaults() -> None:
    """Make one default generator for each device."""
    DEFAULTS[:] = [Default(index) for index in range(STATE.count)]


def follow_all() -> None:
    """Let all devices follow the CPU's generator again."""
    for default in DEFAULTS:
        default.follow()


def for_draw(generator: Any, index: int) -> Any:
    """Return the generator to give to the CPU's kernel for a draw on device `index`.

    Raises RuntimeError if the program passed one of another device.
    """
    if generator is None:
        return DEFAULTS[index].draw()
    generator = _made.get(generator._cdata, generator)
    if generator.device.type != STATE.device_type:
        raise RuntimeError(
            f"Expected a '{STATE.device_type}' device type for generator but found "
            f"'{generator.device.type}'"
        )
    return generator.draw() if isinstance(generator, Default) else generator
