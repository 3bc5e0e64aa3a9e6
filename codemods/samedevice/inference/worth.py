"""What is worth a device in a program for the CPU: learning, and what has been learned.

A program that only makes data, or draws it, is none that anybody would move: what it saves is read
elsewhere.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samedevice.inference.events import Built, Optimizes
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance
from samedevice.inference.values import FunctionNode, Tensor
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: Modules of libraries that have buffers and nothing that is learned: they prepare data.
_PREPARING = ("torchaudio.transforms.", "torchvision.transforms.", "kornia.augmentation.")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
#: Where a cell begins in a script that was a notebook.
_CELLS = re.compile(r"^# (?:%%|In\[)", re.MULTILINE)
#: What says how large something is, and what such a method calls besides.
_SIZES = frozenset(("element_size", "nelement", "numel"))
_COUNTING = _SIZES | frozenset(
    (
        "abs", "any", "all", "children", "buffers", "dict", "dim", "float", "format", "getattr",
        "hasattr", "int", "isinstance", "items", "len", "list", "max", "min", "modules",
        "named_buffers", "named_children", "named_modules", "named_parameters", "parameters",
        "print", "prod", "round",
        "size", "startswith", "endswith", "str", "sum", "tuple", "type", "values",
    )
)  # fmt: skip


def worthwhile(solution: Solution) -> frozenset[str]:
    """Return the files whose own code learns, runs what has parameters, or multiplies matrices
    again and again."""
    run = solution.interpreter
    found = {path for path in run.learning}
    found.update(group.spot.path for group in solution.all_groups(Optimizes))
    for _, spot, _, _ in run.seeds:
        if spot.path not in found and _repeated(solution, spot):
            found.add(spot.path)
    for group in solution.all_groups(Built):
        used = [site.module for site in group.sites if site.module.used]
        if _is_lesson(solution, group.spot.path) and all(map(is_layer, used)):
            continue  # a layer of a library that has learned nothing, and is looked at
        if any(map(has_learned, used)):
            found.add(group.spot.path)
    return frozenset(found)


def _is_lesson(solution: Solution, path: str) -> bool:
    """Tell whether a file is a notebook, or has been one."""
    source = solution.project.sources[path]
    return source.is_notebook or len(_CELLS.findall(source.text)) > 2


def is_layer(module: Instance) -> bool:
    """Tell whether a module is one of torch's layers."""
    return module.cls is None and module.name.startswith("torch.nn.") and not module.held()


def has_learned(module: Instance) -> bool:
    """Tell whether a module has parameters, or may have: more than buffers."""
    return any(map(_has_own, _parts(module)))


def _parts(module: Instance) -> list[Instance]:
    """Return a module and all of its parts."""
    found = [module]
    for each in found:
        found += [part for part in each.parts if part not in found]
    return found


def _has_own(module: Instance) -> bool:
    if not module.stateful or module.name.startswith(_PREPARING):
        return False
    if module.name == "torch.nn.PReLU":
        return False  # one number, which goes along with a model that has more
    if any(isinstance(held, Tensor) and held.owner is not None for held in module.attrs.values()):
        return True
    # Without buffers or parts that explain it, what its state is is not known.
    return not (module.buffers or any(part.stateful for part in module.parts))


def _repeated(solution: Solution, spot: Location) -> bool:
    """Tell whether code is in a loop, or in a function that a loop of its file calls."""
    tree = solution.project.tree(spot.path)
    line = getattr(spot.node, "lineno", 0)
    loops = [
        node for node in (syntax.walk(tree) if tree is not None else ()) if isinstance(node, _LOOPS)
    ]
    if any(loop.lineno <= line <= (loop.end_lineno or 0) for loop in loops):
        return True
    name = getattr(solution.programs.function_of(spot), "name", "")
    return bool(name) and any(
        isinstance(call, ast.Call) and syntax.dotted(call.func).rpartition(".")[2] == name
        for loop in loops
        for call in ast.walk(loop)
    )


@syntax.per_node
def only_counts(function: FunctionNode) -> bool:
    """Tell whether a method only counts what a module has: nothing is computed with it.

    A model that is made to be counted needs no device.
    """
    called = [node.func for node in syntax.walk(function) if isinstance(node, ast.Call)]
    names = {syntax.dotted(each).rpartition(".")[2] or _last(each) for each in called}
    of_tensors = {"abs", "max", "min", "prod", "round", "sum"}
    computed = any(isinstance(each, ast.Attribute) and each.attr in of_tensors for each in called)
    return bool(names & _SIZES) and names <= _COUNTING and not computed


def _last(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else ""
