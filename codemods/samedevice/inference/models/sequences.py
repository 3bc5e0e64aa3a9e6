"""torch.nn.utils.rnn: sequences of several lengths, and the lengths, which stay on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.models import Call, model
from samedevice.inference.nodes import Place
from samedevice.inference.values import UNKNOWN, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("torch.nn.utils.rnn.pad_packed_sequence")
def padded(run: Interpreter, call: Call) -> Value:
    """The sequences where they were, and their lengths.

    Source: `pad_packed_sequence` makes the lengths of `batch_sizes`, which is always on the CPU.
    """
    given = call.args[0] if call.args else call.kwargs.get("sequence")
    tensors = contents.tensors_in(*given) if given is not None else []
    lengths = Tensor(run.graph.node(call.spot))
    run.graph.pin(lengths.node, Place.HOST, call.spot)
    sequences = Tensor(tensors[0][0].node) if tensors else UNKNOWN
    return Seq("tuple", [sequences, lengths])
