"""What arrives at an expression over all of its evaluations: always a tensor, or something else."""

from __future__ import annotations

import ast
import gc
from collections.abc import Collection

from samedevice.places.interpret import Interpreter
from samedevice.places.values import (
    NONE,
    Array,
    Const,
    Device,
    Dict,
    Doubt,
    Either,
    Func,
    Obj,
    Scalar,
    Scope,
    Seq,
    Tensor,
    Value,
)
from samedevice.project import Project

#: What has no methods of a tensor, by what it is called in a message.
_OTHERS: dict[type[Value], str] = {
    Array: "an array",
    Scalar: "a number or a string",
    Const: "a constant",
    Device: "a device",
    Seq: "a sequence",
    Dict: "a mapping",
    Func: "a function",
}


class _Watcher(Interpreter):
    """An evaluation that notes what some expressions gave."""

    def __init__(
        self, project: Project, program: frozenset[str], watched: Collection[ast.AST]
    ) -> None:
        super().__init__(project, program)
        self.arrived: dict[ast.AST, list[tuple[Value, bool]]] = {node: [] for node in watched}

    def eval(self, node: ast.expr, scope: Scope) -> Value:
        value = super().eval(node, scope)
        arrived = self.arrived.get(node)
        if arrived is not None:
            arrived.append((value, self.symbolic > 0))
        return value


def doubts(
    project: Project, program: frozenset[str], expressions: Collection[ast.AST]
) -> dict[ast.AST, str]:
    """Return which of some expressions of a program may be no tensor or module, and what else.

    A value of which nothing is known is no doubt as such; one that is known to be something else
    is, and so is an entry of a loaded file, until something is done to it that only tensors have.
    What nobody calls is judged by what stands in it.
    """
    enabled = gc.isenabled()
    gc.disable()  # all that is made here lives until the answer does
    try:
        watcher = _Watcher(project, program, expressions)
        watcher.run()
        found = {}
        for node, arrived in watcher.arrived.items():
            called = [value for value, symbolic in arrived if not symbolic]
            others = {_other(value) for value in called or [value for value, _ in arrived]} - {""}
            if others:
                found[node] = min(others)
        watcher.arrived.clear()
        watcher.release()
        return found
    finally:
        if enabled:
            gc.enable()


def _other(value: Value) -> str:
    """Return what a value is if that is no tensor and no module, else ""."""
    if isinstance(value, Either):
        return next(filter(None, map(_other, value.options)), "")
    if isinstance(value, Tensor):
        if value.doubt is Doubt.OTHER:
            return "no tensor on another path"
        site = value.site
        loaded = value.packed and site is not None and site.kind == "load"
        return "an entry of a loaded file" if loaded and not value.node.find().sure else ""
    if value is NONE:
        return ""  # what is None has no place that could be asked for
    if isinstance(value, Obj):
        return ""
    return _OTHERS.get(type(value), "")
