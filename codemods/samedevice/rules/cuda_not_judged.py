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
from functools import partial

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import CudaOnly, Literal, Loaded, Move
from samedevice.inference.forced import WORDS, Forced, by_default, forced
from samedevice.inference.nodes import Location
from samedevice.inference.set_by_default import Defaults, defaults_of
from samedevice.reading import syntax
from samedevice.rules._build import finding, short
from samedevice.rules._default import is_unused
from samedevice.rules._other_arm import is_other_arm
from samedevice.rules._taken_back import is_taken_back

RULE = "cuda-not-judged"
#: Where some of these rules are switched off, what they would say is not said in their place.
AFTER = frozenset(
    (
        "amp-tied-to-cuda", "cuda-branch", "cuda-only-api", "dataset-touches-device",
        "hard-coded-device", "load-without-map-location", "processes-tied-to-cuda", "tensor-type",
        "legacy-constructor",
    )
)  # fmt: skip
_VENDORS = ("mps", "xpu")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: What these edits are at, a whole function perhaps, stays as it is.
_BESIDE = ("after", "before", "head", "parameter")
_ASKS = {
    "move": "moves to CUDA",
    "name": "names CUDA",
    "call": "calls what only CUDA has",
    "type": "makes tensors of CUDA",
    "backend": "needs NCCL, which is for CUDA",
    "load": "loads to where the file was saved",
    "given": "names CUDA",
    "test": "fails without CUDA",
    "settings": "has settings that name CUDA",
}
_WHY = {
    "move": "what is moved could not be followed",
    "name": "what is given this device could not be followed",
    "call": "where this runs could not be followed",
    "type": "what is made of this type could not be followed",
    "backend": "no code here says how the processes would talk without CUDA",
    "load": "what the file holds, and where that goes, could not be followed",
    "given": "what is given this device could not be followed",
    "settings": "nothing in this program asks whether there is CUDA",
    "test": "what the test is to ask for where there is no GPU is not known",
}
_BY_DEFAULT = "the setting that turns it on does so by default, whether there is a GPU or not"


def find(solution: Solution) -> Iterator[Finding]:
    """Report nothing: what is left is known when all others have spoken (`rest`)."""
    yield from ()


def rest(solution: Solution, found: Sequence[Finding]) -> Iterator[Finding]:
    """Report what asks for CUDA and is in no line that a finding speaks of."""
    said: dict[str, set[int]] = {}
    spread = solution.policy.model_parallel()
    for each in found:
        spans = [(each.path, each.span.line, each.span.end_line)]
        for change in each.fix.edits if each.fix else ():
            last = change.span.line if change.verb in _BESIDE else change.span.end_line
            spans.append((change.path, change.span.line, last))
        for path, first, last in spans:
            said.setdefault(path, set()).update(range(first, last + 1))
    for path in solution.programs.files():
        if not solution.judges(path):
            continue
        tree = solution.project.tree(path)
        text = solution.project.sources[path].text
        if tree is None or not WORDS.search(text):
            continue
        split = _split(tree) if solution.programs.of(path) in spread else ()
        told = said.setdefault(path, set())
        parents = solution.programs.parents(path)
        program = solution.programs.of(path)
        defaults = partial(solution.view(_Defaults).of, program)
        for asked in (*forced(tree, text, parents), *by_default(tree, text, parents, defaults)):
            spot = Location(path, asked.node)
            span = solution.span(spot)
            lines = range(span.line, span.end_line + 1)
            if span.line in split or not told.isdisjoint(lines) or is_unused(solution, spot):
                continue
            if _asks(solution, path, asked):
                told.update(lines)
                yield _left(solution, spot, asked)


def _split(tree: ast.Module) -> set[int]:
    """Return the lines of the definitions, and of the rest, that name several devices.

    `hard-coded-device` tells of a program that is split; what names one device only is not.
    """
    found: set[int] = set()
    blocks: list[list[ast.stmt]]
    blocks = [[each] for each in tree.body if isinstance(each, _DEFINITIONS)]
    blocks.append([each for each in tree.body if not isinstance(each, _DEFINITIONS)])
    for block in blocks:
        if len({name for each in block for name in _devices_in(each)}) > 1:
            for each in block:
                found.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    return found


def _devices_in(node: ast.AST) -> Iterator[str]:
    """Yield the numbers of devices that code names; "" is of one that it computes."""
    for each in ast.walk(node):
        match each:
            case ast.Constant(value=str(text)) if text.startswith("cuda:"):
                yield text.removeprefix("cuda:")


class _Defaults:
    """What each program sets by default."""

    def __init__(self, solution: Solution) -> None:
        self._tree = solution.project.tree
        self._known: dict[frozenset[str], Defaults] = {}

    def of(self, program: frozenset[str]) -> Defaults:
        """Return what the files of a program set by default."""
        if program not in self._known:
            trees = filter(None, map(self._tree, program))
            self._known[program] = Defaults.joined(map(defaults_of, trees))
        return self._known[program]


def _asks(solution: Solution, path: str, asked: Forced) -> bool:
    """Tell whether nothing that was followed says that a place is not come to without CUDA."""
    known = [
        site
        for event in (Move, Literal, CudaOnly, Loaded)
        for group in solution.groups_at(event, asked.node)
        for site in group.sites
    ]
    if asked.by_default:
        return True
    if asked.kind == "settings":
        sources = solution.project.sources
        return not any("is_available" in sources[p].text for p in solution.programs.of(path))
    if asked.kind == "load":
        spot = Location(path, asked.node)
        return _loads_weights(solution, spot) and not is_other_arm(solution, spot)
    if asked.kind in ("name", "given") and is_taken_back(solution, Location(path, asked.node)):
        return False
    if asked.kind == "move" and not known and _has_its_own(solution, path):
        return False
    return not known or not all(site.under_device_test for site in known)


def _loads_weights(solution: Solution, spot: Location) -> bool:
    """Tell whether what is loaded is for a module, or is moved, in a program that uses a device.

    What data sets keep in files was made on the CPU.
    """
    path = spot.path
    if not (solution.policy.has_device(path) or "cuda" in solution.project.sources[path].text):
        return False
    home = solution.programs.function_of(spot) or solution.programs.tree(path)
    loaded = set(_named_after(solution, spot))
    for node in syntax.walk(home):
        match node:
            case ast.Attribute(attr=word) | ast.keyword(arg=str(word)) if "state_dict" in word:
                return True
            case ast.Constant(value=str(word)) if "state_dict" in word:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to" | "cuda")):
                if name in loaded:
                    return True
    return False


def _named_after(solution: Solution, spot: Location) -> Iterator[str]:
    """Yield the names that what is loaded gets."""
    statement = solution.statement_of(spot)
    if isinstance(statement, ast.Assign) and statement.value is spot.node:
        yield from (each.id for each in statement.targets if isinstance(each, ast.Name))


def _has_its_own(solution: Solution, path: str) -> bool:
    """Tell whether a class that a file has, or imports, has a method `cuda()`: it moves itself."""
    importers = solution.project.importers
    return any(
        isinstance(node, ast.FunctionDef) and node.name == "cuda"
        for other in solution.programs.of(path)
        if "def cuda(" in solution.project.sources[other].text
        if other == path or path in importers.get(other, ())
        for node in syntax.walk(solution.programs.tree(other))
    )


def _accelerator(asked: Forced) -> str:
    """Return how people call the accelerator that is asked for."""
    if asked.kind in ("name", "given") and isinstance(asked.node, ast.Constant):
        return str(asked.node.value).partition(":")[0].upper()
    return "CUDA"


def _left(solution: Solution, spot: Location, asked: Forced) -> Finding:
    why = _BY_DEFAULT if asked.by_default else _WHY[asked.kind]
    asks, named = _ASKS[asked.kind], getattr(asked.node, "value", "")
    if isinstance(named, str) and named.partition(":")[0] in _VENDORS:
        asks = "names one vendor's device"
    owner = solution.programs.owner(spot.path)
    if owner is not None:
        why = f"{owner[0]} decides about the devices of this file"
    elif about := solution.policy.purposes.about_gpus(spot.path):
        why = about
    elif solution.policy.managed(spot.path):
        why = "the program chooses on purpose which of its devices what is on"
    asks = _ASKS[asked.kind].replace("CUDA", _accelerator(asked))
    noted = finding(
        solution, RULE, spot, f"`{short(solution.code(spot))}` {asks}", None,
        unfixed=f"left as it is: {why}",
    )  # fmt: skip
    return replace(noted, level="note")
