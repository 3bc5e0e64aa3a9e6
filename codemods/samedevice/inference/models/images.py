"""Image transforms, and what is read from files of images and sounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from samedevice.inference.events import Shared
from samedevice.inference.models import Call, kind
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import SCALAR, UNKNOWN, Arg, Seq, Tensor, Value
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_SHARED = Fact("share")


def transformed(
    run: Interpreter, fact: Fact, args: list[Arg], spot: Location, scope: Scope
) -> Value:
    """An image transform: a tensor stays where it is, an image becomes a host tensor."""
    given = args[0][0] if args else UNKNOWN
    if fact.free:
        return Instance("hostobject", "PIL.Image.Image")  # `ToPILImage` reads tensors anywhere
    if isinstance(given, Tensor) and (fact.out != "host" or given.node.find().is_tensor):
        return Tensor(given.node)
    if fact.out == "follows0":
        if given is UNKNOWN or isinstance(given, Instance) and given.family == "hostobject":
            return given
    return host_tensor(run, spot, scope, "transform")


def host_tensor(run: Interpreter, spot: Location, scope: Scope, name: str) -> Tensor:
    """Return a tensor that a call makes on the host, where it can be moved from."""
    node = run.graph.node(spot)
    site = run.record(Shared(spot, node, scope, name, fact=_SHARED, args=[], kwargs={}))
    run.snapshot(site, scope)
    return Tensor(node, site=site)


@kind("read")
def read(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Read an image: a tensor on the host; or a sound: one, and its rate."""
    if fact.out == "host":
        return host_tensor(run, call.spot, call.scope, name)
    node = run.graph.node(call.spot)
    run.graph.pin(node, Place.HOST, call.spot)
    return Seq("tuple", [Tensor(node), SCALAR])


@kind("transform")
def construct(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Construct an image transform; a chain with a step that makes a tensor makes one."""
    steps = call.args[0][0] if call.args else UNKNOWN
    if name.endswith(".Compose") and isinstance(steps, Seq):
        facts = [step.fact for step in steps.items or () if isinstance(step, Instance)]
        if any(each and (each.kind, each.out) == (fact.kind, "host") for each in facts):
            fact = replace(fact, out="host")
    return Instance("transform", name, fact=fact)


@kind("functional_transform")
def apply(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Apply an image transform."""
    return transformed(run, fact, call.args, call.spot, call.scope)
