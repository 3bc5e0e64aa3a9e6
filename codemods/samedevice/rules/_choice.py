"""What asks for the accelerator where a device is written out."""

from __future__ import annotations

import ast

from samedevice.finding import Fix
from samedevice.inference import Solution
from samedevice.inference.nodes import Location, Place
from samedevice.inference.sites import SiteGroup
from samedevice.repair import device_names
from samedevice.rules._build import edit

#: Where torch answers whether there is a vendor's accelerator.
AVAILABLE = {"cuda": "cuda", "mps": "backends.mps", "xpu": "xpu"}


def is_accelerator(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a place names the accelerator that the program uses."""
    return solution.given(group.first.node) is Place.CENTRAL


def choice(solution: Solution, spot: Location) -> Fix | None:
    """Return the fix that asks for the accelerator where it is written out.

    A number is kept: who wrote it chose that GPU, and `torch.cuda.set_device` needs one.
    """
    torch, imports = device_names(solution).imports.torch(spot.path)
    vendor, code, quote = "cuda", "{}", '"'
    if isinstance(spot.node, ast.Constant) and isinstance(spot.node.value, str):
        vendor = spot.node.value.partition(":")[0].replace("cpu", "cuda")
        quote = "'" if solution.code(spot).endswith("'") else '"'
        if spot.node.value.startswith("cpu"):
            code = f"{quote}{vendor}{quote}"
    if not torch or vendor not in AVAILABLE:
        return None
    called = isinstance(spot.node, ast.Call) and ast.unparse(spot.node.func).endswith("device")
    other = f"{quote}cpu{quote}"
    if called:  # torch.device("cuda", index)
        other = f"{torch}.device({other})"
    code = f"{code} if {torch}.{AVAILABLE[vendor]}.is_available() else {other}"
    if isinstance(solution.programs.parents(spot.path).get(spot.node), ast.BoolOp):
        code = f"({code})"
    # What spells a device in some way is no device to who only sees its text.
    erasure = "cuda-only-api" if isinstance(spot.node, ast.Call) and not called else ""
    return Fix((edit(solution, spot, "replace", code=code),), imports=imports, erasure=erasure)
