"""Frameworks that move what they are handed themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import contents, moving
from samedevice.inference.models import Call, kind, model
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Instance
from samedevice.inference.open_events import Taken
from samedevice.inference.values import UNKNOWN, Iter, Seq, Tensor, Value
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


def prepared(run: Interpreter, call: Call) -> Value:
    """What a framework gives back of modules and loaders: they are where it computes, from then on.

    `model, loader = accelerator.prepare(model, loader)`
    """
    made = [_prepared(run, value, call) for value, _ in call.args]
    return made[0] if len(made) == 1 else Seq("tuple", made)


def _prepared(run: Interpreter, value: Value, call: Call) -> Value:
    node = run.graph.node(call.spot)
    run.graph.pin(node, Place.FOLLOWS, call.spot)
    match value:
        case Instance(family="module"):
            value.moves.append(call.spot)
            moving.rebase(run, value, node)
            run.record(Taken(call.spot, node, call.scope, "prepare"))
            return value
        case Instance(family="loader"):
            batch = Tensor(node)
            batch.opaque = True
            return Iter(batch)
    return UNKNOWN


def handed_back(run: Interpreter, call: Call) -> Value:
    """What a framework is given, where it is: `accelerator.unwrap_model(model)`."""
    return call.args[0][0]


#: What methods of a framework give.
GIVES = {
    "gather": handed_back,
    "gather_for_metrics": handed_back,
    "prepare": prepared,
    "unwrap_model": handed_back,
}
