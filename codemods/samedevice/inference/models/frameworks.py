"""Frameworks that move what they are handed themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.models import Call, kind, model
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Instance
from samedevice.inference.open_events import Taken
from samedevice.inference.values import UNKNOWN, Seq, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("apex.amp.initialize")
def for_mixed_precision(run: Interpreter, call: Call) -> Value:
    """The same model and optimizer, patched where they are."""
    given = [call.kwargs.get(name, (None, None))[0] for name in ("models", "optimizers")]
    given = [*(value for value, _ in call.args[:2]), *given[len(call.args[:2]) :]]
    handed = [value for value in given if value is not None]
    return Seq("tuple", handed) if len(handed) == 2 else handed[0] if handed else UNKNOWN


@kind("managed", "trainer")
def managed(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A framework that moves what it is handed itself."""
    for value, _ in (*call.args, *call.kwargs.values()):
        for part in contents.modules_in(value):
            part.moves.append(call.spot)
            part.used = False  # nobody but the framework computes with it
            if part.node is not None:
                run.graph.pin(part.node, Place.UNKNOWN, call.spot)
                if fact.kind == "trainer":
                    run.record(Taken(call.spot, part.node, call.scope, name.rpartition(".")[2]))
    return Instance("owned", name, fact=fact)
