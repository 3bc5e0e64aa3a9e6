"""What an inference of some units says of the rest of their program, and of all of it.

An edit whose units say the same before and after it changes nothing in the code around: all that
other units are told by them is how they call it, and where what they hand over lives.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from samedevice.inference.events import Built, Creation, HostDemand, PlainTensor
from samedevice.inference.focus import Target
from samedevice.inference.interpret import Interpreter
from samedevice.inference.nodes import PlaceVar
from samedevice.inference.objects import Instance
from samedevice.inference.open_events import Handed, Undecided
from samedevice.inference.sites import Site
from samedevice.inference.solution import Solution
from samedevice.inference.values import Const, Device, Dict, Seq, Tensor, Value
from samedevice.inference.worth import has_learned

#: Where a line was before an edit; None for one that the edit touches.
Before = Callable[[str, int], "int | None"]
#: What can be compared.
Observed = tuple[object, ...]

#: What these are at says nothing of a program as a whole.
_LOCAL = (Creation, Handed, HostDemand, PlainTensor, Undecided)


def observed(solution: Solution, before: Before) -> Observed:
    """Return what the units of a partial solution say of code that an edit does not touch.

    These are the events there with their places, how often each function was evaluated and with
    what, and which files do something that decides about programs as a whole.
    """
    run = solution.interpreter
    happened = [
        (*where, *_happened(solution, site))
        for site in run.sites
        if (where := _where(site.spot.path, site.spot.node, before)) is not None
    ]
    evaluated: dict[object, object] = {}
    for node, times in run.contexts.items():
        path = run.scopes[node].path if node in run.scopes else ""
        where = _where(path, node, before)
        if where is not None:
            handed = [_place(given.node) for given in run.arguments.get(node, ())]
            evaluated[where] = times, handed
    clashing = [
        where
        for clash in run.graph.clashes
        if (where := _where(clash.spot.path, clash.spot.node, before)) is not None
    ]
    return happened, evaluated, clashing, _of_programs(solution, run), _held(run)


def joined(solution: Solution) -> dict[Target, frozenset[Target]]:
    """Return which units evaluate code of each definition: those known, and those of a part."""
    run = solution.interpreter
    known = dict(run.focus.rest.callers) if run.focus is not None else {}
    for target, units in run.callers().items():
        known[target] = known.get(target, frozenset()) | units
    return known


def _of_programs(solution: Solution, run: Interpreter) -> Observed:
    """Return what decides about programs as a whole, file by file."""
    sites = (site for site in run.sites if not isinstance(site, _LOCAL))
    spots = (run.offers, run.wandering, run.forks, [seed[1] for seed in run.seeds])
    return (
        {(type(site), site.spot.path, site.callers_unknown, *_device(site)) for site in sites},
        [{spot.path for spot in found} for found in spots],
        (run.default_device, run.class_devices, run.learning),
        {path: solution.programs.markers(path) for path in run.files},
        {path for path in run.files if solution.programs.owner(path) is not None},
    )


def _held(run: Interpreter) -> Observed:
    """Return what the names of files and of classes hold by now, which any code may read."""
    files = {path: _values(scope.names) for path, scope in run.files.items()}
    return files, [(klass.scope.path, _values(klass.names)) for klass in run.classes]


def _values(names: Mapping[str, Value]) -> Observed:
    return tuple(
        (name, _state(value))
        for name, value in names.items()
        if isinstance(value, (Tensor, Device, Instance, Seq, Dict))
    )


def _state(value: Value, depth: int = 3) -> object:
    """Return what of a value others may notice."""
    if isinstance(value, Tensor):
        return "tensor", _place(value.node)
    if isinstance(value, Device):
        return value.text, _place(value.node), value.node.find().name
    if isinstance(value, Const):
        return type(value.value), value.value
    if isinstance(value, Instance):
        attrs = value.attrs.items() if depth else ()
        states = [(name, _state(held, depth - 1)) for name, held in attrs]
        return value.family, value.name, _place(value.node), len(value.moves), states
    if isinstance(value, (Seq, Dict)) and depth:
        return type(value), [_state(held, depth - 1) for held in value.members()]
    return type(value)


def _where(path: str, node: ast.AST, before: Before) -> tuple[object, ...] | None:
    line = before(path, getattr(node, "lineno", 0))
    if line is None:
        return None
    columns = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
    return path, line, columns, type(node)


def _happened(solution: Solution, site: Site) -> Observed:
    return (
        type(site),
        _place(site.node),
        solution.clashing(site.node) if site.node is not None else False,
        site.name,
        (site.in_constructor, site.in_worker, site.callers_unknown, site.under_device_test),
        [(name, _place(node)) for name, node in site.tensors],
        [name for name, *_ in site.devices],
        site.unknown,
    )


def _device(site: Site) -> Observed:
    """Return which device something is put on, and which file says so.

    Of a module counts which of its kind builds it, not what it is called.
    """
    if isinstance(site, Built):
        made = site.module
        state = made.stateful, has_learned(made)
        return site.in_constructor, site.in_worker, made.used, state, bool(made.moves)
    device = getattr(site, "device", None)
    root = device.node.find() if isinstance(device, Device) else None
    if root is None:
        return (site.name,)
    return site.name, root.pin, root.name, root.pin_spot.path if root.pin_spot else ""


def _place(node: PlaceVar | None) -> object:
    return node.find().place if node is not None else None
