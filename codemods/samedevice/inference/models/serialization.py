"""torch.load and torch.save."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import contents, devices, moving
from samedevice.inference.events import Loaded
from samedevice.inference.models import Call, kind, operations
from samedevice.inference.nodes import Cause, Place, PlaceVar
from samedevice.inference.objects import Instance
from samedevice.inference.values import NONE, UNKNOWN, Tensor, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@kind("save")
def save(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`torch.save`: a model that is written as a whole can be told where it is read again."""
    for made in _written_whole(call.args[0][0]) if call.args else ():
        if made.cls is not None:
            run.pickled.update(made.cls.mro())
    if len(call.args) > 1:
        file = ast.unparse(call.args[1][1].node)
        known = run.saved.setdefault(file, call.args[0][0])
        if not isinstance(known, (Instance, Tensor)) or known is not call.args[0][0]:
            run.saved[file] = UNKNOWN
    return operations.query(run, name, fact, call)


def _written_whole(value: Value) -> list[Instance]:
    """Return the objects that are written with a value: modules with their parts, and others."""
    queue = contents.modules_in(value)
    queue += [value] if isinstance(value, Instance) and value not in queue else []
    found: list[Instance] = []
    while queue:
        made = queue.pop()
        if made not in found:
            found.append(made)
            queue += made.parts
    return found


@kind("load")
def load(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """`torch.load` and downloads: what is in the file is not known."""
    says = "map_location" if "map_location" in fact.params else "device"
    given = call.kwargs.get(says)
    if given is None and says in fact.params:
        index = fact.params.index(says)
        given = call.args[index] if len(call.args) > index else None
    node = run.graph.node(call.spot)
    node.is_tensor = False
    site = run.record(Loaded(call.spot, node, call.scope, name, mapped=given, fact=fact))
    run.snapshot(site, call.scope)
    device = None
    if given is not None and given[0] is not NONE:
        device = devices.as_device(run, *given, call.scope, sure=False)
    if given is None or device is not None and device.node.find().pin is Place.CENTRAL:
        model = run.saved.get(ast.unparse(call.args[0][1].node)) if call.args else None
        site.saved = model
        if isinstance(model, Instance) and model.family == "module" and model.node is not None:
            site.into_module = True
            if device is None:
                run.graph.same(node, model.node)  # it was saved where the model is
                return copied(model)
            node.is_tensor = True
            run.graph.pin(node, Place.CENTRAL, call.spot)
            return copied(model, node)
    if given is not None and given[0] is not NONE:
        if device is not None:
            found = Tensor(run.graph.node(call.spot), site=site)
            if device.node.find().pin is Place.HOST:
                run.graph.pin(found.node, Place.HOST, call.spot, cause=Cause.FILE)
            run.graph.batch(device.node, found.node)
            found.node.is_tensor = False
            found.opaque = True
            return found
    elif fact.out == "host" and says == "device":
        run.graph.pin(node, Place.HOST, call.spot, cause=Cause.FILE)
    made = Tensor(node, site=site)
    made.opaque = True
    return made


def copied(model: Instance, node: PlaceVar | None = None) -> Instance:
    """Return a model that was read from a file: it is at `node`, or where the saved one is."""
    assert model.node is not None
    made = moving.twin(model, node or model.node)
    made.used, made.moves = model.used, list(model.moves)
    model.copies.append(made)
    return made
