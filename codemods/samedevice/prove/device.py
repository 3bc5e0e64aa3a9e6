"""Bring up the virtual accelerator for this process and those that it starts."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from pathlib import Path

from samedevice.prove import virtual


def bring_up(device_type: str, count: int) -> None:
    """Install it here; spawned processes find it in their environment.

    Raises RuntimeError or ValueError when this torch cannot carry it.
    """
    virtual.install(device_type, count)
    os.environ[virtual.VARIABLE] = f"{device_type}:{count}"
    hook_children()


def hook_children() -> None:
    """Have the processes that this one starts run samedevice's hook first. Needs no torch."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    hook = virtual.hook_directory()
    if hook not in paths:
        paths.insert(0, hook)
    package = str(Path(__file__).resolve().parents[2])
    # another interpreter has only torch
    if package not in paths and PathFinder.find_spec("samedevice") is None:
        paths.append(package)
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
