"""A line asks for CUDA on every machine, and no rule has anything to say about it.

Why: what such a line does could not be followed: what it moves comes from elsewhere, a library
decides about devices, or nobody runs it. It stays as it is, and it is told, since on a machine
without CUDA the program ends there.

Example:

    batch = library.load(path)
    batch.cuda()

stays as it is.

Fix safety: there is no fix.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from samedevice import syntax
from samedevice.finding import Finding
from samedevice.places import Solution
from samedevice.places.events import CudaOnly, Literal, Loaded, Move
from samedevice.places.forced import WORDS, Forced, by_default, default_gpus, forced
from samedevice.places.graph import Location
from samedevice.rules._build import finding, short

RULE = "cuda-not-judged"
#: Where some of these rules are switched off, what they would say is not said in their place.
AFTER = frozenset(
    (
        "amp-tied-to-cuda", "cuda-branch", "cuda-only-api", "dataset-touches-device",
        "hard-coded-device", "load-without-map-location", "processes-tied-to-cuda", "tensor-type",
        "legacy-constructor",
    )
)  # fmt: skip
_ASKS = {
    "move": "moves to CUDA",
    "name": "names CUDA",
    "call": "calls what only CUDA has",
    "type": "makes tensors of CUDA",
    "backend": "needs NCCL, which is for CUDA",
    "load": "loads to where the file was saved",
    "option": "names CUDA",
}
_WHY = {
    "move": "what is moved could not be followed",
    "name": "what is given this device could not be followed",
    "call": "where this runs could not be followed",
    "type": "what is made of this type could not be followed",
    "backend": "no code here says how the processes would talk without CUDA",
    "load": "what the file holds, and where that goes, could not be followed",
    "option": "the default of an option asks for it, and no code here reads whether there is a GPU",
}


def find(solution: Solution) -> Iterator[Finding]:
    """Report nothing: what is left is known when all others have spoken (`rest`)."""
    yield from ()


def rest(solution: Solution, found: Sequence[Finding]) -> Iterator[Finding]:
    """Report what asks for CUDA and is in no line that a finding speaks of."""
    said: dict[str, set[int]] = {}
    spread = solution.policy.model_parallel()
    for each in found:
        spans = [(each.path, each.span)]
        spans += [(change.path, change.span) for change in (each.fix.edits if each.fix else ())]
        for path, span in spans:
            said.setdefault(path, set()).update(range(span.line, span.end_line + 1))
    for path in solution.programs.files():
        if not solution.judges(path):
            continue
        tree = solution.project.tree(path)
        if solution.programs.of(path) in spread or tree is None:
            continue  # `hard-coded-device` tells of the whole program
        if not WORDS.search(solution.project.sources[path].text):
            continue
        told = said.setdefault(path, set())
        parents = solution.programs.parents(path)
        options = _options(solution, path)
        for asked in (*forced(tree, parents), *by_default(tree, parents, options)):
            spot = Location(path, asked.node)
            span = solution.span(spot)
            lines = range(span.line, span.end_line + 1)
            if told.isdisjoint(lines) and _asks(solution, path, asked):
                told.update(lines)
                yield _left(solution, spot, asked.kind)


def _options(solution: Solution, path: str) -> set[str]:
    """Return the options of a program that ask for a GPU by default, if a file may read one."""
    sources = solution.project.sources
    if "cuda:" not in sources[path].text:
        return set()
    return {
        name
        for other in solution.programs.of(path)
        if "add_argument" in sources[other].text
        for name in default_gpus(solution.programs.tree(other))
    }


def _asks(solution: Solution, path: str, asked: Forced) -> bool:
    """Tell whether nothing that was followed says that a place is not come to without CUDA."""
    known = [
        site
        for event in (Move, Literal, CudaOnly, Loaded)
        for group in solution.groups_at(event, asked.node)
        for site in group.sites
    ]
    if asked.kind == "option":
        return True
    if asked.kind == "load":
        return _loads_weights(solution, Location(path, asked.node))
    if asked.kind == "move" and not known and _has_its_own(solution, path):
        return False
    return not known or not all(site.under_device_test for site in known)


def _loads_weights(solution: Solution, spot: Location) -> bool:
    """Tell whether what is loaded is for a module, in a program that uses a device.

    What data sets keep in files was made on the CPU.
    """
    if not solution.policy.has_device(spot.path):
        return False
    home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
    return any(
        isinstance(node, ast.Attribute) and node.attr == "load_state_dict"
        for node in syntax.walk(home)
    )


def _has_its_own(solution: Solution, path: str) -> bool:
    """Tell whether a class of the program has a method `cuda()`, in which the moves are."""
    return any(
        isinstance(node, ast.FunctionDef) and node.name == "cuda"
        for other in solution.programs.of(path)
        if "def cuda(" in solution.project.sources[other].text
        for node in syntax.walk(solution.programs.tree(other))
    )


def _left(solution: Solution, spot: Location, kind: str) -> Finding:
    why = _WHY[kind]
    owner = solution.programs.owner(spot.path)
    if owner is not None:
        why = f"{owner[0]} decides about the devices of this file"
    elif solution.policy.managed(spot.path):
        why = "the program chooses on purpose which of its devices what is on"
    noted = finding(
        solution, RULE, spot, f"`{short(solution.code(spot))}` {_ASKS[kind]}", None,
        unfixed=f"left as it is: {why}",
    )  # fmt: skip
    return replace(noted, level="note")
