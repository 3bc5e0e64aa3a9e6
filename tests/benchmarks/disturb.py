"""Disturb names, types and control flow of programs, as their authors might, and see what breaks.

    python -m tests.benchmarks.disturb [--each N] [--only TEXT] [--seed N] [--minutes M]

A fixture that is right loses or hardens device handling, as for the mutation bench, and is then
disturbed in one of the ways of `DISTURBANCES`, none of which changes what it prints. What
samedevice makes of that may be no repair at all; but what ran before has to run after, on the CPU
and on the virtual accelerator, and has to print the same on the CPU.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tests.cases.running import Ran, Runner, repaired
from tests.fixtures.cases import Case, cases

from .bench_mutation import Files, mutants

#: A test that is true when the program runs, which nothing in the code says.
_TRUE = "len(sys.argv) < 99"


def float_caller(tree: ast.Module) -> ast.Module | None:
    """A helper that tensors go through, and a number somewhere else."""
    return _through(tree, "def through(value):\n    return value * 2.0 / 2.0\n", "through(0.5)")


def guard(tree: ast.Module) -> ast.Module | None:
    """A helper that takes tensors and lists, by a test that a name holds."""
    helper = (
        "def through(value):\n    is_tensor = isinstance(value, torch.Tensor)\n"
        "    return value if is_tensor else sum(value)\n"
    )
    return _through(tree, "import torch\n" + helper, "through([0.5, 1.5])")


def early_return(tree: ast.Module) -> ast.Module | None:
    """Functions that give up at once where their first argument is missing."""
    changed = False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [a.arg for a in node.args.args if a.arg not in ("self", "cls")]
            if names and not _yields(node):
                start = 1 if ast.get_docstring(node) else 0
                node.body[start:start] = _code(f"if {names[0]} is None:\n    return None\n")
                changed = True
    return tree if changed else None


def one_branch(tree: ast.Module) -> ast.Module | None:
    """Definitions at the top of the file that stand in a branch."""
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            (branch,) = _code(f"if {_TRUE}:\n    pass\n")
            assert isinstance(branch, ast.If)
            branch.body = [node]
            body.append(branch)
        else:
            body.append(node)
    if len(body) == 0 or body == tree.body:
        return None
    tree.body = body
    return _with_imports(tree, "import sys")


def worker(tree: ast.Module) -> ast.Module | None:
    """What the file does stands under `__main__`, and a spawned worker calls its functions."""
    if not any(isinstance(node, ast.FunctionDef) and not node.args.args for node in tree.body):
        tree.body += _code("def made():\n    return 1\n")
    quiet = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    kept = [n for n in tree.body if isinstance(n, quiet) or _is_text(n)]
    done = [n for n in tree.body if n not in kept]
    if any(isinstance(n, ast.If) and "__main__" in ast.unparse(n.test) for n in done):
        inner = [n for n in done if isinstance(n, ast.If) and "__main__" in ast.unparse(n.test)]
        done = [part for n in done for part in (n.body if n in inner else [n])]
    if not done:
        return None
    (main,) = _code("if __name__ == '__main__':\n    pass\n")
    assert isinstance(main, ast.If)
    start = (
        "process = mp.get_context('spawn').Process(target=idle)\nprocess.start()\nprocess.join()"
    )
    main.body = [*done, *_code(start)]
    tree.body = [*kept, *_code("def idle():\n    print(end='')\n"), main]
    return _with_imports(tree, "import multiprocessing as mp")


def taken_name(tree: ast.Module) -> ast.Module | None:
    """A file in which `device` is something else already, unless it is one."""
    if any(_binds(node, "device") for node in ast.walk(tree)):
        return None
    tree.body += _code("device = 3\nassert device == 3\n")
    return tree


def nothing_yet(tree: ast.Module) -> ast.Module | None:
    """Devices that are None until the program has begun."""
    for index, node in enumerate(tree.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if "device" in name:
                setup = f"def set_up():\n    global {name}\n    {name} = {ast.unparse(value)}\n"
                tree.body[index : index + 1] = _code(f"{name} = None\n{setup}set_up()\n")
                return tree
    return None


def bare_loop(tree: ast.Module) -> ast.Module | None:
    """Assignments at the top that stand in loops and are tried."""
    body: list[ast.stmt] = []
    for number, node in enumerate(tree.body):
        if isinstance(node, ast.Assign) and number % 2:
            (loop,) = _code(f"for _ in range(int({_TRUE})):\n    pass\n")
            assert isinstance(loop, ast.For)
            loop.body = [node]
            body.append(loop)
        elif isinstance(node, ast.Assign):
            (tried,) = _code("try:\n    pass\nexcept ImportError:\n    raise SystemExit(1)\n")
            assert isinstance(tried, ast.Try)
            tried.body = [node]
            body.append(tried)
        else:
            body.append(node)
    if body == tree.body:
        return None
    tree.body = body
    return _with_imports(tree, "import sys")


DISTURBANCES: tuple[Callable[[ast.Module], ast.Module | None], ...] = (
    float_caller, guard, early_return, one_branch, worker, taken_name, nothing_yet, bare_loop,
)  # fmt: skip


def _through(tree: ast.Module, helper: str, other: str) -> ast.Module | None:
    """Lead what is computed with through a helper that something else goes through, too."""

    class Lead(ast.NodeTransformer):
        count = 0

        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            self.generic_visit(node)
            if isinstance(node.op, (ast.Sub, ast.Add, ast.MatMult)):
                if isinstance(node.left, (ast.Name, ast.Call)) and _plain(node.right):
                    self.count += 1
                    node.left = ast.Call(ast.Name("through", ast.Load()), [node.left], [])
            return node

        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            if ast.unparse(node.func).startswith(("np.", "numpy.", "F.", "torch.nn.functional.")):
                if node.args and isinstance(node.args[0], ast.Name):
                    self.count += 1
                    node.args[0] = ast.Call(ast.Name("through", ast.Load()), [node.args[0]], [])
            return node

    lead = Lead()
    tree = lead.visit(tree)
    if not lead.count:
        return None
    ours = _code(f"{helper}\nassert {other} is not None\n")
    tree.body = [*_head(tree), *ours, *tree.body[len(_head(tree)) :]]
    return tree


def _plain(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Call, ast.Attribute))


def _head(tree: ast.Module) -> list[ast.stmt]:
    """Return the docstring and the imports from the future, which have to be first."""
    head = []
    for node in tree.body:
        if not _is_text(node) and not (
            isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ):
            break
        head.append(node)
    return head


def _with_imports(tree: ast.Module, code: str) -> ast.Module:
    head = _head(tree)
    tree.body = [*head, *_code(code), *tree.body[len(head) :]]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _code(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _yields(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found, ctx=ast.Store()) | ast.arg(arg=found) | ast.alias(asname=found):
            return found == name
        case ast.alias(name=found):
            return found == name
    return False


def disturbed(
    files: Files, entry: str, way: Callable[[ast.Module], ast.Module | None]
) -> Files | None:
    """Return a program with one of its files disturbed, None where there is nothing for it."""
    for path in sorted(files, key=lambda path: (path != entry, path)):
        if path.endswith(".py"):
            tree = way(ast.parse(files[path]))
            if tree is not None:
                return files | {path: ast.unparse(ast.fix_missing_locations(tree)) + "\n"}
    return None


@dataclass
class Tally:
    """What came of the programs that were disturbed in one way."""

    tried: int = 0
    edited: int = 0
    ran: int = 0
    broken: list[str] = field(default_factory=list)


def family(case: Case, each: int, chance: random.Random) -> Iterator[tuple[str, str, Files]]:
    """Yield some disturbed mutants of a fixture: how it lost its devices, the way, the texts."""
    files = case.files(case.versions[-1])
    made = list(mutants(files))
    chance.shuffle(made)
    found = 0
    for way in chance.sample(DISTURBANCES, len(DISTURBANCES)):
        for kind, mutant in made:
            if found == each:
                return
            changed = disturbed(mutant, case.entry, way)
            if changed is not None:
                found += 1
                yield kind, way.__name__, changed
                break


def breaks(case: Case, files: Files, after: Files, runner: Runner, tally: Tally) -> str:
    """Return what runs before a repair and not after it, "" for nothing; count what ran before."""
    here = runner.run(after, case.entry, "cpu", case.args)
    first = runner.run(files, case.entry, "cpu", case.args)
    tally.ran += first.code == 0
    if first.code == 0 and here.code:
        return f"on the CPU: {here.last_line[:200]}"
    if first.code == 0 and _said(first) != _said(here):
        return "prints something else on the CPU"
    there = runner.run(after, case.entry, "virtual", case.args)
    if there.code and runner.run(files, case.entry, "virtual", case.args).code == 0:
        return f"on the device: {there.last_line[:200]}"
    return ""


def _said(ran: Ran) -> str:
    return ran.stdout.strip()


def measure(
    chosen: Iterable[Case], each: int, seed: int, minutes: float, *, show: bool = False
) -> dict[str, Tally]:
    """Disturb, repair and run the programs."""
    tallies: dict[str, Tally] = {way.__name__: Tally() for way in DISTURBANCES}
    end = time.monotonic() + minutes * 60
    with Runner() as runner:
        for case in chosen:
            if time.monotonic() > end:
                print(f"The time was up before {case.name}.\n")
                break
            chance = random.Random(f"{seed} {case.name}")
            for kind, way, files in family(case, each, chance):
                tally = tallies[way]
                tally.tried += 1
                after, errors = repaired(files, unsafe=case.unsafe)
                if after == files:
                    continue
                tally.edited += 1
                wrong = "; ".join(errors) or breaks(case, files, after, runner, tally)
                if wrong:
                    tally.broken.append(f"{case.name} ({kind}): {wrong}")
                    if show:
                        _show(f"{case.name} {kind} {way}: {wrong}", files, after)
            print(case.name, file=sys.stderr, flush=True)
    return tallies


def _show(title: str, files: Files, after: Files) -> None:
    print(f"--- {title}")
    for path in after:
        old, new = files.get(path, "").splitlines(), after[path].splitlines()
        print("\n".join(difflib.unified_diff(old, new, path, path, n=2, lineterm="")))
    sys.stdout.flush()


def table(tallies: dict[str, Tally]) -> str:
    """Return the figures as Markdown."""
    lines = [
        "| disturbed by | programs | edited | ran on the CPU before | broken |",
        "| --- | --- | --- | --- | --- |",
    ]
    total: Counter[str] = Counter()
    for way, tally in tallies.items():
        lines.append(
            f"| {way.replace('_', ' ')} | {tally.tried} | {tally.edited} | {tally.ran} "
            f"| {len(tally.broken)} |"
        )
        total.update(tried=tally.tried, edited=tally.edited)
        total.update(ran=tally.ran, broken=len(tally.broken))
    lines.append(
        f"| all | {total['tried']} | {total['edited']} | {total['ran']} | {total['broken']} |"
    )
    broken = [f"- {way}: {name}" for way, tally in tallies.items() for name in tally.broken]
    return "\n".join([*lines, *([""] if broken else []), *broken])


def subjects(only: str = "") -> list[Case]:
    """Return the fixtures that are right, and run here."""
    return [case for case in cases() if only in case.name and not case.on_host and not case.needs]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=3, help="disturbed mutants of each fixture")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="fixtures whose name has this in it")
    parser.add_argument("--minutes", type=float, default=1e9, help="no program is begun after")
    parser.add_argument("--show", action="store_true", help="show what breaks")
    options = parser.parse_args()
    chosen = subjects(options.only)
    random.Random(options.seed).shuffle(chosen)
    print(table(measure(chosen, options.each, options.seed, options.minutes, show=options.show)))


if __name__ == "__main__":
    main()
