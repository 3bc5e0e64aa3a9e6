"""What a file does about processes and GPUs as a whole, read off its tree, not its comments.

The text is searched for the words first, since most files have none of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from samedevice.reading import syntax
from samedevice.reading.project import Project

_WORDS = re.compile(
    r"init_process_group|init_device_mesh|set_start_method|get_context|set_device|VISIBLE_DEVICES"
    r"|CUDA_DEVICE_ORDER|CUDA_LAUNCH_BLOCKING|current_accelerator"
)
#: What asks the machine, the environment or a user, by the names that code has for it.
_ASKING = re.compile(
    r"is_available|is_built|device_count|argv|environ|getenv|input|add_argument|parse_args"
    r"|parse_known_args"
)
#: Libraries that read a command line, or show a form.
_FORMS = frozenset(
    ("absl", "argparse", "click", "docopt", "fire", "getopt", "gradio", "hydra", "jsonargparse",
     "omegaconf", "optparse", "simple_parsing", "streamlit", "tyro", "typer")
)  # fmt: skip
_SPEAKS = re.compile("|".join([_WORDS.pattern, _ASKING.pattern, *sorted(_FORMS)]))
#: What the driver reads when a process first asks for a GPU, and never again: which ones there are,
#: in which order, and how it is to run what it is given (CUDA C++ Programming Guide, environment
#: variables).
VISIBLE = re.compile(
    r"(CUDA|HIP|ROCR|NVIDIA)_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|CUDA_LAUNCH_BLOCKING"
)


@dataclass(frozen=True)
class Markers:
    """`is_distributed`: one process for each GPU is started, and they talk to each other.

    `spawns`: processes are spawned rather than forked. `sets_device_once`: a process chooses
    its GPU, which "cuda" means from then on. `hides_gpus`: the file sets CUDA_VISIBLE_DEVICES,
    or what is read with it, `hides_all`: so that no GPU is left.
    `asks_accelerator`: it asks torch.accelerator for the device. `asks`: it asks the machine, the
    environment or a user about something.
    """

    is_distributed: bool = False
    spawns: bool = False
    sets_device_once: bool = False
    hides_gpus: bool = False
    hides_all: bool = False
    asks_accelerator: bool = False
    asks: bool = False


_NONE = Markers()


def markers(project: Project, path: str) -> Markers:
    """Return the markers of a file; none for one that does not parse."""
    text = project.sources[path].text
    if _SPEAKS.search(text) is None:
        return _NONE
    tree = project.tree(path)
    return _read(tree, text) if tree is not None else _NONE


@syntax.per_node
def _read(tree: ast.Module, text: str) -> Markers:
    found = Markers(asks=_asks(syntax.walk_with(tree, text, _SPEAKS)))
    for node in syntax.walk_with(tree, text, _WORDS):
        match node:
            case ast.Call(func=ast.Attribute() | ast.Name() as func):
                found = _of_call(found, ast.unparse(func), node)
            case ast.Assign(targets=[target], value=ast.Constant(value="" | "-1")):
                found = replace(found, hides_all=found.hides_all or _hides(target))
            case ast.Subscript(ctx=ast.Store()) if _hides(node):
                found = replace(found, hides_gpus=True)
    return found


def _asks(nodes: Iterable[ast.AST]) -> bool:
    """Tell whether some code asks the machine, the environment or a user about something."""
    for node in nodes:
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) if _ASKING.fullmatch(name):
                return True
            case ast.Import(names=names):
                if any(each.name.partition(".")[0] in _FORMS for each in names):
                    return True
            case ast.ImportFrom(module=str(name), names=names):
                if name.partition(".")[0] in _FORMS:
                    return True
                if any(_ASKING.fullmatch(each.name) for each in names):
                    return True
    return False


def hides(tree: ast.AST) -> bool:
    """Tell whether some code sets CUDA_VISIBLE_DEVICES, or what is read with it."""
    return any(map(_hides, syntax.walk(tree)))


def _hides(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(ctx=ast.Store(), value=owner, slice=ast.Constant(value=str(name))):
            return bool(VISIBLE.fullmatch(name)) and ast.unparse(owner).endswith("environ")
    return False


def _of_call(found: Markers, name: str, node: ast.Call) -> Markers:
    last = name.rpartition(".")[2]
    if last in ("init_process_group", "init_device_mesh"):
        return replace(found, is_distributed=True)
    if last in ("set_start_method", "get_context"):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(arg, ast.Constant) and arg.value == "spawn" for arg in given):
            return replace(found, spawns=True)
    if name.endswith(("cuda.set_device", "accelerator.set_device_index", "set_device_idx")):
        return replace(found, sets_device_once=True)
    if name.endswith("accelerator.current_accelerator"):
        return replace(found, asks_accelerator=True)
    return found
