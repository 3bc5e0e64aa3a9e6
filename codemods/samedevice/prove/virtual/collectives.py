"""`torch.distributed` over NCCL: the collectives of gloo, on the memory behind virtual tensors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor

from samedevice.prove.virtual import bridge
from samedevice.prove.virtual.patches import Patches


def _host(value: Any) -> Any:
    """Return the host's view of tensors, also of those in lists; refuse those on the host."""
    if isinstance(value, Tensor):
        if not value.is_cuda:
            raise RuntimeError("No backend type associated with device type cpu")
        return bridge.to_host(value.detach())
    if isinstance(value, list | tuple):
        return [_host(member) for member in value]
    return value


def _forwarded(name: str) -> Any:
    def collective(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.gloo, name)(*map(_host, args), **kwargs)

    return collective


class _Options:
    """What a program may set and only NCCL reads."""

    is_high_priority_stream = False
    _timeout = None
    split_from = None
    split_color = 0
    global_ranks_in_group: Sequence[int] = ()
    group_name = ""


def _process_group() -> type:
    """Return the class that stands for `ProcessGroupNCCL`."""
    from torch.distributed.distributed_c10d import ProcessGroup, ProcessGroupGloo

    class ProcessGroupNCCL(ProcessGroup):  # type: ignore[misc]
        """A group of processes with a virtual accelerator each."""

        Options = _Options

        def __init__(self, store: Any, rank: int, size: int, options: Any = None) -> None:
            super().__init__(rank, size)
            self.gloo = ProcessGroupGloo(store, rank, size)
            self.name = ""

        def _set_group_name(self, name: str) -> None:
            self.name = name

        @property
        def group_name(self) -> str:
            return self.name

        def getBackendName(self) -> str:
            return "nccl"

        def _set_sequence_number_for_group(self) -> None:
            self.gloo._set_sequence_number_for_group()

        def barrier(self, opts: Any = None) -> Any:
            return self.gloo.barrier()

        def shutdown(self) -> None:
            pass

        def abort(self) -> None:
            pass

    for name in (
        "allgather", "allgather_coalesced", "_allgather_base", "allreduce", "allreduce_coalesced",
        "alltoall", "alltoall_base", "broadcast", "gather", "recv", "reduce", "reduce_scatter",
        "_reduce_scatter_base", "scatter", "send",
    ):  # fmt: skip
        setattr(ProcessGroupNCCL, name, _forwarded(name))
    return ProcessGroupNCCL


def install(patches: Patches) -> None:
    """Give `torch.distributed` the backend "nccl"."""
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        return
    from torch.distributed import distributed_c10d
    patches.set(distributed_c10d, "ProcessGroupNCCL", _process_group())
    patches.set(distributed_c10d, "_NCCL_AVAILABLE", True)
    patches.set(distributed_c10d, "default_pg_nccl_timeout", timedelta(minutes=10))
    patches.set(torch._C, "_nccl_version", lambda: (2 << 32) | (21 << 16) | 5)
    patches.set(torch._C, "_nccl_version_suffix", lambda: b"")
    # it would read the clocks of CUDA's events
    logger = torch._C._distributed_c10d.Logger
    patches.set(logger, "set_runtime_stats_and_log", lambda self: None)
