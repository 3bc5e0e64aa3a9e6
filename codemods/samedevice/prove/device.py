"""Bring up the virtual accelerator for this process and those that it starts. Needs torch."""

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
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    hook = virtual.hook_directory()
    if hook not in paths:
        paths.insert(0, hook)
    if PathFinder.find_spec("samedevice") is None:  # another interpreter, which has only torch
        paths.append(str(Path(__file__).resolve().parents[2]))
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
