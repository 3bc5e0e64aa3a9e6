"""Demonstrations: code that shows how a module works, on the CPU, and is no program of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from samedevice.inference.events import Drawn, Optimizes
from samedevice.inference.sites import Site
from samedevice.inference.trying import MADE_UP, tries, tries_learned, words_of
from samedevice.reading import syntax
from samedevice.reading.project import Project

#: What code says that chooses a device, and what it does that is more than to show something.
_DEVICES = frozenset(("cuda", "'cuda'", "device", "is_available", "to", "xpu", "mps"))
#: What a function says that puts things on a device for itself. It may be given one, or ask where
#: something is.
_CHOOSING = frozenset(("is_available", "'cuda'", "cuda"))
_WORK = frozenset(
    (
        "backward", "step", "zero_grad", "load", "load_state_dict", "save", "DataLoader",
        "parse_args", "fit", "train_loader", "perf_counter", "time",
    )
)  # fmt: skip
#: What code does that trains a module.
_TRAINING = frozenset(("backward", "step"))
#: What inputs are made of that are none, and what reads real ones.
_MADE_UP = frozenset(("rand", "randn", "randint", "rand_like", "randn_like"))
_UNFILLED = frozenset(("FloatTensor", "empty"))
_READS = frozenset(
    (
        "open", "read", "imread", "read_csv", "read_image", "from_pretrained", "load_dataset",
        "from_numpy", "loadtxt", "genfromtxt", "loadmat", "glob", "iterdir", "listdir", "urlopen",
        "grad",
    )
)  # fmt: skip
#: What a script is called that tries something out, and what it looks at.
_TEST = re.compile(r"test_\w+\.py|\w+_test\.py|test\.py")
_LOOKS = frozenset(("shape", "size", "grad"))
#: Bases of classes that are no modules, by the last part of their names.
_NO_MODULES = frozenset(
    ("ABC", "Dataset", "Enum", "Env", "Exception", "IterableDataset", "NamedTuple", "Wrapper",
     "dict", "list", "object")
)  # fmt: skip
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINED = (*_FUNCTION, ast.ClassDef)
#: How many calls deep the functions of a file are looked into.
_DEEP = 3


def is_main(statement: ast.stmt) -> bool:
    """Tell whether a statement is `if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def is_shown(project: Project, path: str, block: ast.If) -> bool:
    """Tell whether a file's main block shows how a module works, on the CPU.

    It says nothing of devices, and does no more than call a module of its own file. It is in a file
    that others import, or in one of a package, or hands the module random numbers.
    """
    if not is_main(block):
        return False
    words = words_of(block.body)
    tree = project.tree(path)
    called = _called(words, tree.body if tree is not None else ())
    functions = [each for each in called if isinstance(each, _FUNCTION)]
    imported = path in project.importers
    if words & _DEVICES:
        return False
    if imported and not functions:
        return not words >= _TRAINING  # that is a program, whoever imports its classes
    words |= words_of(functions)
    words -= {"cuda"} if "is_cuda" in words else set()
    if words & (_CHOOSING | _WORK) or not any(map(_is_module, called)):
        return False
    # Another script may compute something that is worth a device.
    return project.is_package(path) or bool(words & _MADE_UP) and not words & _READS


def _is_module(node: ast.stmt) -> bool:
    """Tell whether a definition looks like one of a module: an environment is none."""
    if not isinstance(node, ast.ClassDef):
        return False
    defined = {each.name for each in node.body if isinstance(each, _FUNCTION)}
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    return "forward" in defined or bool(set(bases) - _NO_MODULES)


def take_back(events: Sequence[Site]) -> None:
    """Take back that code only shows something, if what it does trains or draws from a loader.

    The words of a block do not tell that, as functions of other files may do it.
    """
    if any(isinstance(event, (Optimizes, Drawn)) for event in events):
        for event in events:
            event.shown = False


def is_toy(project: Project, path: str) -> bool:
    """Tell whether a notebook only tries out modules with random numbers.

    Or whether a script that is called a test only looks at what a module gives, or shows what comes
    of made-up numbers: whoever wants to know whether it works has no need of a device.
    """
    a_test = bool(_TEST.fullmatch(path.rpartition("/")[2])) and path not in project.importers
    if not (project.sources[path].is_notebook or a_test):
        return False
    tree = project.tree(path)
    body = tree.body if tree is not None else []
    code = [each for each in body if not isinstance(each, _DEFINED)]
    code += [each for each in _called(words_of(code), body) if isinstance(each, _FUNCTION)]
    words = words_of(code)
    if a_test:
        looks = words & _LOOKS or any(isinstance(n, ast.Assert) for n in syntax.walk_all(code))
        other = words & (_DEVICES | _READS | _WORK) - _LOOKS - {"backward"}
        shown = tree is not None and (tries(tree) or tries_learned(tree))
        shows = shown and not words & _DEVICES
        return shows or bool(looks) and not other
    made_up = words & (MADE_UP | _MADE_UP | _UNFILLED)
    return bool(made_up) and not words & (_DEVICES | _WORK | _READS)


def _called(words: set[str], body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the definitions of a file that some words name, and those that these use."""
    defined = {node.name: node for node in body if isinstance(node, _DEFINED)}
    found: dict[str, ast.stmt] = {}
    for _ in range(_DEEP):
        new = [defined[name] for name in words if name in defined and name not in found]
        found.update((node.name, node) for node in new)
        words = words_of([node for node in new if isinstance(node, _FUNCTION)])
    return list(found.values())
