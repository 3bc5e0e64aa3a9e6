"""What a new resolver looks like, in a script and as a module of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

# "cuda" looks for CUDA only; "accelerator" for whatever torch.accelerator (torch >= 2.6) finds;
# "xla" for the device of torch_xla, a package that most machines lack.
Style = Literal["cuda", "accelerator", "xla"]
#: What a resolver module calls the device, whatever those who import it call it.
CONSTANT = "device"

_CUDA = '{torch}.device("{cuda}" if {torch}.cuda.is_available() else "cpu")'
#: For programs that name the GPU of a Mac, whose accelerator stays among the choices.
MPS = "mps"
_CUDA_OR_MPS = (
    '{torch}.device("cuda" if {torch}.cuda.is_available() '
    'else "mps" if {torch}.backends.mps.is_available() else "cpu")'
)
# `current_accelerator` is None on a CPU build, and raised there in torch 2.6: ask first.
_ACCELERATOR = (
    "{torch}.accelerator.current_accelerator() "
    "if {torch}.accelerator.is_available() "
    'else {torch}.device("cpu")'
)

_XLA = (
    'importlib.import_module("torch_xla").device() '
    'if importlib.util.find_spec("torch_xla") '
    'else {torch}.device("cpu")'
)
_EXPRESSIONS: dict[Style, str] = {"cuda": _CUDA, "accelerator": _ACCELERATOR, "xla": _XLA}
#: The module that an expression needs besides torch.
NEEDS: dict[Style, str] = {"xla": "importlib.util"}

_MODULE = '''"""The device that this project computes on."""

{imports}


def get_device():
    """Return {what} when there is one, else the CPU."""
{body}

{name} = get_device()
'''


_MOVER = '''def {name}(batch, device):
    """Return a batch with all of its tensors on the device; the rest stays as it is."""
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, dict):
        return {{key: {name}(value, device) for key, value in batch.items()}}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*({name}(value, device) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)({name}(value, device) for value in batch)
    if hasattr(batch, "__dataclass_fields__"):
        values = {{key: {name}(value, device) for key, value in vars(batch).items()}}
        return type(batch)(**values)
    return batch
'''


def mover(name: str) -> str:
    """Return the definition of a function that moves a batch of any structure."""
    return _MOVER.format(name=name)


def expression(torch: str, style: Style, gpu: str = "") -> str:
    """Return the expression that decides the device.

    `torch` is torch's name in the file, and `gpu` the number of the GPU that the program names, or
    `MPS`.
    """
    if gpu == MPS:
        code = _EXPRESSIONS[style] if style == "accelerator" else _CUDA_OR_MPS
        return code.format(torch=torch)
    if gpu:  # which torch.accelerator could not be asked for
        return _CUDA.format(torch=torch, cuda=f"cuda:{gpu}")
    return _EXPRESSIONS[style].format(torch=torch, cuda="cuda")


def definition(name: str, torch: str, style: Style, limit: int, gpu: str = "") -> str:
    """Return the assignment that a script gets, broken where longer than `limit` characters."""
    value = expression(torch, style, gpu)
    code = f"{name} = {value}"
    if len(code) <= limit or style == "cuda" and gpu != MPS:
        return code
    if value.startswith(f"{torch}.device("):
        inner = value.removeprefix(f"{torch}.device(")[:-1]
        return f"{name} = {torch}.device(\n    {inner}\n)"
    value = value.replace(" if ", "\n    if ").replace(" else ", "\n    else ")
    return f"{name} = (\n    {value}\n)"


def module(style: Style, gpu: str = "", movers: Iterable[str] = ()) -> str:
    """Return the text of a resolver module that defines `get_device()` and `CONSTANT`.

    `movers` are the names of functions in it that move batches.
    """
    definitions = "".join(f"\n\n{mover(name)}" for name in movers)
    imports = "import torch"
    if style == "cuda" or gpu and gpu != MPS:
        what = f"GPU {gpu}" if gpu else "the current CUDA device"
        what = "the GPU, of CUDA or of a Mac," if gpu == MPS else what
        body = f"    return {expression('torch', 'cuda', gpu)}\n"
    elif style == "xla":
        imports += (
            "\n\ntry:\n    import torch_xla\nexcept ImportError:  # a machine without XLA\n"
            "    torch_xla = None"
        )
        what = "the XLA device (a TPU, or what PJRT_DEVICE names)"
        body = '    return torch_xla.device() if torch_xla else torch.device("cpu")\n'
    else:
        what = "this machine's accelerator (CUDA, MPS, XPU, ...)"
        body = (
            '    accelerator = getattr(torch, "accelerator", None)  # since torch 2.6\n'
            "    if accelerator is not None and accelerator.is_available():\n"
            "        return accelerator.current_accelerator()\n"
            f"    return {expression('torch', 'cuda', gpu)}\n"
        )
    return _MODULE.format(imports=imports, what=what, body=body, name=CONSTANT) + definitions
