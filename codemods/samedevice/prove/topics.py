"""What an exception of torch is about: devices, or something that looks alike.

The words are torch's from 0.4 to 2.13, read off its sources and off what people paste.
"""

from __future__ import annotations

import re
from typing import Literal

from .clash import NOT_BUILT, read_message

Topic = Literal[
    "device",  # where tensors are, or which devices there are
    "shape",  # the sizes of tensors
    "dtype",  # the types of their numbers
    "memory",  # the accelerator's memory is full
    "assertion",  # a kernel refused a value, most often an index
    "unpickling",  # a file cannot be read back
    "weights",  # a checkpoint and a model have different parts
    "nccl",  # processes cannot talk to each other
    "index",  # an index or a label is out of range
    "gradient",  # autograd refuses
    "driver",  # the driver, a library or the build of torch does not fit the accelerator
    "other",
]

_TOPICS: tuple[tuple[Topic, tuple[str, ...]], ...] = (
    ("assertion", (r"device-side assert", r"Assertion `.*` failed")),
    (
        "memory",
        (
            r"out of (?:shared )?memory",
            r"DefaultCPUAllocator: can't allocate",
            r"CUBLAS_STATUS_ALLOC_FAILED",
        ),
    ),
    (
        "nccl",
        (
            r"\bNCCL (?:error|communicator|operation|WARN)",
            r"\bnccl[A-Z]\w+",
            r"collective operation timeout",
            r"Timed out waiting for clients",
            r"Connection closed by peer",
            r"store->get\('0'\)",
            r"unhandled (?:cuda|system) error",
        ),
    ),
    (
        "driver",
        (
            r"no kernel image is available",
            r"driver version is insufficient",
            r"is too old \(found version",
            r"CUDA error: (?:unknown error|an illegal memory access|unspecified launch failure)",
            r"CUDA error: (?:misaligned address|all CUDA-capable devices are busy)",
            r"CUDNN_STATUS_\w+|cuDNN error|Unable to find a valid cuDNN",
            r"CUBLAS_STATUS_\w+",
            r"not compatible with the current PyTorch installation",
            r"lib\w+\.so[.\d]*: cannot open shared object",
            rf"Could not run '{NOT_BUILT}",
            r"NVRTC requires CUDA",
            r"Triton Error|HIP error: invalid device function|only supports? Ampere GPUs",
        ),
    ),
    (
        "dtype",
        (
            r"scalar types? \w+,? but (?:found|got)",
            r"to have (?:one of the following )?scalar types?",
            r"Expected object of scalar type",
            r"must have the same dtype|must be the same dtype|same d(?:ata )?type",
            r"[Ff]ound dtype \w+ but expected",
            r"not implemented for '\w+'",
            r"only supports? fp16 and bf16",
            r"result type \w+ can't be cast",
            r"[Oo]nly Tensors of floating point",
            r"can only calculate the mean of floating|[Cc]ould not infer output dtype",
            r"tensors used as indices must be",
            r"Input type \([\w.]+\) and (?:weight|bias) type \([\w.]+\)",
            r"Expected object of type torch\.[\w.]+ but found type torch\.[\w.]+",
            r"dtype mismatch|dtype of input|unsupported ScalarType",
            r"can't convert np\.ndarray of type",
            r"expected (?:floating point|long) (?:type|dtype)",
            r"getCudnnDataTypeFromScalarType\(\) not supported",
        ),
    ),
    (
        "weights",
        (
            r"Error\(s\) in loading state_dict",
            r"(?:Missing|Unexpected) key\(s\) in state_dict",
            r"doesn't match the size of optimizer's group",
            r"loaded state dict (?:has|contains)",
        ),
    ),
    (
        "shape",
        (
            r"shapes cannot be multiplied|mat1 dim 1 must match",
            r"size mismatch|shape mismatch|inconsistent tensor size",
            r"must match the size of tensor|Sizes of tensors must match",
            r"is invalid for input of size|view size is not compatible",
            r"expects each tensor to be equal size",
            r"Given (?:groups|transposed)=",
            r"[Ee]xpected (?:input\[|stride|\d+D|\d+-[Dd]|.{1,20}\d+-dimensional)",
            r"Dimension (?:out of range|specified)",
            r"doesn't match the broadcast shape|cannot be broadcast",
            r"[Tt]he expanded size of the tensor",
            r"must be equal to (?:input_size|the size)|input\.size\(-1\)",
            r"to match target batch_size|[Uu]sing a target size",
            r"Expected more than 1 value per channel",
            r"same number of dimensions|number of dims don't match",
            r"einsum\(\): ",
            r"Expected hidden(?:\[\d\])? size",
            r"Kernel size can't be greater",
            r"selected index k out of range",
            r"only one element tensors can be converted|a Tensor with \d+ elements cannot be",
        ),
    ),
    (
        "unpickling",
        (
            r"Weights only load failed",
            r"invalid load key|magic number",
            r"PytorchStreamReader|failed finding central directory",
            r"Can't get attribute",
            r"Ran out of input|pickle data was truncated|unexpected EOF",
            r"Unsupported (?:global|operand): |persistent_load|could not find MARK",
        ),
    ),
    (
        "index",
        (
            r"index out of range in self",
            r"Target -?\d+ is out of bounds",
            r"index -?\d+ is out of bounds",
            r"Class values must be smaller than",
        ),
    ),
    (
        "gradient",
        (
            r"does not require grad|does not have a grad_fn",
            r"modified by an inplace operation",
            r"backward through the graph a second time",
            r"leaf Variable|non-leaf Tensor",
            r"grad can be implicitly created",
            r"Can't call numpy\(\) on Tensor that requires grad",
            r"not have been used in the graph",
            r"the derivative for '\w+' is not implemented|Double backwards is not supported",
        ),
    ),
)
_PATTERNS = [(topic, re.compile("|".join(patterns))) for topic, patterns in _TOPICS]
_BY_TYPE: dict[str, Topic] = {
    "OutOfMemoryError": "memory",
    "UnpicklingError": "unpickling",
    "EOFError": "unpickling",
    "DistBackendError": "nccl",
    "DistNetworkError": "nccl",
}

MEANING: dict[Topic, str] = {
    "shape": "not about devices: the sizes of the tensors do not fit",
    "dtype": "not about devices: the types of the numbers do not fit, which a move does not change",
    "memory": "not about devices: the memory is full. The batch or the model is too large, or "
    "something keeps the tensors of earlier steps",
    "assertion": "not about devices: a kernel refused a value, most often an index or a label "
    "out of range. Kernels run later than the lines that start them, so the line may be another; "
    "on the CPU, or with CUDA_LAUNCH_BLOCKING=1, the right one stops",
    "unpickling": "not about devices: the file cannot be read back, whole or at all",
    "weights": "not about devices: the checkpoint and the model do not have the same parts",
    "nccl": "not about devices: the processes cannot talk to each other. NCCL_DEBUG=INFO tells "
    "more",
    "index": "not about devices: an index or a label is out of range",
    "gradient": "not about devices: autograd refuses this",
    "other": "the message says nothing about devices",
    "driver": "not about devices: the driver, a library or the build of torch does not fit the "
    "accelerator, or it is in a bad state",
}
"""What is said of a message that is not about where tensors are."""


def topic(exception: str, text: str) -> Topic:
    """Return what an exception of this type, with this message, is about."""
    found = recognized(text) or _BY_TYPE.get(exception.rpartition(".")[2])
    if found is None and re.search(r"\b(?:device|cuda|CUDA|MPS)\b", text):
        return "device"  # in words of a release that is not known here
    return found or "other"


def recognized(text: str) -> Topic | None:
    """Return what a message is about, or None if its words are not known."""
    text = " ".join(text.split())
    about = read_message(text)
    if about is not None and about.kind != "memory":
        return "device"
    return next((found for found, pattern in _PATTERNS if pattern.search(text)), None)
