"""`torch.distributed` on the accelerator: what NCCL does between GPUs, Gloo does on their memory.

The collectives of torch are operations (`c10d::allreduce_`). Ours view the device tensors as host
tensors and call the operation again, for a group whose backend for the host is the accelerator's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from samedevice.prove.virtual.bridge import to_host
from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE

NAMESPACE = "c10d"
_VERSION = 2 << 32 | 27 << 16 | 3  # what a build without NCCL says that it has


def register(dispatch_key: str) -> list[torch.library.Library]:
    """Register the collectives under `dispatch_key`, if this torch has any."""
    library = torch.library.Library(NAMESPACE, "IMPL")
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("CPU"):
        namespace, _, short = name.partition("::")
        if namespace == NAMESPACE:
            op = getattr(torch.ops.c10d, short).default
            arguments = [argument.name for argument in op._schema.arguments]
            if "process_group" in arguments:
                kernel = _collective(op, arguments.index("process_group"))
                library.impl(short, kernel, dispatch_key)
    return [library]


def _collective(op: Any, place: int) -> Callable[..., Any]:
    def kernel(*args: Any) -> Any:
        devices: dict[int, Tensor] = {}  # by the host tensors that stand for them

        def host(value: Any) -> Any:
            if not isinstance(value, Tensor) or value.get_device() < 0:
                return value
            view = to_host(value)
            devices[id(view)] = value
            return view

        hosts = list(tree_map(host, args))
        hosts[place] = _on_host(args[place])
        results = op(*hosts)
        return tree_map(lambda value: devices.get(id(value), value), results)

    return kernel


def _on_host(group: Any) -> Any:
    """Return a group whose backend for the host is that of `group` for the accelerator."""
    ProcessGroup: Any = torch._C._distributed_c10d.ProcessGroup
    opened = ProcessGroup.unbox(group)
    backend = opened._get_backend(torch.device(STATE.device_type))
    other = ProcessGroup(opened.rank(), opened.size())
    other._register_backend(torch.device("cpu"), ProcessGroup.BackendType.CUSTOM, backend)
    return other.boxed()


def install_nccl(patches: Patches) -> None:
    """Let `init_process_group("nccl")` work: a Gloo backend that is called so."""
    core = getattr(torch._C, "_distributed_c10d", None)
    gloo = getattr(core, "ProcessGroupGloo", None)
    if gloo is None:
        return

    class Options:
        """What a program may set; Gloo uses the time limit only."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._timeout = timedelta(minutes=10)
            self.is_high_priority_stream = False

    class ProcessGroupNCCL(gloo):  # type: ignore[misc, valid-type]
        """Gloo under the name of NCCL."""

        def __init__(self, store: Any, rank: int, size: int, options: Any, *more: Any) -> None:
            super().__init__(store, rank, size, timeout=options._timeout)

    ProcessGroupNCCL.Options = Options
    changes = {
        "ProcessGroupNCCL": ProcessGroupNCCL,
        "_DEFAULT_PG_NCCL_TIMEOUT": timedelta(minutes=10),
    }
    if hasattr(core, "ProcessGroupNCCL2"):  # what builds for CUDA make since torch 2.15
        changes["ProcessGroupNCCL2"] = ProcessGroupNCCL
    for name, value in changes.items():
        patches.set(core, name, value)
    if not hasattr(torch._C, "_nccl_version"):
        patches.set(torch._C, "_nccl_version", lambda: _VERSION)
        patches.set(torch._C, "_nccl_version_suffix", lambda: b"")
    loaded = sys.modules.get("torch.distributed.distributed_c10d")
    if loaded is not None:
        patches.set(loaded, "ProcessGroupNCCL", ProcessGroupNCCL)
        if "ProcessGroupNCCL2" in changes:
            patches.set(loaded, "ProcessGroupNCCL2", ProcessGroupNCCL)
        patches.set(loaded, "_NCCL_AVAILABLE", True)
        patches.set(loaded, "default_pg_nccl_timeout", timedelta(minutes=10))
