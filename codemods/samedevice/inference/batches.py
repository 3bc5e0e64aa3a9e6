"""Where batches, and what they are made of, first get a name: there they can be moved at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import movers
from samedevice.inference.events import Bound, Drawn
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import Dict, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def note_binding(
    run: Interpreter, name: str, value: Value, scope: Scope, statement: ast.stmt
) -> None:
    """Remember where a batch, or a member of it, first gets a name: it is moved there."""
    if not isinstance(statement, ast.stmt) or not hasattr(statement, "lineno"):
        return  # a comprehension's target: no statement can follow it
    if isinstance(value, Tensor):
        site = value.site
        if isinstance(site, Drawn) and site.bound is None:
            site.bound = Bound(name, Location(scope.path, statement), scope.node)
            run.snapshot(site, scope)
    elif isinstance(value, (Seq, Dict, Instance)):
        _note_structure(run, name, value, scope, statement)
        if isinstance(value, Instance):
            if value.family or value.cls is None:
                return
            if value.cls.lookup("to") is None:
                _note_object(run, name, value, scope, statement)
                return
            members = list(value.attrs.values())
        else:
            members = list(value.members())
        for member in members:
            site = member.site if isinstance(member, Tensor) else None
            if isinstance(site, Drawn) and site.held is None:
                site.held = Bound(name, Location(scope.path, statement), scope.node)
                site.container, site.named = value, site.bound is not None
                run.snapshot(site, scope)


def _note_structure(
    run: Interpreter, name: str, value: Value, scope: Scope, statement: ast.stmt
) -> None:
    """Remember where a batch that has structure first gets a name: all of it is moved there."""
    if not movers.layered(value):
        return
    for tensor in movers.tensors(value):
        site = tensor.site
        if isinstance(site, Drawn) and site.bound is None and site.held is None:
            if site.within is None:
                site.within = Bound(name, Location(scope.path, statement), scope.node)
                site.batch = value
                run.snapshot(site, scope)


def _note_object(
    run: Interpreter, name: str, value: Instance, scope: Scope, statement: ast.stmt
) -> None:
    """Remember where an object of a plain class that holds tensors of a batch first gets a name."""
    assert value.cls is not None
    if value.cls.lookup("__setattr__") is not None:
        return
    for attr, member in value.attrs.items():
        site = member.site if isinstance(member, Tensor) else None
        if isinstance(site, Drawn) and site.owner is None and value.cls.lookup(attr) is None:
            site.owner = Bound(name, Location(scope.path, statement), scope.node)
            site.attribute = attr
            run.snapshot(site, scope)
