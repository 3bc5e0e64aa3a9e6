"""What happens to values: one class for each thing that rules ask about.

A class that others are made from is asked for all of these: `Creation` for `Created`, `Shared` and
`LegacyCreated`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from samedevice.inference import contents
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Instance
from samedevice.inference.sites import Site
from samedevice.inference.values import Arg, Const, Device, Dict, Seq, Tensor, Value
from samedevice.torchfacts import Fact

# -- tensors come from somewhere --------------------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class Produced(Site):
    """A tensor comes from here.

    What became of it: it was `moved`, by a statement that `dropped` the result, it is `trained`, or
    a module copied it into itself.
    """

    moved: bool = False
    dropped: bool = False
    trained: bool = False
    into_module: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Structured(Produced):
    """Tensors come from here in a structure that is not known.

    `parts` are the members, each with a site of its own whose `whole` this is; a member that is not
    there is one of the `others`. `perhaps` it is something else.
    """

    parts: dict[object, Value] = field(default_factory=dict)
    others: Tensor | None = None
    whole: Structured | None = None
    perhaps: bool = False

    def part(self, node: PlaceVar) -> Structured:
        """Return the site of a member with a place of its own."""
        made = type(self)(self.spot, node, self.scope, self.name, in_worker=self.in_worker)
        made.under_device_test = self.under_device_test
        made.whole, made.perhaps = self, self.perhaps
        return made


@dataclass(eq=False, slots=True, kw_only=True)
class Creation(Produced):
    """A tensor is made by a library's function, which `fact` describes.

    `has_state`: by a module that has something by now to ask for its device. `by_default`: on a
    default device.
    """

    fact: Fact
    args: list[Arg]
    kwargs: dict[str, Arg]
    has_state: bool = False
    by_default: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Created(Creation):
    """A factory makes a tensor: `torch.zeros(...)`."""


@dataclass(eq=False, slots=True, kw_only=True)
class Shared(Creation):
    """A tensor is made over the memory of an array: `torch.from_numpy(...)`."""


@dataclass(eq=False, slots=True, kw_only=True)
class LegacyCreated(Creation):
    """A tensor type makes a tensor: `torch.FloatTensor(...)`."""


@dataclass(frozen=True)
class Bound:
    """A name for a batch, or for a container with a member of one.

    `spot` is the statement, and `inside` the function or file that it belongs to.
    """

    name: str
    spot: Location
    inside: ast.AST


@dataclass(eq=False, slots=True, kw_only=True)
class Drawn(Structured):
    """A batch, or a tensor of one, is drawn from a loader, or from what is perhaps one.

    `bound` is its first name, `held` that of the first `container` that holds it, `named` whether
    it had a name before. `batch` is the first structure with a name that has it in a part of it, or
    as a field, and `within` that name. It is an `attribute` of an object of a plain class, whose
    first name is `owner`. `of_argument`: it is a part of what a caller passes.
    `pinned`: its memory is. `moves_itself`: it is an object of a library, with a `.to` of its own.
    `seen`: no code shows it, a run did.
    """

    seen: bool = False
    moves_itself: bool = False
    bound: Bound | None = None
    held: Bound | None = None
    container: Value | None = None
    named: bool = False
    batch: Value | None = None
    within: Bound | None = None
    owner: Bound | None = None
    attribute: str = ""
    of_argument: bool = False
    pinned: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Loaded(Structured):
    """A file is loaded to where `mapped` says; if it was not there, the program had `made` it.

    `saved` is what the program itself has put into the file. `copied`: a module, or an optimizer,
    copies what was loaded; `receivers` are the modules that are known.
    """

    mapped: Arg | None = None
    saved: Value | None = None
    fact: Fact = field(default_factory=lambda: Fact("load"))
    made: Instance | None = None
    copied: bool = False
    receivers: list[Instance] = field(default_factory=list)


@dataclass(eq=False, slots=True, kw_only=True)
class Cloned(Produced):
    """A parameter of a module is copied before the module moves."""

    module: Instance

    def is_of_whole(self) -> bool:
        """Tell whether the whole that has the module is being built: it moves later in any case."""
        return self.in_constructor and self.scope.object() in self.module.wholes()


class SetLater(Site):
    """A method stores a tensor in an attribute of its module, when that is built."""


class Remembered(Site):
    """A tensor is kept for later calls: in an attribute of an object, or in a container there."""


@dataclass(eq=False, slots=True, kw_only=True)
class PlainTensor(Produced):
    """A module stores a tensor that it does not register."""

    owner: Instance
    value: Tensor


# -- values are put somewhere -----------------------------------------------------------------


class Placing(Site):
    """Something is put on a device, None where that is not known."""

    __slots__ = ()

    device: Device | None


class Move(Placing):
    """A tensor or module is moved; `type` is the tensor type that says so, or ""."""

    __slots__ = ()

    type: str


@dataclass(eq=False, slots=True, kw_only=True)
class TensorMoved(Structured, Move):
    """A tensor is moved. `some`: only some items of its dataset are. `workers`: by a worker."""

    device: Device | None = None
    type: str = ""
    tensor: Tensor | None = None
    workers: bool = False
    some: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class ModuleMoved(Move):
    """A module is moved."""

    device: Device
    type: str
    module: Instance


@dataclass(eq=False, slots=True, kw_only=True)
class Placed(Placing):
    """A tensor is made on a device; `workers`: by a worker."""

    device: Device
    workers: bool


@dataclass(eq=False, slots=True, kw_only=True)
class GivenDevice(Site):
    """A tensor is made on, or moved to, a device that does not have to be the accelerator."""

    device: Arg


# -- modules and generators -------------------------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class ModuleMade(Site):
    """A module comes from here, or from the call that `returned` it to code that can move it."""

    returned: Location | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Built(ModuleMade):
    """A module is built, perhaps told its device."""

    module: Instance
    device: Arg | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Copied(ModuleMade):
    """A module is copied, when the original had been moved so many times."""

    made: Instance
    original: Instance
    moves: int
    source: Location


@dataclass(eq=False, slots=True, kw_only=True)
class GeneratorMade(Site):
    """A generator is made, perhaps told its device. `loader`: it shuffles for one on the CPU."""

    device: Arg | None
    loader: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Shuffled(Site):
    """A loader or a split draws an order by a generator of its own, which is the CPU's.

    That is where new tensors are told to be on another device.
    """


# -- devices are named ------------------------------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class Literal(Site):
    """A constant names a device: `name` is its text. `workers`: in a worker."""

    value: Const
    workers: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Indexed(Site):
    """An expression names a device by its index: `f"cuda:{gpu}"`."""

    device: Device


@dataclass(eq=False, slots=True, kw_only=True)
class DeviceChosen(Site):
    """A device is chosen by whether there is an accelerator."""


@dataclass(eq=False, slots=True, kw_only=True)
class Settled(Site):
    """A test that decides about CUDA is decided by constants: what asks for it is `taken`.

    `positive`: that is where the `test` is true. `system`: it asks for the system's name instead.
    """

    test: ast.expr
    positive: bool
    taken: bool
    system: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class FlagSet(Site):
    """Whether there is an accelerator gets a name."""


@dataclass(eq=False, slots=True, kw_only=True)
class UndefinedDevice(Site):
    """A name stands for a device and is bound nowhere yet."""


@dataclass(eq=False, slots=True, kw_only=True)
class DefaultSet(Site):
    """New tensors are told where to be from now on."""


# -- values are read --------------------------------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class HostDemand(Site):
    """A tensor is needed in the CPU's memory.

    `whole`: the expression is the tensor, and not only a container of it; `added` is what was
    appended to the container, and where.
    """

    whole: bool
    added: tuple[tuple[Tensor, Location], ...] = ()


@dataclass(eq=False, slots=True, kw_only=True)
class HostRead(HostDemand):
    """Code of the CPU reads a tensor; `method`: by a method of the tensor."""

    method: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class LengthsRead(HostDemand):
    """Lengths of sequences are read, which have to be on the CPU."""


@dataclass(eq=False, slots=True, kw_only=True)
class Operand(Site):
    """An expression is looked at by itself."""


# -- what only some machines or versions have -------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class CudaOnly(Site):
    """A call raises without the accelerator that it is for."""


@dataclass(eq=False, slots=True, kw_only=True)
class CudaQuiet(Site):
    """A call does nothing without the accelerator that it is for."""


@dataclass(eq=False, slots=True, kw_only=True)
class Amp(Site):
    """`autocast` or a `GradScaler` is made; `kind` is what stands for the device's type."""

    kind: Value | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class OldName(Site):
    """Something is called by a name that torch or Python no longer has."""


# -- other ------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True, kw_only=True)
class Comparison(Site):
    """Devices are compared: of `a == b` or `a != b` both sides."""

    left: Value
    right: Value


@dataclass(eq=False, slots=True, kw_only=True)
class DeviceOf(Site):
    """A tensor is asked for its device in some other way than `x.device`: `of` is the tensor."""

    of: ast.AST
    device: Device


@dataclass(eq=False, slots=True, kw_only=True)
class Draw(Site):
    """A random tensor is drawn with a generator."""

    generator: Instance


@dataclass(eq=False, slots=True, kw_only=True)
class Optimizes(Site):
    """An optimizer is made for the parameters of some modules; of none if they are not known."""

    modules: list[Instance]


@dataclass(eq=False, slots=True, kw_only=True)
class Dropped(Site):
    """A statement moves a tensor and drops the result; a `leaf` is what an optimizer trains."""

    move: TensorMoved
    leaf: bool


@dataclass(eq=False, slots=True, kw_only=True)
class FirstItem(Site):
    """The first item is taken of what is perhaps a number: `bare` is the tensor itself."""

    scalar: bool
    bare: ast.expr


@dataclass(eq=False, slots=True, kw_only=True)
class Kept(Site):
    """An object that is no module stores one."""

    module: Instance


@dataclass(eq=False, slots=True, kw_only=True)
class DefaultMade(Site):
    """A parameter's default makes a device, once and for all calls; `call` left it out."""

    call: Location | None


@dataclass(eq=False, slots=True, kw_only=True)
class PlainContainer(Site):
    """A module stores modules in a list or mapping that does not register them."""

    owner: Instance
    value: Seq | Dict

    def left_behind(self) -> list[Instance]:
        """Return the modules in it that stay where they are built: nothing moves them.

        A part stays with what it is a part of.
        """
        held, along = contents.modules_in(self.value), self.owner.tree()
        wholes = [each.wholes()[-1] for each in held if each.stateful and not each.has_moved()]
        left = [whole for whole in dict.fromkeys(wholes) if whole not in along]
        return [each for each in left if each.site is not None and each.site.in_constructor]


@dataclass(eq=False, slots=True, kw_only=True)
class ProcessCall(Site):
    """A program of several processes says which device one of them has."""

    args: list[Arg]
    kwargs: dict[str, Arg]


@dataclass(eq=False, slots=True, kw_only=True)
class BranchTaken(Site):
    """An `if` asks for the accelerator: its body is what is done there, if `positive`.

    None is a switch of which nothing is known. `choice`: the user decides. `of_value`: it asks
    where a tensor is. `asks`: it is never done where there is no accelerator.
    """

    positive: bool | None
    asks: bool = True
    choice: bool = False
    of_value: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class ArmTaken(Site):
    """An expression asks for the accelerator, as an `if` does: `a if test else b`."""

    positive: bool
    asks: bool
    choice: bool


def is_bare(site: Site) -> bool:
    """Tell whether a module is being built here that has nothing yet to ask for its device."""
    if not site.in_constructor:
        return False
    func = site.scope.func
    own = func is not None and getattr(func.node, "name", "") == "__init__"
    return own or not (isinstance(site, Creation) and site.has_state)


def device_of(site: Site) -> Device | None:
    """Return the device that something is put on, or that is named by its index."""
    return site.device if isinstance(site, (Placing, Indexed)) else None
