"""Bring up the virtual accelerator for this process and those that it starts. Needs torch."""

from __future__ import annotations

import os

from samedevice.prove import virtual


def bring_up(device_type: str, count: int) -> None:
    """Install it here; spawned processes find it in their environment.

    Raises RuntimeError or ValueError when this torch cannot carry it.
    """
    virtual.install(device_type, count)
    os.environ[virtual.VARIABLE] = f"{device_type}:{count}"
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    hook = virtual.hook_directory()
    if hook not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([hook, *filter(None, paths)])
