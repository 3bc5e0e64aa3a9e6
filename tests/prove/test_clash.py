"""Messages of torch about devices, as people paste them."""

import pytest

from samedevice.prove.clash import device_of, read_message


@pytest.mark.parametrize(
    ("text", "kind", "operands", "operation"),
    [
        (
            "Expected all tensors to be on the same device, but got mat1 is on cpu, different from "
            "other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)",
            "mismatch",
            [("mat1", "cpu"), ("", "cuda:0")],
            "addmm",
        ),
        (
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
            "and cpu!",
            "mismatch",
            [("", "cuda:0"), ("", "cpu")],
            "",
        ),
        (
            "Expected all tensors to be on the same device, but found at least two devices, cpu and"
            " cuda:1! (when checking argument for argument index in method wrapper__index_select)",
            "mismatch",
            [("", "cpu"), ("index", "cuda:1")],
            "index_select",
        ),
        (
            "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the "
            "same or input should be a MKLDNN tensor and weight is a dense tensor",
            "mismatch",
            [("", "cpu"), ("weight", "cuda")],
            "",
        ),
        (
            "Input type (CUDABFloat16Type) and weight type (CPUBFloat16Type) should be the same",
            "mismatch",
            [("", "cuda"), ("weight", "cpu")],
            "",
        ),
        (
            "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and "
            "hidden tensor at cpu",
            "mismatch",
            [("", "cuda:0"), ("hidden", "cpu")],
            "",
        ),
        (
            "Expected object of device type cuda but got device type cpu for argument #2 'mat2' in "
            "call to _th_mm",
            "mismatch",
            [("", "cuda"), ("mat2", "cpu")],
            "mm",
        ),
        (
            "Expected object of backend CUDA but got backend CPU for argument #4 'mat1'",
            "mismatch",
            [("", "cuda"), ("mat1", "cpu")],
            "",
        ),
        (
            "Expected object of type torch.cuda.LongTensor but found type torch.LongTensor for "
            "argument #2 'target'",
            "mismatch",
            [("", "cuda"), ("target", "cpu")],
            "",
        ),
        (
            "expected device cuda:0 but got device cpu",
            "mismatch",
            [("", "cuda:0"), ("", "cpu")],
            "",
        ),
        (
            "expected type torch.cuda.FloatTensor but got torch.FloatTensor",
            "mismatch",
            [("", "cuda"), ("", "cpu")],
            "",
        ),
        (
            "Tensor for argument #2 'mat1' is on CPU, but expected it to be on GPU (while checking "
            "arguments for addmm)",
            "mismatch",
            [("mat1", "cpu"), ("", "cuda")],
            "addmm",
        ),
        (
            "Tensor for 'out' is on CPU, Tensor for argument #1 'self' is on CPU, but expected "
            "them to be on GPU (while checking arguments for addmm)",
            "mismatch",
            [("out", "cpu"), ("self", "cpu")],
            "addmm",
        ),
        (
            "slow_conv2d_forward_mps: input(device='cpu') and weight(device=mps:0')  must be on the"
            " same device",
            "mismatch",
            [("", "cpu"), ("weight", "mps:0")],
            "slow_conv2d_forward_mps",
        ),
        ("torch.cat(): all input tensors must be on the same device.", "mismatch", [], ""),
        (
            "torch.cat(): all input tensors must be on the same device. Received cuda:0 and cpu",
            "mismatch",
            [("", "cuda:0"), ("", "cpu")],
            "",
        ),
        (
            "Placeholder storage has not been allocated on MPS device!",
            "mismatch",
            [("", "mps")],
            "",
        ),
        (
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first.",
            "numpy",
            [("", "cuda:0")],
            "",
        ),
        (
            "can't convert CUDA tensor to numpy. Use Tensor.cpu() to copy it",
            "numpy",
            [("", "cuda")],
            "",
        ),
        (
            "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
            "lengths",
            [("lengths", "cuda:0")],
            "",
        ),
        (
            "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
            "indices",
            [("", "cpu")],
            "",
        ),
        (
            "Expected a 'cuda' device type for generator but found 'cpu'",
            "generator",
            [("", "cpu"), ("", "cuda")],
            "",
        ),
        (
            'Attempted to set the storage of a tensor on device "cpu" to a storage on different '
            'device "cuda:0".  This is no longer allowed; the devices must match.',
            "storage",
            [("", "cpu"), ("", "cuda:0")],
            "",
        ),
        (
            "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but "
            "found one of them on device: cpu",
            "replicas",
            [("", "cuda:0"), ("", "cpu")],
            "",
        ),
        (
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False.",
            "load",
            [("", "cuda")],
            "",
        ),
        (
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
            "must use the 'spawn' start method",
            "fork",
            [("", "cuda")],
            "",
        ),
        ("CUDA error: initialization error", "fork", [("", "cuda")], ""),
        (
            "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
            "pin",
            [("", "cuda")],
            "",
        ),
        ("Torch not compiled with CUDA enabled", "missing", [("", "cuda")], ""),
        (
            "type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled.",
            "missing",
            [("", "cuda")],
            "",
        ),
        ("CUDA error: invalid device ordinal", "ordinal", [], ""),
        ("CUDA out of memory. Tried to allocate 20.00 MiB", "memory", [("", "cuda")], ""),
    ],
)
def test_message(text: str, kind: str, operands: list[tuple[str, str]], operation: str) -> None:
    message = read_message(text)
    assert message is not None
    assert message.kind == kind
    assert [(operand.name, operand.device) for operand in message.operands] == operands
    assert message.operation == operation


def test_wrapped_lines_are_one_message() -> None:
    message = read_message(
        "Expected all tensors to be on\n  the same device, but found at least "
        "two\ndevices, cuda:0 and cpu!"
    )
    assert message is not None
    assert [operand.device for operand in message.operands] == ["cuda:0", "cpu"]


@pytest.mark.parametrize(
    "text",
    [
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "CUDA error: device-side assert triggered",
        "expected scalar type Long but found Float",
        "name 'device' is not defined",
        "Expected object of scalar type Float but got scalar type Double for argument #2 'mat1'",
        "expected type str but got int",
        "",
    ],
)
def test_other_messages_are_not_about_places(text: str) -> None:
    assert read_message(text) is None


@pytest.mark.parametrize(
    ("word", "device"),
    [
        ("torch.cuda.HalfTensor", "cuda"),
        ("torch.HalfTensor", "cpu"),
        ("CPUFloatType", "cpu"),
        ("MPSFloatType", "mps"),
        ("GPU", "cuda"),
        ("cuda:3", "cuda:3"),
        ("torch.sparse.FloatTensor", "cpu"),
    ],
)
def test_device_of(word: str, device: str) -> None:
    assert device_of(word) == device
