"""Frameworks that move what they are handed themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import contents
from samedevice.inference.models import Call, kind
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Instance
from samedevice.inference.open_events import Taken
from samedevice.inference.values import Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


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
