"""Scripts about the GPU itself: they try one out, measure one, or show how one is used.

They make up what they compute with, and learn nothing: without a GPU they are for nothing.
"""

from __future__ import annotations

import ast

from samedevice.inference.doings import doings
from samedevice.inference.trying import KEEPS, MADE_UP, READS, words_of
from samedevice.reading import syntax

#: What a GPU is asked for, and what is used of it that a CPU has not.
_ASKED = frozenset(
    ("get_device_capability", "get_device_name", "get_device_properties", "mem_get_info")
)
_OWN = frozenset(
    ("Stream", "cudart", "current_stream", "memory_allocated", "nvtx", "pin_memory", "wait_stream")
)
#: What has parameters, or trains them.
_LEARNS = frozenset(("backward", "grad", "nn", "parameters", "requires_grad"))
#: What asks whether there is one, or says where else to compute.
_CHOOSES = frozenset(("current_accelerator", "device_count", "is_available"))


@syntax.per_node
def about_gpus(tree: ast.Module) -> str:
    """Return what a script does with the GPU, "" if it is about something else."""
    words = words_of(tree.body)
    if not words & MADE_UP or any(map(READS.fullmatch, words)):
        return ""
    learns = bool(words & _LEARNS) or any(isinstance(n, ast.ClassDef) for n in syntax.walk(tree))
    kept = words - {"cuda"}
    if words & _ASKED and not (learns or "step" in words or any(map(KEEPS.fullmatch, kept))):
        return "it tries out the GPU itself"
    if words & _CHOOSES:
        return ""
    if words & _OWN and not learns:
        return "it shows how a GPU is used"
    trains = "zero_grad" in words or any(word.startswith("optim") for word in words)
    if "synchronize" in words and doings(tree).times and not (trains or _names_cpu(tree)):
        return "it measures how long a GPU takes"
    return ""


def _names_cpu(tree: ast.Module) -> bool:
    return any(isinstance(n, ast.Constant) and n.value == "cpu" for n in syntax.walk(tree))
