"""Random numbers on the device: the same values as on the CPU for the same seed.

A device's default generator *follows* the CPU's, so that a program draws the numbers it would draw
without an accelerator. It becomes independent once the program tells them apart: by seeding it
(`torch.cuda.manual_seed`) with another number, or again after it was drawn from.

A generator here is two: one whose C++ half says that it is the accelerator's, so that torch's own
checks see it, and one of the CPU that it draws from.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import torch

from samedevice.prove.virtual.state import STATE

_Base: Any = torch._C.Generator

# C++ hands a kernel another Python object for the same generator: known by its address
_made: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


class _Kind(type(_Base)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, _Base) if cls is Generator else super().__instancecheck__(instance)
        )


class Generator(_Base, metaclass=_Kind):  # type: ignore[misc]
    """`torch.Generator`, also for the accelerator."""

    host: Any  # the CPU's generator that it draws from

    def __new__(cls, device: Any = "cpu") -> Any:
        """Return a generator of the CPU, or one of the accelerator."""
        place = torch.device(device)
        if place.type != STATE.device_type:
            return _Base(device)
        return cls._on_device(STATE.index(place))

    @classmethod
    def _on_device(cls, index: int) -> Any:
        made = _Base.__new__(cls)
        made.host = _Base()
        _claim(made, index)
        _made[made._cdata] = made
        return made

    def manual_seed(self, seed: int) -> Any:
        """Set the seed; return the generator."""
        self.host.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Seed with a number that is drawn, and return it."""
        return int(self.host.seed())

    def initial_seed(self) -> int:
        """Return the seed."""
        return int(self.host.initial_seed())

    def get_state(self) -> torch.Tensor:
        """Return the state as bytes on the host."""
        return self.host.get_state()

    def set_state(self, state: torch.Tensor) -> Any:
        """Restore a state; return the generator."""
        self.host.set_state(state)
        return self

    def clone_state(self) -> Any:
        """Return another generator in the same state."""
        other = Generator(self.device)
        other.host.set_state(self.get_state())
        return other

    def __reduce__(self) -> Any:
        return _rebuild, (str(self.device), self.get_state())


class Default(Generator):
    """The generator that a device draws from when none is given."""

    def __new__(cls, index: int) -> Any:
        """Return the default generator of a device."""
        made = cls._on_device(index)
        made.own, made.drawn = made.host, False
        made.follow()
        return made

    def __init__(self, index: int) -> None:
        pass

    @property
    def follows(self) -> bool:
        """Whether it draws from the CPU's default generator."""
        return self.host is torch.default_generator

    def follow(self) -> None:
        """Follow the CPU's generator (again)."""
        self.host, self.drawn = torch.default_generator, False

    def manual_seed(self, seed: int) -> Any:
        """Seed this device's numbers."""
        if self.follows and (self.drawn or self.initial_seed() != seed):
            self.host = self.own
        return self if self.follows else super().manual_seed(seed)

    def seed(self) -> int:
        """Seed this device's numbers with one that is drawn."""
        self.host = self.own
        return super().seed()

    def set_state(self, state: torch.Tensor) -> Any:
        """Restore a state."""
        if self.follows and not torch.equal(state, self.get_state()):
            self.host = self.own
        return self if self.follows else super().set_state(state)


DEFAULTS: list[Default] = []


def create_defaults() -> None:
    """Make one default generator for each device."""
    DEFAULTS[:] = [Default(index) for index in range(STATE.count)]


def follow_all() -> None:
    """Let all devices follow the CPU's generator again."""
    for default in DEFAULTS:
        default.follow()


def for_draw(generator: Any, index: int) -> Any:
    """Return the CPU's generator for a draw on device `index`, given what the program passed.

    Raises RuntimeError if that is a generator of another device.
    """
    if generator is None:
        default = DEFAULTS[index]
        default.drawn = True
        return None if default.follows else default.host
    made = _made.get(generator._cdata)
    if made is None:
        raise RuntimeError(
            f"Expected a '{STATE.device_type}' device type for generator but found "
            f"'{generator.device.type}'"
        )
    return made.host


def _rebuild(device: str, state: torch.Tensor) -> Any:
    return Generator(device).set_state(state)


_offset: int | None = None


def _claim(generator: Any, index: int) -> None:
    """Write an accelerator's name into a generator's C++ half: class Device, two bytes.

    Where in the object they are is found out by trying, once: the object then says so itself.
    """
    global _offset
    wanted = torch.device(STATE.device_type, index)
    number = _number(wanted.type)
    tried = range(0, 256) if _offset is None else (_offset,)
    for offset in tried:
        field = (ctypes.c_int8 * 2).from_address(generator._cdata + offset)
        if tuple(field) == (0, -1):  # the CPU, without an index
            field[0], field[1] = number, index
            if generator.device == wanted:
                _offset = offset
                return
            field[0], field[1] = 0, -1
    raise RuntimeError("the random number generators of this torch have an unknown form")


def _number(device_type: str) -> int:
    return int(getattr(torch._C._autograd.DeviceType, device_type.upper()).value)
