"""scikit-learn: what of it gives tensors back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import libraries, subscripts
from samedevice.inference.models import Call, model
from samedevice.inference.values import ARRAY, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_SPLIT = "sklearn.model_selection.train_test_split"


@model(_SPLIT)
def train_test_split(run: Interpreter, call: Call) -> Value:
    """Index what is given, twice: the parts are where it was. What it stratifies by, it reads."""
    stratify = call.kwargs.get("stratify")
    if stratify is not None:
        libraries.demand_host(run, *stratify, call.scope, _SPLIT)
    node = call.spot.node
    if any(isinstance(arg, ast.Starred) for arg in getattr(node, "args", ())):
        return ARRAY
    parts: list[Value] = []
    for value, where in call.args:
        for _ in range(2):
            part = subscripts.subscript(run, value, ARRAY, where, call.scope)
            parts.append(part if isinstance(value, Tensor) else ARRAY)
    return Seq("list", parts)
