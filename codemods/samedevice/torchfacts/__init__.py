"""What torch and the libraries around it do to places, as data.

Facts about torch itself are in `torch.json`, which `generate.py` reads off an installed torch
(schemas, signatures, experiments). Facts about other libraries are kept by hand in `libraries.py`.
Nothing here imports torch; the data is read at the first look-up.

    >>> lookup("torch.zeros").kind
    'create'
    >>> lookup("torch.nn.modules.linear.Linear").state
    True
    >>> tensor_method("numpy").kind
    'to_numpy'
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

__all__ = [
    "OFFLOADING",
    "Fact",
    "accelerator_names",
    "built_for_cuda",
    "called_on_cuda",
    "computes",
    "is_pipeline",
    "legacy_dtype",
    "library",
    "lookup",
    "module_method",
    "raises_in",
    "tensor_attribute",
    "tensor_method",
]

#: Methods of diffusers' pipelines that keep their parts on the CPU, and move each to an accelerator
#: as it computes: without one they raise ("requires accelerator, but not found"). Read from
#: diffusers 0.35, `pipeline_utils.py`.
OFFLOADING = ("enable_model_cpu_offload", "enable_sequential_cpu_offload")


@dataclass(frozen=True, slots=True)
class Fact:
    """What one function, class or method does to places.

    `kind` is one of the words in docs/torchfacts.md. `params` are the positional parameters in
    order, without `self`; a last name with a star ("*size") takes every further argument.

    `tensors`, `free` and `host` name parameters (without a star) that take a tensor or a list of
    tensors: those in `tensors` must be in one place (for a method, also with `self`), those in
    `free` may be elsewhere, those in `host` must be on the CPU; "*" means every argument.
    With `scalars`, tensors without dimensions may stay on the CPU among those in `tensors`.
    With `chooses`, what is told no device takes the accelerator where there is one.
    """

    kind: str
    device: bool = False
    out: str = "tensor"
    params: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    state: bool = False
    dtype: str = ""
    scalars: bool = False
    chooses: bool = False

    def parameter(self, position: int) -> str | None:
        """Return the name of the positional argument `position` (0 is the first), if known."""
        if position < len(self.params):
            return self.params[position].lstrip("*")
        if self.params and self.params[-1].startswith("*"):
            return self.params[-1][1:]
        return None

    def must_agree(self, parameter: str) -> bool:
        """Return whether the tensors given for `parameter` must be where the others are."""
        return parameter in self.tensors or ("*" in self.tensors and parameter not in self.free)

    def must_be_on_host(self, parameter: str) -> bool:
        """Return whether the tensors given for `parameter` must be on the CPU."""
        return parameter in self.host or "*" in self.host


@cache
def lookup(name: str) -> Fact | None:
    """Return the fact about a dotted name as it is imported, or None.

    Aliases resolve: "torch.nn.modules.linear.Linear" is "torch.nn.Linear". The call of a module of
    torch.nn is "torch.nn.<class>.forward".
    """
    from samedevice.torchfacts import store

    return store.lookup(name)


def members(module: str) -> tuple[str, ...]:
    """Return what `from module import *` gives, as far as it is known by name: none of torch's.

    What only a pattern knows is asked for by `lookup`.
    """
    from samedevice.torchfacts import libraries

    return libraries.members(module)


def legacy_dtype(name: str) -> str:
    """Return the element type of PyTorch 0.x's tensor type `name` ("LongTensor": "int64"), or "".

    `Tensor` is float32, which it is as long as nobody changes the default.
    """
    fact = lookup(f"torch.{name}")
    if fact is None or fact.kind != "legacy":
        return ""
    return "float32" if name == "Tensor" else fact.dtype.removeprefix("torch.")


def built_for_cuda() -> frozenset[str]:
    """Return the modules whose import fails without CUDA, or that can do nothing without it."""
    from samedevice.torchfacts import libraries

    return libraries.BUILT_FOR_CUDA


def called_on_cuda() -> tuple[str, ...]:
    """Return the functions that raise where what they are given is not on CUDA."""
    from samedevice.torchfacts import libraries

    return libraries.CALLED_ON_CUDA


@cache
def tensor_method(name: str) -> Fact | None:
    """Return the fact about the method `name` of `torch.Tensor`, or None."""
    from samedevice.torchfacts import store

    return store.member("torch.Tensor", name)


@cache
def tensor_attribute(name: str) -> str | None:
    """Return what the attribute `name` of a tensor is, in the words of `Fact.out`, or None.

    "self" is a tensor on the place of the tensor itself.
    """
    from samedevice.torchfacts import store

    return store.attribute(name)


def is_output_field(name: str) -> bool:
    """Tell whether models of libraries give a tensor under this name."""
    from samedevice.torchfacts import libraries

    return name in libraries.OUTPUT_FIELDS


def computes(method: str) -> bool:
    """Tell whether a method of a library's module gives tensors, as the call of the module does."""
    from samedevice.torchfacts import libraries

    return method in libraries.COMPUTES


def is_input(keyword: str) -> bool:
    """Tell whether what a library's module is given by a keyword is a tensor, by its last word.

    Others are numbers and flags as well (`max_new_tokens`, `guidance_scale`, `return_dict`).
    """
    from samedevice.torchfacts import libraries

    return keyword.rpartition("_")[2] in libraries.INPUTS


def takes_graphs(name: str) -> bool:
    """Tell whether a module's library hands it objects that have a device of their own."""
    from samedevice.torchfacts import libraries

    return name.partition(".")[0] in libraries.WITH_GRAPHS


def is_pipeline(name: str) -> bool:
    """Tell whether a class, or what makes one of its objects, is a pipeline of diffusers.

    It moves as a module does, and is none: it has a `device`, and no `parameters()`.
    """
    library, _, rest = name.partition(".")
    called = [part for part in rest.split(".") if not part.startswith("from_")]
    return library == "diffusers" and bool(called) and called[-1].endswith("Pipeline")


@cache
def module_method(name: str) -> Fact | None:
    """Return the fact about the method `name` of `torch.nn.Module`, or None."""
    from samedevice.torchfacts import store

    return store.member("torch.nn.Module", name)


@cache
def library(prefix: str) -> bool:
    """Return whether facts are kept about the top-level package `prefix`."""
    from samedevice.torchfacts import store

    return store.library(prefix)


def accelerator_names(version: str) -> frozenset[str]:
    """Return the names in torch.accelerator, amp, cuda, mps, xpu, backends.cuda and backends.cudnn.

    Those of their modules, too. `version` is a torch release, "2.6" or "2.6.0+cu124"; each name is
    dotted ("torch.accelerator.is_available"). A release that is not known answers as the one
    before it, one older than all as the oldest (2.0). Raises `ValueError` for what is no version.
    """
    from samedevice.torchfacts import releases

    return releases.names_in(version)


def raises_in(name: str, torch: tuple[int, int]) -> bool:
    """Return whether a question about CUDA raises without it in a release, and not in newer ones.

    Not where the release is not known: (0, 0).
    """
    from samedevice.torchfacts import releases

    return (0, 0) < torch < releases.QUIET_SINCE.get(name, (0, 0))
