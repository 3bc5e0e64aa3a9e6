"""Datasets and loaders: what they hold stays on the host, and batches look like their items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import calls, classes, conditions, contents, iteration
from samedevice.inference.events import GeneratorMade, Shuffled, TensorMoved
from samedevice.inference.models import Call, kind
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Func, Instance, Scope, Union
from samedevice.inference.values import (
    ARRAY,
    DEEP,
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
)
from samedevice.torchfacts import Fact

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@kind("dataset")
def dataset(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A dataset: what it holds stays on the host, unless it was put on the device."""
    made = Instance("dataset", name, fact=fact)
    last = name.rpartition(".")[2]
    if last in ("random_split", "Subset", "ConcatDataset"):
        inner = call.args[0][0] if call.args else UNKNOWN
        if isinstance(inner, Seq):
            inner = run.iterate(inner, call.spot, call.scope)
        if last == "random_split":
            if "generator" not in call.kwargs and len(call.args) < 3:
                _draws_an_order(run, name, call)
            return Seq("list", None, inner)
        return inner
    if last == "TensorDataset":
        members = [v for v, _ in call.args]
        for value, where in call.args:
            for tensor, _ in contents.tensors_in(value, where):
                keep_on_host(tensor, call.spot)
        made.attrs["item"] = Seq("tuple", list(members))
        made.attrs["tensors"] = Seq("tuple", list(members))
    elif fact.out == iteration.RECORDS:
        made.attrs["item"] = packed_unknown(run, call.spot)
    elif name.startswith("torchvision."):
        image = Tensor(run.graph.node(call.spot))
        made.attrs["item"] = Seq("tuple", [image, SCALAR])
    return made


def keep_on_host(tensor: Tensor, spot: Location) -> None:
    """A dataset's content is read by workers: it stays on the host."""
    root = tensor.node.find()
    if root.pin is None and root.host_required_at is None:
        root.host_required_at = spot


@kind("loader")
def loader(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """A loader: its batches have the structure of the dataset's items, stacked."""
    made = Instance("loader", name, fact=fact)
    given = call.kwargs.get("dataset") or (call.args[0] if call.args else None)
    if given is None:
        return made
    dataset, where = given
    workers = call.kwargs.get("num_workers") or (call.args[5] if len(call.args) > 5 else None)
    state, run.workers = (
        run.workers,
        run.workers or (workers is not None and conditions.truth(workers[0]) is not False),
    )
    before = len(run.sites)
    item = _item(run, dataset, where, call)
    batch = _batch(run, item, where, call)
    run.workers = state
    mixed_items(run, item, call.spot, before)
    order = call.kwargs.get("generator")
    if order is not None and isinstance(order[0], Instance) and order[0].node is not None:
        # Loaders shuffle on the default device, which is the CPU if nobody says otherwise.
        if not run.default_device:
            order[0].node.find().host_required_at = call.spot
        if isinstance(order[0].site, GeneratorMade):
            order[0].site.loader = not run.default_device
    shuffle = call.kwargs.get("shuffle") or (call.args[2] if len(call.args) > 2 else None)
    if order is None and shuffle is not None and conditions.truth(shuffle[0]) is True:
        _draws_an_order(run, name, call)
    made.attrs["batch"] = batch
    made.attrs["dataset"] = dataset
    made.kwargs = {k: v for k, (v, _) in call.kwargs.items()}
    pinned = call.kwargs.get("pin_memory")
    if pinned is not None and conditions.truth(pinned[0]) is not False:
        for tensor, _ in contents.tensors_in(batch, call.spot):
            tensor.pinned = True
    return made


def _draws_an_order(run: Interpreter, name: str, call: Call) -> None:
    """Note what draws random numbers, by a generator of the CPU, where new tensors are not."""
    if run.default_device and not run.inside:
        run.snapshot(run.record(Shuffled(call.spot, None, call.scope, name)), call.scope)


def _item(run: Interpreter, dataset: Value, where: Location, call: Call) -> Value:
    """Return what a loader gets from its dataset, one by one."""
    if isinstance(dataset, Union):
        return iteration.any_of(run, (_item(run, each, where, call) for each in dataset.options))
    if isinstance(dataset, Instance) and dataset.family == "dataset":
        return raw_item(run, dataset, where, call.scope)
    if isinstance(dataset, Seq):
        for tensor, _ in contents.tensors_in(dataset, where):
            keep_on_host(tensor, call.spot)
        return run.iterate(dataset, where, call.scope)
    if isinstance(dataset, Tensor):
        if isinstance(dataset.site, TensorMoved):
            return dataset  # its rows are where the code has put it, whatever it is
        if not dataset.node.find().is_tensor or dataset.opaque:
            return packed_unknown(run, call.spot)
        keep_on_host(dataset, call.spot)
        return dataset
    if isinstance(dataset, Instance) and dataset.cls is not None:
        return calls.method(run, dataset, "__getitem__", call.scope, call.spot.node, SCALAR)
    return UNKNOWN


def _batch(run: Interpreter, item: Value, where: Location, call: Call) -> Value:
    """Return what a loader makes of several items."""
    collate = call.kwargs.get("collate_fn")
    if collate is None and len(call.args) > 6:
        collate = call.args[6]
    if collate is None or collate[0] is NONE:
        return collated(run, item, call.spot)
    function = collate[0]
    if isinstance(function, External) and function.name.endswith(".default_collate"):
        return collated(run, item, call.spot)
    run.in_worker += 1
    items: list[Arg] = [(Seq("list", None, item), where)]
    batch = calls.apply(run, function, items, {}, call.spot, call.scope)
    run.in_worker -= 1
    ours = isinstance(function, Func) or isinstance(function, Instance) and function.cls is not None
    return batch if ours or batch is not UNKNOWN else packed_unknown(run, call.spot)


@kind("collate")
def collator(run: Interpreter, name: str, fact: Fact, call: Call) -> Value:
    """Construct what makes a batch of rows; it gives tensors on the host."""
    return Instance("collator", name, fact=fact)


def mixed_items(run: Interpreter, item: Value, spot: Location, before: int) -> None:
    """Note the moves of a dataset that moves only some of its items."""
    for tensor, _ in contents.tensors_in(item, spot):
        pins = {source.find().pin for source in tensor.node.find().flows_from}
        if Place.CENTRAL in pins and len(pins) > 1:
            for site in run.sites[before:]:
                if isinstance(site, TensorMoved):
                    site.some = True


def raw_item(run: Interpreter, dataset: Instance, where: Location, scope: Scope) -> Value:
    """Return an item as the dataset makes it."""
    if dataset.cls is None or dataset.cls.lookup("__getitem__") is None:
        if "item" in dataset.attrs:
            return dataset.attrs["item"]
        if dataset.cls is None or dataset.cls.lookup("__iter__") is None:
            return packed_unknown(run, where)
    run.in_worker += 1
    if dataset.cls.lookup("__getitem__") is not None:
        item = calls.method(run, dataset, "__getitem__", scope, where.node, SCALAR)
    else:
        found = calls.method(run, dataset, "__iter__", scope, where.node)
        item = found.element if isinstance(found, Iter) else UNKNOWN
    run.in_worker -= 1
    for tensor, _ in contents.tensors_in(item, where):
        keep_on_host(tensor, where)
    return item


def packed_unknown(run: Interpreter, spot: Location) -> Tensor:
    """Return tensors in a structure that is not known."""
    made = Tensor(run.graph.node(spot))
    made.node.is_tensor = False
    made.opaque = True
    return made


def collated(run: Interpreter, item: Value, spot: Location, depth: int = DEEP) -> Value:
    """Return what torch's default collation makes of an item: arrays and numbers stacked.

    What is deeper in it than `depth` is not followed: it may hold itself.
    """
    if not depth:
        return UNKNOWN
    if isinstance(item, (Seq, Dict)):
        element = item.element and collated(run, item.element, spot, depth - 1)
        made: Seq | Dict
        if isinstance(item, Dict):
            members = {k: collated(run, v, spot, depth - 1) for k, v in item.items.items()}
            made = Dict(members, element)
        elif item.items is None:
            made = Seq("list", None, element)
        else:
            made = Seq("list", [collated(run, v, spot, depth - 1) for v in item.items])
        made.perhaps = item.perhaps
        return made
    if isinstance(item, Instance) and classes.members(item) is not None:
        row = Instance(item.family, item.name, item.cls)
        for name, member in item.attrs.items():
            row.attrs[name] = collated(run, member, spot, depth - 1)
        return row
    if item is SCALAR or item is ARRAY:
        stacked = Tensor(run.graph.node(spot))
        stacked.collated = item is SCALAR
        return stacked
    if isinstance(item, Const):
        if isinstance(item.value, str):
            return Seq("list", None, SCALAR)
        return Tensor(run.graph.node(spot))
    if isinstance(item, Tensor):
        return Tensor(item.node) if not item.opaque else item
    return packed_unknown(run, spot)
