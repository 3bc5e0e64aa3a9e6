"""What torch says when places meet: the message as data, and the clash that a run reports.

torch's wording changed from release to release, so `read_message` knows those from 0.4 to 2.13, of
CUDA as of MPS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "mismatch",  # two operands of one operation are on two devices
    "numpy",  # a tensor on an accelerator goes to NumPy
    "lengths",  # an argument that must be on the CPU is not
    "indices",  # an index is on an accelerator, the indexed tensor on the CPU
    "generator",  # a generator of one device draws for another
    "storage",  # set_ or .data across devices
    "replicas",  # DataParallel's module is not where it must be
    "load",  # a checkpoint names a device that is not there
    "fork",  # a forked process touches the accelerator
    "pin",  # a tensor that is not on the CPU is pinned
    "missing",  # the program wants an accelerator that the machine or the build lacks
    "ordinal",  # the machine has accelerators, but fewer
    "memory",  # the accelerator's memory is full
    "meta",  # a tensor without values is to be moved
    "operator",  # the accelerator has no such operation
]


@dataclass(frozen=True)
class Operand:
    """An operand as a message names it: torch's name for it (may be empty) and its device."""

    name: str
    device: str


@dataclass(frozen=True)
class Message:
    """A message of torch about devices.

    `operands` are those that it names, in its order. `operation` is torch's name for what was
    refused ("addmm", "index_select"); both may be empty.
    """

    kind: Kind
    operands: tuple[Operand, ...] = ()
    operation: str = ""


@dataclass(frozen=True)
class Step:
    """One step in a tensor's life: how and by which line it got to `device`.

    `how` is "created", "computed" (the result of an operation on others), "loaded" or "moved".
    """

    how: Literal["created", "computed", "loaded", "moved"]
    device: str
    text: str
    file: str
    line: int


@dataclass(frozen=True)
class Party:
    """An operand of a clash as the program has it.

    `expression` is the user's ("self.mask", or empty where it has no name in the user's line),
    `what` says what it is ("tensor (3, 4) float32", "parameters"); `steps` begin at the creation.
    They are empty on a real device, which does not remember them.
    """

    expression: str
    device: str
    what: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Frame:
    """One line of a traceback. `file` is as the traceback has it; `line` counts from 1.

    `cell` is a notebook's cell, and then `line` is the one in it: by its number in `file`, from 1
    among the cells of all kinds, or without a file by its execution count.
    """

    file: str
    line: int
    function: str = ""
    text: str = ""
    cell: int | None = None


@dataclass(frozen=True)
class Clash:
    """A run that places ended.

    `file`, `line` (and `end_line`, `column`, `end_column` in characters, where Python tells them)
    are the user's innermost expression; `frames` are the user's frames, the innermost last. `sides`
    are the sides of a sum or the like that have no name, where the operands are what they are of.
    """

    kind: Kind
    message: str
    exception: str
    file: str
    line: int
    text: str
    function: str = ""
    operands: tuple[Party, ...] = ()
    frames: tuple[Frame, ...] = ()
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    sides: tuple[Party, ...] = ()


_DEVICE = r"[a-z]+(?::\d+)?"
_TYPE = r"(?:torch\.[\w.]*Tensor|[A-Z]\w*Type)"

#: An operation that a library has, and was built without for this device.
NOT_BUILT = r"(?!aten:|c10d:)\w+::[\w:.]+' with arguments from the '(?:CUDA|MPS|XPU)'"

# Named groups: `operation`; `name`/`device` and `name2`/`device2` for operands in torch's order.
_MESSAGES: tuple[tuple[Kind, str], ...] = (
    (
        "mismatch",
        rf"Expected all tensors to be on the same device, but got (?P<name>\w+) is on "
        rf"(?P<device>{_DEVICE}), different from other tensors on (?P<device2>{_DEVICE})"
        r"(?: \(when checking argument in method (?P<operation>\w+)\))?",
    ),
    (
        "mismatch",  # the argument it names is the second of the two devices
        rf"Expected all tensors to be on the same device, but found at least two devices, "
        rf"(?P<device>{_DEVICE}) and (?P<device2>{_DEVICE})!"
        r"(?: \(when checking arg?ument for argument (?P<name2>\w+) "
        r"in method (?P<operation>\w+)\))?",
    ),
    ("mismatch", r"Expected all tensors to be on the same device"),
    (
        "mismatch",
        rf"Input type \((?P<device>{_TYPE})\) and (?P<name2>weight|bias) type "
        rf"\((?P<device2>{_TYPE})\) should be the same",
    ),
    (
        "mismatch",
        rf"Input and (?P<name2>parameter|hidden) tensors are not at the same device, found input "
        rf"tensor at (?P<device>{_DEVICE}) and \w+ tensor at (?P<device2>{_DEVICE})",
    ),
    (
        "mismatch",
        r"Expected object of (?:device type|backend) (?P<device>\w+) but got "
        r"(?:device type|backend) (?P<device2>\w+) for argument #\d+ '(?P<name2>\w+)'"
        r"(?: in call to (?P<operation>\w+))?",
    ),
    (
        "mismatch",
        rf"Expected object of type (?P<device>{_TYPE}) but (?:got|found) type "
        rf"(?P<device2>{_TYPE}) for argument #\d+ '(?P<name2>\w+)'",
    ),
    (
        "mismatch",
        rf"[Ee]xpected device (?P<device>{_DEVICE}) but got device (?P<device2>{_DEVICE})",
    ),
    (
        "mismatch",
        rf"[Ee]xpected type (?P<device>{_TYPE}) but got (?:type )?(?P<device2>{_TYPE})(?: |$)",
    ),
    (
        "mismatch",
        r"Tensor for argument #\d+ '(?P<name>\w+)' is on (?P<device>\w+), but expected it to be on "
        r"(?P<device2>\w+)(?: \(while checking arguments for (?P<operation>\w+)\))?",
    ),
    (
        "mismatch",
        r"Tensor for '(?P<name>\w+)' is on (?P<device>\w+), Tensor for argument #\d+ "
        r"'(?P<name2>\w+)' is on (?P<device2>\w+), but expected them to be on \w+"
        r"(?: \(while checking arguments for (?P<operation>\w+)\))?",
    ),
    (
        "mismatch",
        r"(?P<operation>\b\w{1,80})(?:\(\))?: (?:input|self)\(device='?(?P<device>[\w:]+)'?\) and "
        r"(?P<name2>\w+)\(device=?'?(?P<device2>[\w:]+)'?\)\s+must be on the same device",
    ),
    (
        "mismatch",
        rf"Expected condition, x and y to be on the same device, but condition is on "
        rf"(?P<device>{_DEVICE}) and x and y are on (?P<device2>{_DEVICE})",
    ),
    (
        "mismatch",
        rf"expected device (?P<device>{_DEVICE}) but got (?P<device2>{_DEVICE})",
    ),
    (
        "mismatch",
        r"assign a gradient with device type '(?P<device>\w+)' to a tensor with device type "
        r"'(?P<device2>\w+)'",
    ),
    (
        "mismatch",
        rf"two different devices (?P<device>{_DEVICE}), (?P<device2>{_DEVICE})",  # fake tensors
    ),
    (
        "mismatch",
        r"Expected tensor to have (?P<device>\w+) DeviceType, but got tensor with "
        r"(?P<device2>\w+) DeviceType(?: \(while checking arguments for (?P<operation>\w+)\))?",
    ),
    ("mismatch", r"Pointer argument \(at \d+\) cannot be accessed from Triton \((?P<device>cpu) "),
    ("mismatch", r"No backend type associated with device type (?P<device>\w+)"),
    ("mismatch", r"Tensors must be CUDA and dense"),
    (
        "mismatch",
        r"device_ids and output_device arguments only work with .{1,80}but got device_ids .{1,200}"
        r"device\(type='(?P<device>cpu)'\)",
    ),
    ("meta", r"Cannot copy out of (?P<device>meta) tensor"),
    (
        "operator",
        rf"Could not run '(?!{NOT_BUILT})(?P<operation>[\w:.]+)' with arguments from the "
        r"'(?P<device>\w+)' backend",
    ),
    (
        "operator",
        r"The operator '(?P<operation>[\w:.]+)' is not currently (?:implemented|supported) "
        r"(?:for|on) the (?P<device>\w+)",
    ),
    (
        "mismatch",
        rf"Tensor on device (?P<device>{_DEVICE}) is not on the expected device "
        rf"(?P<device2>{_DEVICE})!",
    ),
    ("mismatch", r"Placeholder storage has not been allocated on (?P<device2>MPS) device!"),
    (
        "mismatch",
        rf"Expected query, key, and value to have the same device type, but got query\.device: "
        rf"(?P<device>{_DEVICE}) key\.device: (?P<device2>{_DEVICE})",
    ),
    (
        "mismatch",
        r"attempting to assign a gradient (?:with device type|located on device with index) "
        r"'(?P<device>\w+)' to a tensor (?:with device type|located on device with index) "
        r"'(?P<device2>\w+)'",
    ),
    (
        "mismatch",
        rf"to be on the same device, but got (?P<name>\w+) on (?P<device>{_DEVICE}) and "
        rf"(?P<name2>\w+) on (?P<device2>{_DEVICE})",
    ),
    (
        "mismatch",
        r"need to be on the same GPU, but found .{1,400}?device\(type='(?P<device>cpu)'\)",
    ),
    (
        "mismatch",
        rf"No operator found for .{{1,400}}?device=(?P<device>{_DEVICE}) \(supported: ",
    ),
    (
        "mismatch",
        r"Expected tensor to have (?P<device>\w+) Backend, but got tensor with (?P<device2>\w+) "
        r"Backend(?: \(while checking arguments for (?P<operation>\w+)\))?",
    ),
    (
        "mismatch",
        rf"\b(?:must|should|to) be on the same device(?:[.,]? (?:Received|but got|but found|found) "
        rf"(?P<device>{_DEVICE}) and (?P<device2>{_DEVICE}))?",
    ),
    (
        "numpy",
        r"can't convert (?P<device>[\w:]+) (?:device type )?tensor to numpy",
    ),
    (
        "lengths",
        rf"'(?P<name>lengths)' argument should be a 1D CPU int64 tensor, but got \d+D "
        rf"(?P<device>{_DEVICE}) ",
    ),
    (
        "indices",
        rf"indices should be either on (?:cpu|{_DEVICE}) or on the same device as the indexed "
        rf"tensor \((?P<device2>{_DEVICE})\)",
    ),
    (
        "generator",
        rf"Expected an? '(?P<device2>\w+)'(?::\d+)? (?:device type|generator device) for generator "
        rf"but found '(?P<device>{_DEVICE})'",
    ),
    (
        "generator",
        r"Expected an? '?(?P<device2>\w+(?::\d+)?)'? generator(?: device)? but found "
        r"'?(?P<device>\w+)'?",
    ),
    (
        "storage",
        rf"Attempted to set the storage of a tensor on device \"(?P<device>{_DEVICE})\" to a "
        rf"storage on different device \"(?P<device2>{_DEVICE})\"",
    ),
    (
        "replicas",
        rf"module must have its parameters and buffers on device (?P<device>{_DEVICE}) "
        rf"\(device_ids\[0\]\) but found one of them on device: (?P<device2>{_DEVICE})",
    ),
    ("load", r"Attempting to deserialize object on an? (?P<device>\w+) device"),
    ("fork", r"Cannot re-initialize (?P<device>\w+) in forked subprocess"),
    ("fork", r"(?P<device>CUDA) error: initialization error"),
    ("pin", rf"[Cc]annot pin '?(?P<device>{_TYPE})'?,? only (?:dense )?CPU tensors can be pinned"),
    (
        "missing",
        r"Torch not (?:compiled|linked) with (?P<device>\w+) (?:enabled|support)",
    ),
    ("missing", r"PyTorch was compiled without (?P<device>\w+) support"),
    ("missing", r"module 'torch\._C' has no attribute '_(?P<device>cuda)_\w+'"),
    ("missing", r"type (?P<device>torch\.cuda\.\w+) not available"),
    ("missing", r"no (?P<device>CUDA)-capable device is detected"),
    ("missing", r"Found no NVIDIA driver on your system|No (?P<device>CUDA) GPUs are available"),
    ("missing", r"Cannot access accelerator device when none is available"),
    ("missing", r"(?P<device>MPS) backend is not (?:available|supported)"),
    ("ordinal", r"invalid device ordinal|device >= 0 && device < num_gpus|invalid device index"),
    ("memory", r"(?P<device>CUDA|MPS|XPU) (?:backend )?out of memory"),
)
_PATTERNS = [(kind, re.compile(pattern)) for kind, pattern in _MESSAGES]
_TYPES = re.compile(_TYPE)


def read_message(text: str) -> Message | None:
    """Return what a message of torch says about devices, or None when it is about something else.

    Lines may be wrapped: any white space counts as one space.
    """
    text = " ".join(text.split())
    for kind, pattern in _PATTERNS:
        if match := pattern.search(text):
            groups = {name: value for name, value in match.groupdict().items() if value}
            operands = tuple(
                Operand(groups.get(name, ""), device_of(groups[device]))
                for name, device in (("name", "device"), ("name2", "device2"))
                if device in groups
            )
            types = [groups.get(name, "") for name in ("device", "device2")]
            if all(_TYPES.fullmatch(word) for word in types) and _is_one_place(operands):
                return None  # it is about the types of numbers
            return Message(kind, operands, _operation(groups.get("operation", "")))
    return None


def _is_one_place(operands: tuple[Operand, ...]) -> bool:
    return len({operand.device for operand in operands}) == 1


def device_of(word: str) -> str:
    """Return the device that a word of a message means.

    "torch.cuda.FloatTensor", "CUDAFloatType", "CUDA" and "GPU" are "cuda"; "torch.FloatTensor" and
    "CPU" are "cpu"; "cuda:1" stays. On a build of torch for another vendor "GPU" may be its device.
    """
    word = word.removeprefix("torch.").rstrip(".")
    if match := re.fullmatch(r"(?:sparse\.)?(\w+)\.\w*Tensor", word):
        return "cpu" if match[1] == "sparse" else match[1]
    if match := re.fullmatch(r"(CUDA|CPU|MPS|XPU|HIP)(?:\w*Type|\w*Tensor)", word):
        return match[1].lower()
    if re.fullmatch(r"\w+Tensor", word):
        return "cpu"
    word = word.lower()
    return "cuda" if word == "gpu" else word


def _operation(name: str) -> str:
    """Return the operation of a kernel's wrapper: "wrapper_CUDA_addmm" -> "addmm"."""
    return re.sub(r"^(?:wrapper_[A-Z]*_+|_th_)", "", name)
