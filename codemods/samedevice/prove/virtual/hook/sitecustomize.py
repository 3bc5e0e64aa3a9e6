"""Make a child process virtual: Python imports this module at its start.

It waits until the program imports torch, installs the virtual accelerator right after, and lets the
environment's own sitecustomize run as if this one were not there.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from typing import Any


class _AfterTorch(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self._loader
        from samedevice.prove.virtual import install_from_environment

        install_from_environment()


class _Watch(MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _AfterTorch(spec.loader)
        return spec


def _other_sitecustomize(here: str) -> None:
    """Run the sitecustomize that this one hides, if the environment has one."""
    path = [entry for entry in sys.path if os.path.realpath(entry or ".") != here]
    finder = importlib.machinery.PathFinder
    spec = finder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _main() -> None:
    here = os.path.dirname(os.path.realpath(__file__))
    wanted = {"SAMEDEVICE_VIRTUAL", "SAMEDEVICE_LEAD"} & os.environ.keys()
    if wanted and importlib.util.find_spec("samedevice") is None:
        sys.path.append(os.path.abspath(os.path.join(here, *[os.pardir] * 4)))
    if os.environ.get("SAMEDEVICE_LEAD"):  # a proof's: imports come from its copy
        from samedevice.prove.lead import install_from_environment

        install_from_environment()
    if os.environ.get("SAMEDEVICE_VIRTUAL"):
        if "torch" in sys.modules:
            raise ImportError("torch was imported before samedevice's hook")
        sys.meta_path.insert(0, _Watch())
    _other_sitecustomize(here)


_main()
