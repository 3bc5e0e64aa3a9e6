"""What a script is for, and whether a device serves it: the one place where that is decided.

A script for the CPU is converted only if it trains, or infers with what was learned or over data.
Whatever else it may be for stays as it is, and `fix` says what it was taken for and why. Who wants
it all the same asks for it by name (`--convert`). What a script does is evidence; what it is called
is none. So it is with a script for the GPU alone: one that is about the GPU itself stays as it is.

Code that is no script of its own is judged where it is evaluated: a test by its function
(`unit_tests`), a demonstration by its block (`demonstrations`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from samedevice.inference.checks import Checks, named_by_definitions
from samedevice.inference.doings import (
    FOR_A_PHONE,
    Doings,
    brings,
    doings,
    quantizing,
    repeats,
)
from samedevice.inference.events import Built, Drawn, Loaded, Optimizes
from samedevice.inference.nodes import Location
from samedevice.inference.of_gpus import about_gpus
from samedevice.inference.worth import has_learned, is_layer, worthwhile
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITION = (*_FUNCTION, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)


class Kind(Enum):
    """What a script may be for."""

    ASKED = "somebody asked for it by name"
    TRAINING = "it takes gradients"
    INFERENCE = "it runs what was learned, or runs a module again and again"
    TEST = "pytest or unittest runs it"
    GPU = "it is about the GPU itself: without one it is for nothing"
    HOST = "it says that it is for the CPU"
    QUANTIZED = "it makes whole numbers of weights"
    BENCHMARK = "it measures the CPU"
    CHECK = "beside other programs, it only checks what modules give"
    LOOK = "beside other programs, it only looks at what modules give that have learned nothing"
    NOTHING = "it computes nothing that is worth a device: it prepares data, or draws it"


#: What a device serves.
_SERVED = frozenset((Kind.ASKED, Kind.TRAINING, Kind.INFERENCE))


@dataclass(frozen=True)
class Purpose:
    """What a script is for, and why it is thought so."""

    kind: Kind
    why: str = ""

    @property
    def served(self) -> bool:
        """Whether a device serves it."""
        return self.kind in _SERVED

    @property
    def stays(self) -> bool:
        """Whether it is converted only if somebody asks for it by name."""
        return self.kind not in _SERVED and self.kind is not Kind.NOTHING


class Purposes:
    """What the scripts of a solution are for."""

    def __init__(self, solution: Solution) -> None:
        self._solution = solution
        self._programs = solution.programs
        self._known: dict[str, Purpose] = {}

    def of(self, script: str, reached: Collection[str]) -> Purpose:
        """Return what a script is for that runs some files, itself among them."""
        if script not in self._known:
            found = self._asked(script) or self._left(script, reached)
            self._known[script] = found or self._served(script, reached)
        return self._known[script]

    def about_gpus(self, script: str) -> str:
        """Return what a script does with the GPU itself, "" if it is for something else."""
        project = self._solution.project
        if script in project.asked or project.importers.get(script):
            return ""
        return about_gpus(self._programs.tree(script))

    def _asked(self, script: str) -> Purpose | None:
        asked = script in self._solution.project.asked
        return Purpose(Kind.ASKED) if asked and not self._programs.is_test(script) else None

    def _left(self, script: str, reached: Collection[str]) -> Purpose | None:
        """Return what a script is for that stays, whatever else it does."""
        if about := self.about_gpus(script):
            return Purpose(Kind.GPU, about)
        if self._programs.is_test(script):
            return Purpose(Kind.TEST, "it is a test that names no device")
        for path in sorted(reached):
            if self._programs.markers(path).hides_all:
                return Purpose(Kind.HOST, f"{_base(path)} hides every GPU from it")
        for path in sorted(reached):
            own = self._doings(path)
            # What trains is worth a device whatever it prints, unless it measures the CPU.
            if own.writes_cpu and (own.clocked or not self._training & set(reached)):
                return Purpose(Kind.HOST, f"{_base(path)} writes that it uses the CPU")
            for call in quantizing(self._programs.tree(path)):
                if self._runs(script, path, call):
                    what = "quantizes a module, and only the CPU computes with whole numbers"
                    if syntax.dotted(call.func).rpartition(".")[2] in FOR_A_PHONE:
                        what = "makes a module for a phone, whose CPU computes with it"
                    return Purpose(Kind.QUANTIZED, f"{_base(path)}:{call.lineno} {what}")
        return None

    def _served(self, script: str, reached: Collection[str]) -> Purpose:
        """Return what a script is for by what it computes."""
        beside = self._is_beside_others(reached)
        reads = bool((self._drawing | self._loading) & set(reached))
        if beside and not reads and self._doings(script).practises:
            return Purpose(
                Kind.LOOK, "it trains on numbers that it makes up, and keeps nothing of it"
            )
        if self._training & set(reached):
            return Purpose(Kind.TRAINING)
        own = self._doings(script)
        timed = own.times and not self._solution.project.sources[script].is_notebook
        if timed or own.profiles:
            how = "measures how long the CPU takes" if timed else "profiles the CPU's work"
            return Purpose(Kind.BENCHMARK, f"it {how}, and asks nothing of a GPU")
        if own.compares_arrays and self._has_only_layers(reached):
            return Purpose(Kind.CHECK, "it only compares what NumPy and layers of torch give")
        beside = self._is_beside_others(reached)
        learns = bool(self._solution.interpreter.learning & set(reached))
        if beside and self._only_checks(script, reached, learns):
            return Purpose(Kind.CHECK, "it only checks what modules give")
        tries = beside and own.tries and not (reads or self._repeats(script, reached))
        if learns and not tries:
            return Purpose(Kind.TRAINING)
        if not self._worthwhile & set(reached):
            return Purpose(Kind.NOTHING, self._without_work(reached))
        if beside and not self._infers(script, reached):
            return Purpose(
                Kind.LOOK, "it looks once at what modules give that have learned nothing"
            )
        if tries:
            return Purpose(
                Kind.LOOK, "it makes up what it computes with, and only shows what comes out"
            )
        return Purpose(Kind.INFERENCE)

    def _has_only_layers(self, reached: Collection[str]) -> bool:
        """Tell whether what files use of modules is one layer of torch or another, as it is made.

        No data is drawn for it, and nothing loaded.
        """
        used = [
            site.module
            for group in self._solution.all_groups(Built)
            if group.spot.path in reached
            for site in group.sites
            if site.module.used
        ]
        if (self._drawing | self._loading) & set(reached):
            return False
        return bool(used) and all(map(is_layer, used))

    def _only_checks(self, script: str, reached: Collection[str], learns: bool) -> bool:
        """Tell whether a script only checks what modules give: of data that it made up for that."""
        how = self._doings(script).checks
        if how is Checks.NOT or self._drawing & set(reached):
            return False
        return how is Checks.ASSERTS or not (learns or self._repeats(script, reached))

    def _infers(self, script: str, reached: Collection[str]) -> bool:
        """Tell whether a script runs what was learned, or something again and again."""
        if (self._loading | self._drawing) & set(reached) or self._repeats(script, reached):
            return True
        return any(brings(each) for path in reached for each in self._code(script, path, True))

    def _repeats(self, script: str, reached: Collection[str]) -> bool:
        """Tell whether a script calls in a loop what may be a module.

        What a module's own code does in loops is one call of it.
        """
        return any(
            repeats(each, named_by_definitions(self._programs.tree(path)))
            for path in reached
            for each in self._code(script, path, False)
        )

    def _code(self, script: str, path: str, methods: bool) -> Iterator[ast.stmt]:
        """Yield the statements of a file that run when it does, and what a script comes to there:
        functions, and methods, if asked."""
        for node in self._programs.tree(path).body:
            if not isinstance(node, _DEFINITION):
                yield node
        parents = self._programs.parents(path)
        for node in self._evaluated.get((script, path), ()):
            if methods or not isinstance(parents.get(node), ast.ClassDef):
                yield node

    @cached_property
    def _evaluated(self) -> dict[tuple[str, str], list[ast.stmt]]:
        """The functions that scripts come to, by script and file."""
        run = self._solution.interpreter
        found: dict[tuple[str, str], list[ast.stmt]] = {}
        for node, units in run.reached.items():
            scope = run.scopes.get(node)
            if scope is None or isinstance(node, ast.Lambda):
                continue
            for script, name in units:
                if not name:
                    found.setdefault((script, scope.path), []).append(node)
        return found

    def _doings(self, path: str) -> Doings:
        return doings(self._programs.tree(path))

    def _runs(self, script: str, path: str, node: ast.AST) -> bool:
        """Tell whether a script comes to some code of a file: what is in no function does run."""
        parents = self._programs.parents(path)
        at = parents.get(node)
        while at is not None:
            if isinstance(at, _FUNCTION):
                return at in self._evaluated.get((script, path), ())
            at = parents.get(at)
        return True

    @cached_property
    def _training(self) -> set[str]:
        """The files that make an optimizer."""
        return {group.spot.path for group in self._solution.all_groups(Optimizes)}

    @cached_property
    def _loading(self) -> set[str]:
        """The files that load what was learned: data sets load data."""
        return {
            group.spot.path
            for group in self._solution.all_groups(Loaded)
            if not all(site.in_worker for site in group.sites)
        }

    @cached_property
    def _drawing(self) -> set[str]:
        """The files that take batch after batch from loaders."""
        groups = self._solution.all_groups(Drawn)
        return {group.spot.path for group in groups if self._is_repeated(group.spot)}

    def _is_repeated(self, spot: Location) -> bool:
        """Tell whether a loop draws a batch, and not only `next(iter(loader))`."""
        parents = self._programs.parents(spot.path)
        at = parents.get(spot.node)
        while at is not None and not isinstance(at, _DEFINITION):
            if isinstance(at, _LOOPS):
                return True
            at = parents.get(at)
        return False

    @cached_property
    def _worthwhile(self) -> frozenset[str]:
        return worthwhile(self._solution)

    def _is_beside_others(self, reached: Collection[str]) -> bool:
        """Tell whether other files of the project train, or say on which device they compute."""
        return not self._solution.project.computing <= set(reached)

    def _without_work(self, reached: Collection[str]) -> str:
        built = [
            site
            for group in self._solution.all_groups(Built)
            if group.spot.path in reached
            for site in group.sites
        ]
        if any(has_learned(site.module) for site in built):
            return ""
        which = "no module that has parameters" if built else "no module"
        return f"it calls {which} and takes no gradient with autograd"


def _base(path: str) -> str:
    return path.rpartition("/")[2]
