"""Figures and axes: what is drawn is read on the host, and what they hand out are axes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import libraries
from samedevice.inference.models import Call, attributes, methods
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance
from samedevice.inference.values import Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Where the objects come from that draw.
_DRAWING = ("matplotlib.", "seaborn.")
#: The limits of colours: they are asked for their `.item()`, wherever they are: see
#: `matplotlib.colors._sanitize_extrema`.
LIMITS = frozenset(("vmax", "vmin"))
#: The axes of a grid, one after the other.
_GRID = frozenset(("flat", "T"))


def family(name: str) -> str:
    """Return what kind of object a function of a library of the host gives."""
    return "plot" if name.startswith(_DRAWING) else "hostobject"


@methods("plot")
def method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Draw: `ax.plot(x)`, `fig.add_subplot(1, 2, 1)`."""
    named = (given for key, given in call.kwargs.items() if key not in LIMITS)
    for value, where in (*call.args, *named):
        libraries.demand_host(run, value, where, call.scope, f"{owner.name}.{name}")
    return owner


@attributes("plot")
def attribute(run: Interpreter, owner: Instance, attr: str, spot: Location) -> Value | None:
    """Return the axes of a grid; else an attribute is a method."""
    return owner if attr in _GRID else None
