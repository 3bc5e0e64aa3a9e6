"""How code at a place can name its device, where a resolver goes, and the edits that define one."""

from __future__ import annotations

from samedevice.inference import Solution
from samedevice.inference.focus import ProgramSummary
from samedevice.repair.devices import DeviceNames
from samedevice.repair.movers import BatchMovers
from samedevice.repair.resolvers import Resolvers

__all__ = ["BatchMovers", "DeviceNames", "batch_movers", "device_names", "rest"]


def device_names(solution: Solution) -> DeviceNames:
    """Return the names for devices in a program."""
    return solution.view(DeviceNames)


def batch_movers(solution: Solution) -> BatchMovers:
    """Return the functions that move batches in a program."""
    return solution.view(BatchMovers)


def rest(solution: Solution) -> ProgramSummary:
    """Return what an inference of some of this program has to know of all of it."""
    resolvers = solution.view(Resolvers)
    program = frozenset(solution.programs.files())
    interpreter = solution.interpreter
    return ProgramSummary(
        interpreter.callers(),
        interpreter.work,
        interpreter.begun,
        program in solution.policy.active(),
        program in solution.policy.naming(),
        solution.policy.placement_is_deliberate(program),
        interpreter.default_device,
        interpreter.class_devices,
        solution.policy.offering(),
        solution.policy.choosing(),
        frozenset(resolvers.needing().get(program, ())),
        resolvers.lent,
    )
