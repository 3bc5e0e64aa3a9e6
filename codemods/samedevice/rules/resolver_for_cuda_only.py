"""The resolver knows CUDA only, while the settings ask for another one.

Why: `torch.accelerator` (torch 2.6 and newer) finds CUDA, MPS, XPU and others alike, torch_xla
finds TPUs, and a function of your own finds what it wants. A project has one resolver, so the one
that is asked for takes the place of the one that is there. This rule is silent unless `--resolver`
is `accelerator`, `xla` or `module:function`; what a user chooses on the command line stays the
user's choice.

Example:

    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")

becomes

    use_cuda = not args.no_cuda and torch.accelerator.is_available()
    device = torch.accelerator.current_accelerator() if use_cuda else torch.device("cpu")

Fix safety: safe. On a CPU-only machine the device is the CPU before and after.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from samedevice.finding import Edit, Finding, Fix, Import
from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import edit, finding, with_comment

RULE = "resolver-for-cuda-only"
_VENDOR = re.compile(r"(cuda|mps|xpu|hpu|npu|mlu|musa)(:0)?")
_WIDTH = 100


def find(solution: Solution) -> Iterator[Finding]:
    """Report choices between the CPU and one or more vendors' devices."""
    if solution.project.resolver in ("", "cuda"):
        return
    for path in solution.programs.files():
        tree = solution.project.tree(path)
        torch = device_names(solution).imports.alias(path, "torch")
        if tree is None or not torch or solution.policy.managed(path):
            continue
        wanted = _wanted(solution, path, torch)
        if wanted is None:
            continue
        file = _File(solution, path, torch, wanted)
        found: list[Finding] = []
        for node in syntax.walk(tree):
            if isinstance(node, ast.IfExp):
                found += file.expression(node)
            elif isinstance(node, ast.If):
                found += file.statement(node)
        if len(file.asked) < 2:  # else an option for each vendor
            yield from found


@dataclass(frozen=True)
class _Wanted:
    """What is asked for: `available` is "" where the function that gives the device decides."""

    name: str
    device: str
    text: str  # the device as a text
    available: str
    imports: tuple[Import, ...] = ()


def _wanted(solution: Solution, path: str, torch: str) -> _Wanted | None:
    """Return how a file speaks of what is asked for; None in the file that defines it."""
    if solution.project.resolver == "accelerator":
        device = f"{torch}.accelerator.current_accelerator()"
        available = f"{torch}.accelerator.is_available()"
        return _Wanted("any accelerator", device, f"{device}.type", available)
    if solution.project.resolver == "xla":
        device = 'importlib.import_module("torch_xla").device()'
        available = 'importlib.util.find_spec("torch_xla") is not None'
        imports = (Import(path, "importlib.util"),)
        return _Wanted("XLA", device, f"str({device})", available, imports)
    chosen = device_names(solution).resolvers.chosen(path)
    if chosen is None:
        return None
    device = f"{torch}.device({chosen.code})"  # whether the function gives a device or a text
    return _Wanted(f"`{chosen.code}`", device, f"str({device})", "", chosen.imports)


@dataclass(frozen=True)
class _Choice:
    """What asks for an accelerator, and whether the answer is a text."""

    test: ast.expr
    text: bool


class _File:
    def __init__(self, solution: Solution, path: str, torch: str, wanted: _Wanted) -> None:
        self.solution = solution
        self.path = path
        self.torch = torch
        self.wanted = wanted
        self.parents = solution.programs.parents(path)
        self.asked: set[str] = set()  # vendors of whom the user asks for one by one

    # -- forms --------------------------------------------------------------------------------

    def expression(self, node: ast.IfExp) -> Iterator[Finding]:
        """Judge `"cuda" if ... else "cpu"`, alone or in `torch.device(...)`."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.IfExp) and parent.orelse is node:
            return  # a part of a longer choice
        choice = self._chain(node)
        if choice is None:
            if self._chooses(node):
                yield self._found(node, None)
            return
        place: ast.expr = node
        text = choice.text
        if text and isinstance(parent, ast.Call) and self._is_device(parent):
            place, text = parent, False
        yield from self._finding(place, _Choice(choice.test, text))

    def statement(self, node: ast.If) -> Iterator[Finding]:
        """Judge `if ...: device = "cuda"` with an `else` for the CPU, or the same with `return`."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.If) and parent.orelse == [node]:
            return
        values: list[tuple[ast.expr, ast.expr]] = []
        gone: list[ast.stmt] = []
        heads: set[str] = set()
        rest: list[ast.stmt] = [node]
        block, anchor = self.parents.block(node), cast(ast.stmt, node)
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            step = rest[0]
            value = self._given(step.body, heads)
            if value is None:
                return
            values.append((step.test, value))
            rest = step.orelse
            if not rest and isinstance(step.body[0], ast.Return):
                rest = block[block.index(anchor) + 1 :][:1]
                gone += rest
                anchor = rest[0] if rest else anchor
        last = self._given(rest, heads)
        if last is None or len(heads) != 1 or not self._is_cpu(last):
            return
        choice = self._choice(values, last)
        if choice is None:
            return
        written = self._written(choice)
        if written is None:
            yield self._found(node, None)
            return
        new, edits = written
        code = next(iter(heads)) + new
        edits.append(self._edit(node, "replace_statement", self._wrapped(node, code)))
        edits += [self._edit(each, "delete") for each in gone]
        yield self._found(node, edits)

    def _given(self, body: list[ast.stmt], heads: set[str]) -> ast.expr | None:
        """Return what a branch gives, and note to what: one name, or the caller."""
        match body:
            case [ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value)]:
                heads.add(f"{ast.unparse(target)} = ")
                return value
            case [ast.Return(value=value)] if value is not None:
                heads.add("return ")
                return value
        return None

    # -- what is chosen -------------------------------------------------------------------------

    def _chain(self, node: ast.IfExp) -> _Choice | None:
        values: list[tuple[ast.expr, ast.expr]] = []
        rest: ast.expr = node
        while isinstance(rest, ast.IfExp):
            values.append((rest.test, rest.body))
            rest = rest.orelse
        match node:
            case ast.IfExp(test=ast.UnaryOp(op=ast.Not(), operand=test), body=cpu, orelse=vendor):
                if self._is_cpu(cpu):
                    return self._choice([(test, vendor)], cpu)
        return self._choice(values, rest) if self._is_cpu(rest) else None

    def _chooses(self, node: ast.expr) -> bool:
        """Tell whether a conditional expression has a vendor at one end and the CPU at another."""
        ends: list[ast.expr] = []
        while isinstance(node, ast.IfExp):
            ends.append(node.body)
            node = node.orelse
        ends.append(node)
        return any(map(self._is_vendor, ends)) and any(map(self._is_cpu, ends))

    def _choice(self, values: list[tuple[ast.expr, ast.expr]], last: ast.expr) -> _Choice | None:
        """Return the choice between vendors, if only the first one is the user's."""
        texts = {isinstance(value, ast.Constant) for value in (*(v for _, v in values), last)}
        if len(texts) != 1 or not all(self._is_vendor(value) for _, value in values):
            return None
        first, *others = [test for test, _ in values]
        if not all(re.fullmatch(r"[\w.]+\.is_available\(\)", ast.unparse(t)) for t in others):
            return None
        if not others and "is_available()" not in ast.unparse(first):
            self.asked.add(self._named(values[0][1]).partition(":")[0])
        return _Choice(first, texts == {True})

    def _is_device(self, node: ast.Call) -> bool:
        return ast.unparse(node.func) == f"{self.torch}.device" and len(node.args) == 1

    def _named(self, node: ast.expr) -> str:
        """Return the device that a text, or `torch.device` of one, names."""
        if isinstance(node, ast.Call) and self._is_device(node):
            node = node.args[0]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return ""

    def _is_vendor(self, node: ast.expr) -> bool:
        if ast.unparse(node) == f"{self.torch}.accelerator.current_accelerator()":
            return self.wanted.name != "any accelerator"
        return _VENDOR.fullmatch(self._named(node)) is not None

    def _is_cpu(self, node: ast.expr) -> bool:
        return self._named(node) == "cpu"

    # -- what is written ------------------------------------------------------------------------

    def _finding(self, place: ast.expr, choice: _Choice) -> Iterator[Finding]:
        written = self._written(choice)
        if written is None:
            yield self._found(place, None)
            return
        new, edits = written
        parent = self.parents.get(place)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            code = f"{ast.unparse(parent.targets[0])} = {new}"
            edits.append(self._edit(parent, "replace_statement", self._wrapped(parent, code)))
        else:
            edits.append(self._edit(place, "replace", new))
        yield self._found(place, edits)

    def _written(self, choice: _Choice) -> tuple[str, list[Edit]] | None:
        """Return the new expression, and the edits of the flag that it asks; None if none does."""
        mine = self.wanted.available
        asks = re.compile(rf"{self.torch}\.\w+(\.\w+)?\.is_available\(\)")
        found = self.wanted.text if choice.text else self.wanted.device
        cpu = '"cpu"' if choice.text else f'{self.torch}.device("cpu")'
        if not mine:
            test = self._without(choice.test, asks)
            if test is None:
                return None
            return f"{found} if {test} else {cpu}" if test else found, []
        code = self.solution.code(Location(self.path, choice.test))
        edits: list[Edit] = []
        test = asks.sub(mine, code)
        if test == code and mine not in code:
            flag = self._flag(choice.test)
            if flag is None:
                test = f"{code} and {mine}"
            else:
                edits += [
                    self._edit(node, "replace", mine)
                    for node in ast.walk(flag)
                    if isinstance(node, ast.Call) and asks.fullmatch(ast.unparse(node))
                ]
        return f"{found} if {test} else {cpu}", edits

    def _without(self, test: ast.expr, asks: re.Pattern[str]) -> str | None:
        """Return what else a test asks than whether there is a device; None if they are one."""
        if self._flag(test) is not None:
            return None
        parts = [test]
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            parts = test.values
        rest = [
            self.solution.code(Location(self.path, part))
            for part in parts
            if not asks.fullmatch(ast.unparse(part))
        ]
        return None if any(map(asks.search, rest)) else " and ".join(rest)

    def _flag(self, test: ast.expr) -> ast.expr | None:
        """Return what a name or attribute is given, once, if that asks for an accelerator."""
        tree = self.solution.project.tree(self.path)
        name = ast.unparse(test)
        given = [
            node.value
            for node in (syntax.walk(tree) if tree is not None else ())
            if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)
        ]
        asks = [value for value in given if "is_available()" in ast.unparse(value)]
        return asks[0] if len(asks) == 1 and isinstance(test, (ast.Name, ast.Attribute)) else None

    def _wrapped(self, statement: ast.stmt, code: str) -> str:
        """Return a statement in brackets where it would be too long, with its comment."""
        indent = getattr(statement, "col_offset", 0)
        if indent + len(code) > _WIDTH:
            head, _, value = code.partition(" " if code.startswith("return ") else " = ")
            equals = " " if code.startswith("return ") else " = "
            lines = value.replace(" if ", "\n    if ", 1).replace(" else ", "\n    else ", 1)
            return f"{head}{equals}(\n    {lines}\n)"
        return with_comment(self.solution, Location(self.path, statement), code)

    def _edit(self, node: ast.AST, verb: str, code: str = "") -> Edit:
        given = {"code": code} if code else {}
        return edit(self.solution, Location(self.path, node), verb, **given)  # type: ignore[arg-type]

    def _found(self, node: ast.AST, edits: list[Edit] | None) -> Finding:
        return finding(
            self.solution, RULE, Location(self.path, node),
            f"this chooses between CUDA and the CPU, while the settings ask for {self.wanted.name}",
            Fix(tuple(edits), imports=self.wanted.imports) if edits else None,
            unfixed="" if edits else "what it asks for cannot be told apart from CUDA",
        )  # fmt: skip
