"""The facts against torch itself: what they say is run.

Where places must agree, it is run on the virtual accelerator, in a process of its own: every
operand but one is moved there, and torch's refusal is compared with the fact.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from samedevice.torchfacts import Fact, lookup, tensor_method

pytestmark = pytest.mark.torch

# A call by its arguments, written with the names below; every name is a tensor on the host.
TENSORS = {
    "v": "torch.rand(4)",
    "m": "torch.rand(4, 4) + torch.eye(4)",
    "w": "torch.rand(4, 4)",
    "i": "torch.tensor([0, 2, 1, 3])",
    "ii": "torch.tensor([[0, 2, 1, 3]])",
    "b": "torch.tensor([True, False, True, True])",
    "img": "torch.rand(1, 2, 6, 6)",
    "k": "torch.rand(3, 2, 3, 3)",
    "grid": "torch.rand(1, 6, 6, 2)",
    "seq": "torch.rand(3, 2, 4)",
    "lengths": "torch.tensor([3, 2])",
}
FUNCTIONS = {
    "torch.add": "v v",
    "torch.mul": "m v",
    "torch.eq": "v v",
    "torch.where": "b v v",
    "torch.maximum": "v v",
    "torch.clamp": "v v v",
    "torch.lerp": "v v v",
    "torch.addcmul": "v v v",
    "torch.matmul": "m m",
    "torch.mm": "m m",
    "torch.addmm": "m m m",
    "torch.dot": "v v",
    "torch.outer": "v v",
    "torch.cdist": "m m",
    "torch.gather": "m 1 ii",
    "torch.index_select": "m 0 i",
    "torch.masked_select": "v b",
    "torch.scatter": "m 0 ii ii*1.0",
    "torch.bucketize": "v v",
    "torch.isin": "i i",
    "torch.searchsorted": "v v",
    "torch.linalg.solve": "m m",
    "torch.slice_scatter": "m m",
    "torch.select_scatter": "m v 0 1",
    "torch.nn.functional.linear": "m w v",
    "torch.nn.functional.embedding": "i m",
    "torch.nn.functional.conv2d": "img k",
    "torch.nn.functional.mse_loss": "v v",
    "torch.nn.functional.cross_entropy": "m i v",
    "torch.nn.functional.nll_loss": "m i",
    "torch.nn.functional.binary_cross_entropy_with_logits": "v v v",
    "torch.nn.functional.kl_div": "v v",
    "torch.nn.functional.layer_norm": "m (4,) v v",
    "torch.nn.functional.grid_sample": "img grid",
    "torch.nn.functional.scaled_dot_product_attention": "m m m",
    "torch.nn.functional.cosine_similarity": "m m",
    "torch.nn.utils.rnn.pack_padded_sequence": "seq lengths",
    "torch.index_put": "v (i,) v",
    "torch.bincount": "i v",
    "torch.cross": "m[:,:3] m[:,:3]",
    "torch.polar": "v v",
    "torch.complex": "v v",
}
METHODS = {
    "add": "v v",
    "add_": "v v",
    "masked_fill": "v b 0.0",
    "copy_": "v v",
    "index_add": "v 0 i v",
    "scatter_": "m 0 ii ii*1.0",
    "type_as": "v v",
    "view_as": "v v",
    "expand_as": "v m",
    "__getitem__": "v i",
    "matmul": "m v",
    "new_tensor": "v [1.0]",
    "new_zeros": "v 3",
}

SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import torch
torch.set_num_threads(1)
from samedevice.prove.virtual import install
try:
    install("cuda")
except RuntimeError as error:
    print(json.dumps({"refused": str(error)})); sys.exit()
tensors, functions, methods = json.loads(sys.stdin.read())
names = {name: eval(code) for name, code in tensors.items()}

def moved(value):
    if isinstance(value, tuple):
        return tuple(moved(v) for v in value)
    return value.to("cuda") if isinstance(value, torch.Tensor) else value

def places(function, arguments, host):
    given = [a if p == host else moved(a) for p, a in enumerate(arguments)]
    try:
        result = function(*given)
    except (RuntimeError, TypeError) as error:
        return "raises: " + str(error)
    while isinstance(result, tuple):
        result = result[0]
    return result.device.type

answers = {}
for kind, calls in (("function", functions), ("method", methods)):
    for name, code in calls.items():
        if kind == "function":
            function = torch
            for part in name.split(".")[1:]:
                function = getattr(function, part)
        else:
            function = getattr(torch.Tensor, name)
        def arguments():
            return [eval(word, {"torch": torch}, {k: v.clone() for k, v in names.items()})
                    for word in code.split(" ")]
        def holds(value):
            return isinstance(value[0] if isinstance(value, tuple) else value, torch.Tensor)
        slots = [p for p, value in enumerate(arguments()) if holds(value)]
        answers[f"{kind} {name}"] = [places(function, arguments(), None)] + [
            [p, places(function, arguments(), p)] for p in slots]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, list[object]]:
    pytest.importorskip("torch")
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        input=json.dumps([TENSORS, FUNCTIONS, METHODS]),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    if "refused" in found:
        pytest.skip(found["refused"])
    assert isinstance(found, dict)
    return found


def is_clash(answer: object) -> bool:
    """Return whether torch refused the places; a convolution speaks of "torch.cuda.FloatTensor"."""
    text = str(answer)
    return text.startswith("raises") and ("device" in text or "torch.cuda.FloatTensor" in text)


def compare(fact: Fact, method: bool, answer: list[object]) -> None:
    everywhere, *alone = answer
    if fact.host:  # the lengths of a packed sequence: refused where all the others are
        assert str(everywhere).startswith("raises")
        return
    assert everywhere == "cuda"
    for slot in alone:
        assert isinstance(slot, list)
        position, result = slot
        is_self = method and position == 0
        if position == 0 and fact.free:
            continue  # the other way round is another question: cpu[cuda_index] raises
        name = "self" if is_self else fact.parameter(position - method)
        assert name is not None
        must = bool(fact.tensors) if is_self else fact.must_agree(name)
        assert is_clash(result) == (must and len(alone) > 1), (name, result)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operands_of_functions(name: str, answers: dict[str, list[object]]) -> None:
    fact = lookup(name)
    assert fact is not None
    compare(fact, False, answers[f"function {name}"])


@pytest.mark.parametrize("name", METHODS)
def test_operands_of_methods(name: str, answers: dict[str, list[object]]) -> None:
    fact = tensor_method(name)
    assert fact is not None
    compare(fact, True, answers[f"method {name}"])
