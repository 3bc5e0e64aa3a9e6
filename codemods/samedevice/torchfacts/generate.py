"""Read the facts about torch off the installed torch and write `torch.json`.

    python -m samedevice.torchfacts.generate            # write the file
    python -m samedevice.torchfacts.generate --check    # exit 1 where the file would change

The only module of this package that imports torch. It needs a machine without an accelerator, since
it calls what is in `torch.cuda` to learn what raises there. What it reads:

- operators: the schemas in `native_functions.yaml`, which the torch wheel ships for torchgen;
- functions written in Python, and `forward` of every module: their annotated signatures;
- modules: built with small arguments, to see whether they hold parameters or buffers;
- `torch.cuda` and the like: every function called without such a device, to see which ones raise;
- aliases: the same object under two dotted names;
- `curated.py`: what none of these tell. A name there that torch lacks is an error.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from samedevice.torchfacts import Fact, curated
from samedevice.torchfacts.store import TORCH_DATA, TorchData, pack

# Where user code takes names from. The first one that holds an object names it.
NAMESPACES = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parallel",
    "torch.nn.utils",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.rnn",
    "torch.accelerator",
    "torch.amp",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.autograd.profiler",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mps",
    "torch.backends.openmp",
    "torch.cpu",
    "torch.cpu.amp",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.cuda.comm",
    "torch.cuda.nccl",
    "torch.cuda.nvtx",
    "torch.cuda.profiler",
    "torch.cuda.sparse",
    "torch.cuda.tunable",
    "torch.distributed",
    "torch.distributions",
    "torch.fft",
    "torch.func",
    "torch.hub",
    "torch.jit",
    "torch.linalg",
    "torch.masked",
    "torch.mps",
    "torch.multiprocessing",
    "torch.nested",
    "torch.nn.attention",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.profiler",
    "torch.random",
    "torch.signal.windows",
    "torch.sparse",
    "torch.special",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.data.distributed",
    "torch.utils.dlpack",
    "torch.utils.model_zoo",
    "torch.utils.tensorboard",
    "torch.xpu",
)

# Where the same objects live once more.
ALIAS_ROOTS = (
    "torch.accelerator",
    "torch.amp",
    "torch.autograd",
    "torch.cuda",
    "torch.distributions",
    "torch.mps",
    "torch.nn",
    "torch.optim",
    "torch.utils.data",
    "torch.xpu",
)

# Operators of these namespaces carry a prefix in their schema.
OPERATOR_PREFIX = {
    "torch": "",
    "torch.nn.functional": "",
    "torch.linalg": "linalg_",
    "torch.fft": "fft_",
    "torch.special": "special_",
    "torch.sparse": "_sparse_",
}

# Arguments that build a small instance of every module of torch.nn, by parameter name.
SMALL: dict[str, Any] = {
    "cutoffs": [2],
    "d_model": 4,
    "embed_dim": 4,
    "embedding_dim": 4,
    "hidden_size": 4,
    "in1_features": 4,
    "in2_features": 4,
    "in_channels": 4,
    "in_features": 4,
    "input_size": 4,
    "kernel_size": 3,
    "lambd": 0.5,
    "max_val": 1.0,
    "min_val": -1.0,
    "bias": True,
    "mode": "LSTM",
    "n_classes": 4,
    "norm_type": 2,
    "num_chunks": 1,
    "num_classes": 4,
    "nhead": 2,
    "normalized_shape": 4,
    "num_channels": 4,
    "num_embeddings": 4,
    "num_features": 4,
    "num_groups": 2,
    "num_heads": 2,
    "num_layers": 1,
    "num_parameters": 1,
    "out_channels": 4,
    "out_features": 4,
    "output_size": 2,
    "padding": 1,
    "r": 2,
    "scale_factor": 2,
    "size": 2,
    "threshold": 0.1,
    "unflattened_size": (2, 2),
    "upscale_factor": 2,
    "downscale_factor": 2,
    "groups": 2,
    "dim": 1,
    "value": 0.0,
}


# -- operators -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Operators:
    """The schemas of all operators by name, and which of their overloads are elementwise."""

    schemas: dict[str, list[Any]]
    elementwise: set[tuple[str, str]]


def read_operators() -> Operators:
    """Return the operators as torch's own build reads them.

    `device_check: NoCheck  # TensorIterator` in an entry says that its kernel goes through
    TensorIterator, which takes one host tensor without dimensions for a scalar.
    """
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("torchgen is not installed beside torch: no schemas to read")
    path = Path(spec.submodule_search_locations[0])
    text = (path / "packaged/ATen/native/native_functions.yaml").read_text(encoding="utf-8")
    operators = Operators({}, set())
    for entry in re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]:
        schema = torch._C.parse_schema("aten::" + entry.partition("\n")[0])
        name = schema.name.removeprefix("aten::")
        operators.schemas.setdefault(name, []).append(schema)
        if re.search(r"^  device_check: NoCheck +# TensorIterator", entry, re.MULTILINE):
            operators.elementwise.add((name, schema.overload_name))
    return operators


def operator_fact(name: str, operators: Operators, *, method: bool) -> Fact | None:
    """Return the fact about an operator, as a function or as a method of Tensor."""
    usable = [
        s
        for s in operators.schemas[name]
        if not any(a.is_out or "Dimname" in str(a.type) for a in s.arguments)
        and (not method or any(a.name == "self" for a in s.arguments))
    ]
    if not usable:
        return None
    # The overload that takes most tensors says most; the longest of those has all the names.
    schema = max(
        usable, key=lambda s: (sum("Tensor" in str(a.type) for a in s.arguments), len(s.arguments))
    )
    arguments = [a for a in schema.arguments if not (method and a.name == "self")]
    rename = {"self": "input"}
    positional = [a for a in arguments if not a.kwarg_only]
    params = [rename.get(a.name, a.name) for a in positional]
    # The argument parser of torch lets the only positional list of ints be given as *args.
    if len(positional) == 1 and str(positional[0].type) in ("List[int]", "Optional[List[int]]"):
        params = ["*" + params[0]]
    free = curated.FREE.get(name, ())
    tensors = tuple(
        rename.get(a.name, a.name)
        for a in arguments
        if "Tensor" in str(a.type) and a.name not in free
    )
    returned = {tuple(str(r.type) for r in s.returns) for s in usable}
    device = any(a.name == "device" for s in usable for a in s.arguments)
    fact = Fact("view", device, "tensor", tuple(params), tensors, tuple(free))
    if not any("Tensor" in t for types in returned for t in types):
        out = "none" if returned == {()} else "scalar"
        return dataclasses.replace(fact, kind="query", out=out)
    if all(types != ("Tensor",) for types in returned):
        fact = dataclasses.replace(fact, out="tensors")
    elif method and name.endswith("_"):
        fact = dataclasses.replace(fact, out="self")
    if device:
        follows = method or name.endswith("_like")
        return dataclasses.replace(fact, kind="like" if follows else "create")
    if len(tensors) + method > 1 or any(
        "List" in str(a.type) for a in arguments if a.name in tensors
    ):
        scalars = (name, schema.overload_name) in operators.elementwise
        scalars = scalars or name.rstrip("_") in curated.ELEMENTWISE.split()
        return dataclasses.replace(fact, kind="op", scalars=scalars)
    return fact


# -- functions written in Python -------------------------------------------------------------------


def signature_of(function: Any) -> inspect.Signature | None:
    """Return the signature, or None for what has none (built-in functions)."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def positional_names(signature: inspect.Signature) -> tuple[str, ...]:
    """Return the positional parameters, the last with a star if it takes all further ones."""
    names = []
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            names.append("*" + parameter.name)
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return tuple(names)


def takes_tensor(annotation: Any) -> bool:
    """Return whether a parameter so annotated takes a tensor or a list of tensors."""
    text = str(annotation)
    return bool(re.search(r"\bTensors?\b|_TensorOrTensors", text)) and "Callable" not in text


def python_fact(function: Any) -> Fact | None:
    """Return the fact that an annotated signature tells, or None where it tells nothing."""
    signature = signature_of(function)
    if signature is None:
        return None
    tensors = tuple(
        p.name
        for p in signature.parameters.values()
        if takes_tensor(p.annotation) and p.name not in ("out", "self")
    )
    answer = str(signature.return_annotation)
    if not tensors:
        if "device" in signature.parameters and takes_tensor(signature.return_annotation):
            return Fact("create", device=True, params=positional_names(signature))
        return None
    if signature.return_annotation is inspect.Signature.empty or "Tensor" in answer:
        several = re.search(r"[Tt]uple\[|[Ll]ist\[", answer) is not None
        out = "tensors" if several and "Union" not in answer else "tensor"
        return Fact(
            "op" if len(tensors) > 1 else "view",
            device="device" in signature.parameters,
            out=out,
            params=positional_names(signature),
            tensors=tensors,
        )
    return Fact("query", out="scalar", params=positional_names(signature), tensors=tensors)


# -- modules ---------------------------------------------------------------------------------------


def build_small(cls: type[Any]) -> Any:
    """Return a small instance of a module class; raises `LookupError` for an unknown argument."""
    arguments = {}
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            continue
        if parameter.name.endswith("_layer"):
            layer = getattr(torch.nn, cls.__name__ + "Layer")
            arguments[parameter.name] = build_small(layer)
        elif parameter.name in SMALL:
            arguments[parameter.name] = SMALL[parameter.name]
        else:
            raise LookupError(f"{cls.__name__} wants {parameter.name}: add it to SMALL")
    if "output_size" in inspect.signature(cls).parameters:
        arguments["output_size"] = SMALL["output_size"]  # one of two alternatives
    return cls(**arguments)


def module_facts(cls: type[Any]) -> tuple[Fact, Fact | None]:
    """Return the facts about building a module and about calling it."""
    module = build_small(cls)
    state = bool(list(module.parameters())) or bool(list(module.buffers()))
    signature = inspect.signature(cls)
    tensors = tuple(p.name for p in signature.parameters.values() if takes_tensor(p.annotation))
    built = Fact(
        "module",
        device="device" in signature.parameters,
        out="module",
        params=positional_names(signature),
        tensors=tensors,
        state=state,
    )
    if cls.forward is torch.nn.Module.forward:
        return built, None
    called = python_fact(cls.forward)
    if called is None:
        names = positional_names(inspect.signature(cls.forward))
        required = tuple(n for n in names if not n.startswith("*"))
        called = Fact("op" if len(required) > 1 else "view", params=names, tensors=required)
    return built, called


# -- torch.cuda, torch.accelerator, torch.mps, torch.xpu -------------------------------------------

WITHOUT = (
    "torch.accelerator",
    "torch.cuda",
    "torch.cuda.comm",
    "torch.cuda.nccl",
    "torch.cuda.nvtx",
    "torch.cuda.profiler",
    "torch.cuda.sparse",
    "torch.cuda.tunable",
    "torch.mps",
    "torch.xpu",
)

# Arguments for the functions there that need some, by parameter name.
CUDA_ARGUMENTS: dict[str, Any] = {
    "device": 0,
    "stream": None,
    "seed": 0,
    "seed_all": 0,
    "new_state": torch.zeros(16, dtype=torch.uint8),
    "new_states": [torch.zeros(16, dtype=torch.uint8)],
    "peer_device": 1,
    "fraction": 0.5,
    "size": 16,
    "mem_ptr": 0,
    "msg": "m",
    "range_id": 1,
    "res": 0,
    "tensor": torch.zeros(2),
    "tensors": [torch.zeros(2)],
    "devices": [0],
    "inputs": [torch.zeros(2)],
    "outputs": [torch.zeros(2)],
    "duration": 1,
    "iterations": 1,
    "buffer_size": 1,
    "enable": False,
    "filename": "x",
    "filename_pattern": "x",
    "num_gpus": 1,
}


def without_cuda(function: Any) -> Fact | None:
    """Call a function of torch.cuda and the like on a machine without such a device.

    Returns None where the arguments that it needs are unknown.
    """
    signature = signature_of(function)
    if signature is None:
        return None
    arguments = []
    for parameter in signature.parameters.values():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            break
        if parameter.name not in CUDA_ARGUMENTS:
            return None
        arguments.append(CUDA_ARGUMENTS[parameter.name])
    params = positional_names(signature)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*arguments)
            if hasattr(result, "__enter__"):
                with result:
                    pass
    except Exception:  # whatever it is: this is what a user would see
        return Fact("cudaonly", out="unknown", params=params)
    out = (
        "none"
        if result is None
        else "scalar"
        if isinstance(result, (int, str, float))
        else "unknown"
    )
    return Fact("cudaquiet", out=out, params=params)


# -- all of it -------------------------------------------------------------------------------------


def public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield what user code takes from a module."""
    for name in sorted(set(dir(module)) | set(getattr(module, "__all__", ()))):
        if not name.startswith("_") or name in getattr(module, "__all__", ()):
            yield name, getattr(module, name, None)


def belongs_to_torch(function: Any) -> bool:
    """Return whether a function is torch's own; built-in functions have no module to tell."""
    module = getattr(function, "__module__", None)
    return module is None or module.partition(".")[0] == "torch"


def resolve(dotted: str) -> Any:
    """Return the object that a dotted name of torch names; raises `AttributeError`."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            value = getattr(value, part)
        return value
    raise AttributeError(dotted)


def class_fact(name: str, cls: type[Any]) -> dict[str, Fact]:
    """Return the facts about a class of torch and about its call."""
    signature = signature_of(cls)
    params = positional_names(signature) if signature else ()
    short = name.rpartition(".")[2]
    if issubclass(cls, torch.nn.Module):
        if name != f"torch.nn.{short}":
            return {}
        built, called = module_facts(cls)
        return {name: built} | ({f"{name}.forward": called} if called else {})
    if issubclass(cls, torch.optim.Optimizer):
        return {name: Fact("optimizer", out="optimizer", params=params)}
    if issubclass(cls, torch.optim.lr_scheduler.LRScheduler):
        return {name: Fact("scheduler", out="unknown", params=params)}
    if issubclass(cls, torch.distributions.Distribution):
        tensors = tuple(n for n in params if n != "validate_args" and not n.startswith("*"))
        return {name: Fact("distribution", out="distribution", params=params, tensors=tensors)}
    if name == f"{cls.__module__}.{short}" and short in LEGACY:
        return {name: Fact("legacy", params=("*args",), dtype=LEGACY[short], device=True)}
    return {}


# The name of the legacy constructor and the element type it stands for
# (docs: "torch.Tensor / Data types").
LEGACY = {
    "FloatTensor": "torch.float32",
    "DoubleTensor": "torch.float64",
    "HalfTensor": "torch.float16",
    "BFloat16Tensor": "torch.bfloat16",
    "ByteTensor": "torch.uint8",
    "CharTensor": "torch.int8",
    "ShortTensor": "torch.int16",
    "IntTensor": "torch.int32",
    "LongTensor": "torch.int64",
    "BoolTensor": "torch.bool",
    "Tensor": "torch.get_default_dtype()",
}


def function_fact(namespace: str, short: str, function: Any, operators: Operators) -> Fact | None:
    """Return the fact about a function, from its schema if it is an operator."""
    if namespace in WITHOUT:
        return without_cuda(function)
    prefix = OPERATOR_PREFIX.get(namespace)
    if prefix is not None and (inspect.isbuiltin(function) or python_fact(function) is None):
        for name in (prefix + short, short, getattr(function, "__name__", "")):
            if name in operators.schemas:
                return operator_fact(name, operators, method=False)
    return python_fact(function)


def read_functions(operators: Operators) -> dict[str, Fact]:
    """Return the facts about everything in NAMESPACES."""
    by_hand = curated_facts(curated.FUNCTIONS)
    known = {id(resolve(name)): fact for name, fact in by_hand.items()}
    facts = dict(by_hand)
    for namespace in NAMESPACES:
        try:
            module = importlib.import_module(namespace)
        except ImportError:  # torch.utils.tensorboard wants tensorboard
            continue
        for short, value in public_members(module):
            name = f"{namespace}.{short}"
            if name in by_hand:
                continue
            if id(value) in known:
                facts[name] = known[id(value)]
            elif isinstance(value, type):
                found = class_fact(name, value)  # with its forward, which may be by hand
                facts.update({n: f for n, f in found.items() if n not in facts})
            elif callable(value) and belongs_to_torch(value):
                fact = function_fact(namespace, short, value, operators)
                if fact is not None:
                    facts[name] = fact
    return facts


def read_methods(operators: Operators) -> dict[str, Fact]:
    """Return the facts about the methods of Tensor that are operators or annotated."""
    facts = {}
    for name in dir(torch.Tensor):
        value = getattr(torch.Tensor, name)
        if not callable(value) or name.startswith("_"):
            continue
        fact = None
        if name in operators.schemas:
            fact = operator_fact(name, operators, method=True)
        fact = fact or python_fact(value)
        if fact is not None:
            facts[name] = fact
    return facts


def read_attributes() -> dict[str, str]:
    """Return the attributes of Tensor, and the fields of the tuples that operators return."""
    attributes = dict(curated.TENSOR_ATTRIBUTES)
    for name in dir(torch.Tensor):
        if name.startswith("is_") and not callable(getattr(torch.Tensor, name)):
            attributes.setdefault(name, "scalar")
    for name in dir(torch.return_types):
        cls = getattr(torch.return_types, name)
        if isinstance(cls, type) and issubclass(cls, tuple):
            for field in dir(cls):
                if type(getattr(cls, field)).__name__ == "member_descriptor":
                    attributes.setdefault(field, "self")
    return attributes


def read_aliases(facts: dict[str, Fact]) -> dict[str, list[str]]:
    """Return, for every module that holds known objects once more, where they are known from."""
    owners: dict[int, str] = {}
    for name in facts:
        if name.count(".") and not name.endswith(".forward"):
            owners.setdefault(id(resolve(name)), name)
    modules = [importlib.import_module(n) for n in ALIAS_ROOTS]
    found: dict[str, set[str]] = {}
    for root in modules:
        for info in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
            if info.name in NAMESPACES or any(p.startswith("_") for p in info.name.split(".")):
                continue
            if re.search(r"\.(quantiz|quantized|qat|intrinsic|testing)", info.name):
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    module = importlib.import_module(info.name)
            except Exception:  # a part of torch that this machine cannot import
                continue
            for short, value in public_members(module):
                owner = owners.get(id(value))
                if owner is None or not getattr(value, "__module__", "").startswith(info.name):
                    continue
                namespace, _, known_as = owner.rpartition(".")
                if known_as == short:
                    found.setdefault(info.name, set()).add(namespace)
    found["torch.functional"] = {"torch"}
    found["torch._C._VariableFunctions"] = {"torch"}
    found["torch._C._nn"] = {"torch.nn.functional"}
    found["torch.autograd.variable"] = {"torch.autograd"}
    return {name: sorted(owners) for name, owners in sorted(found.items())}


def curated_facts(entries: list[curated.Entry], prefix: str = "") -> dict[str, Fact]:
    """Return hand-written entries as facts by name; a later entry wins."""
    return {
        prefix + name: Fact(kind, **fields)
        for kind, names, fields in entries
        for name in names.split()
    }


def check_names(names: list[str]) -> None:
    """Refuse hand-written names that the installed torch does not have."""
    missing = []
    for name in names:
        try:
            resolve(name)
        except AttributeError:
            missing.append(name)
    if missing:
        raise SystemExit(f"curated.py names what torch {torch.__version__} lacks: {missing}")


def generate() -> TorchData:
    """Return all facts about the installed torch; raises `SystemExit` where it cannot be read."""
    if torch.accelerator.is_available():
        raise SystemExit("generate needs a machine without an accelerator: see its docstring")
    operators = read_operators()
    check_names(list(curated_facts(curated.FUNCTIONS)))
    functions = read_functions(operators)
    methods = read_methods(operators) | curated_facts(curated.TENSOR_METHODS)
    modules = curated_facts(curated.MODULE_METHODS)
    check_names([f"torch.Tensor.{n}" for n in methods] + [f"torch.nn.Module.{n}" for n in modules])
    facts = curated_facts(curated.REMOVED) | functions
    facts.update({f"torch.Tensor.{n}": f for n, f in methods.items()})
    facts.update({f"torch.nn.Module.{n}": f for n, f in modules.items()})
    return TorchData(
        version=torch.__version__,
        facts=facts,
        aliases=read_aliases(functions),
        attributes=read_attributes(),
    )


def render(packed: dict[str, Any]) -> str:
    """Return packed data as JSON with one fact, alias or attribute word to a line."""
    parts = []
    for key, value in sorted(packed.items()):
        if isinstance(value, list):
            rows = [json.dumps(row, sort_keys=True) for row in value]
            text = "[\n" + ",\n".join(rows) + "\n]"
        else:
            text = json.dumps(value, indent=0, sort_keys=True)
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: list[str] | None = None) -> int:
    """Write `torch.json`, or with --check compare it."""
    parser = argparse.ArgumentParser(description="Read the facts about torch off torch.")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if it differs")
    check = parser.parse_args(arguments).check
    text = render(pack(generate()))
    if check:
        same = TORCH_DATA.read_text(encoding="utf-8") == text
        print("unchanged" if same else f"{TORCH_DATA} would change")
        return 0 if same else 1
    TORCH_DATA.write_text(text, encoding="utf-8")
    print(f"{TORCH_DATA}: torch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
