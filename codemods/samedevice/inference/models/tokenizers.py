"""Tokenizers and processors: what makes a model's inputs of texts, images and sounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference.models import Call, images, kind, methods
from samedevice.inference.objects import Instance
from samedevice.inference.values import SCALAR, UNKNOWN, Const, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Methods that give text, wherever the tokens are.
_TO_TEXT = frozenset(["decode", "batch_decode", "post_process_image_text_to_text"])
#: Methods that give tokens or features, as tensors if they are asked to.
_TO_TENSORS = frozenset(
    [
        "__call__", "apply_chat_template", "batch_encode_plus", "encode", "encode_plus", "pad",
        "prepare_seq2seq_batch", "preprocess",
    ]
)  # fmt: skip


@kind("tokenizer")
def construct(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Construct or load a tokenizer or a processor."""
    return Instance("tokenizer", name, fact=fact)


@methods("tokenizer")
def method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """A tokenizer gives lists, or what holds tensors on the host and has a `.to(device)`.

    Source: transformers 4.57, `tokenization_utils_base.py` and `feature_extraction_utils.py`.
    """
    if name in _TO_TEXT:
        return SCALAR
    if name == "to":
        return owner
    asked = call.kwargs.get("return_tensors")
    if name not in _TO_TENSORS or asked is None:
        return UNKNOWN
    if isinstance(asked[0], Const) and asked[0].value != "pt":
        return UNKNOWN
    return images.host_tensor(run, call.spot, call.scope, owner.name)
