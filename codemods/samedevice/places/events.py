"""What happens to values, one class for each thing that rules ask about.

Kinds that have no class yet are told by `Site.kind`, and keep what they know in `Site.detail`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from samedevice.places.graph import Spot
from samedevice.places.objects import Obj
from samedevice.places.sites import Site
from samedevice.places.values import Arg, Device, Dict, Seq, Tensor, Value


@dataclass(eq=False, slots=True, kw_only=True)
class Comparison(Site):
    """Devices are compared: of `a == b` or `a != b` both sides."""

    kind: str = field(default="comparison", init=False)
    left: Value
    right: Value


@dataclass(eq=False, slots=True, kw_only=True)
class DeviceOf(Site):
    """A tensor is asked for its device in some other way than `x.device`: `of` is the tensor."""

    kind: str = field(default="where", init=False)
    of: ast.AST
    device: Device


@dataclass(eq=False, slots=True, kw_only=True)
class Draw(Site):
    """A random tensor is drawn with a generator."""

    kind: str = field(default="draw", init=False)
    generator: Obj


@dataclass(eq=False, slots=True, kw_only=True)
class Optimizes(Site):
    """An optimizer is made for the parameters of some modules."""

    kind: str = field(default="optimizer", init=False)
    modules: list[Obj]


@dataclass(eq=False, slots=True, kw_only=True)
class Copied(Site):
    """A module is copied, when the original had been moved so many times."""

    kind: str = field(default="copy", init=False)
    made: Obj
    original: Obj
    moves: int
    source: Spot


@dataclass(eq=False, slots=True, kw_only=True)
class Cloned(Site):
    """A parameter of a module is copied before the module moves."""

    kind: str = field(default="clone", init=False)
    module: Obj


@dataclass(eq=False, slots=True, kw_only=True)
class Dropped(Site):
    """A statement moves a tensor and drops the result; a `leaf` is what an optimizer trains."""

    kind: str = field(default="dropped", init=False)
    move: Site
    leaf: bool


@dataclass(eq=False, slots=True, kw_only=True)
class FirstItem(Site):
    """The first item is taken of what is perhaps a number: `bare` is the tensor itself."""

    kind: str = field(default="first-item", init=False)
    scalar: bool
    bare: ast.expr


@dataclass(eq=False, slots=True, kw_only=True)
class Kept(Site):
    """An object that is no module stores one."""

    kind: str = field(default="kept", init=False)
    module: Obj


@dataclass(eq=False, slots=True, kw_only=True)
class DefaultMade(Site):
    """A parameter's default makes a device, once and for all calls; `call` left it out."""

    kind: str = field(default="default", init=False)
    call: Spot | None


@dataclass(eq=False, slots=True, kw_only=True)
class PlainTensor(Site):
    """A module stores a tensor that it does not register."""

    kind: str = field(default="plain-tensor", init=False)
    owner: Obj
    value: Tensor


@dataclass(eq=False, slots=True, kw_only=True)
class PlainContainer(Site):
    """A module stores modules in a list or mapping that does not register them."""

    kind: str = field(default="plain-container", init=False)
    owner: Obj
    value: Seq | Dict


@dataclass(eq=False, slots=True, kw_only=True)
class ProcessCall(Site):
    """A program of several processes says which device one of them has."""

    kind: str = field(default="process", init=False)
    args: list[Arg]
    kwargs: dict[str, Arg]


@dataclass(eq=False, slots=True, kw_only=True)
class BranchTaken(Site):
    """An `if` asks for the accelerator: its body is what is done there, if `positive`.

    None is a switch of which nothing is known. `choice`: the user decides. `of_value`: it asks
    where a tensor is.
    """

    kind: str = field(default="branch", init=False)
    positive: bool | None
    choice: bool = False
    of_value: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class ArmTaken(Site):
    """An expression asks for the accelerator, as an `if` does: `a if test else b`."""

    kind: str = field(default="choice", init=False)
    positive: bool
    choice: bool
