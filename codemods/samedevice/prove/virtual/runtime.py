"""The runtime of the accelerator: what `torch.cuda` asks of its C++ half.

`torch.cuda` is Python over functions named `torch._C._cuda_...`, which a CPU build lacks. Giving it
those makes its own code work: queries, contexts, streams, events, memory statistics and seeds
behave as the installed release writes them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import os
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from samedevice.prove.virtual import strict
from samedevice.prove.virtual.memory import MEMORY
from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE

_names = itertools.count(1)


_Stream: Any = torch.Stream
_Event: Any = torch.Event


class _StreamBase(_Stream):  # type: ignore[misc]
    """Half of `torch.cuda.Stream`: work is done when it is asked for, so nothing ever waits."""

    priority: int

    def __new__(
        cls,
        priority: int = 0,
        stream_id: int | None = None,
        device_index: int | None = None,
        device_type: int | None = None,
        stream_ptr: int | None = None,
        **ignored: Any,
    ) -> Any:
        made = _Stream.__new__(
            cls,
            stream_id=next(_names) if stream_id is None else stream_id,
            device_index=STATE.current() if device_index is None else device_index,
            device_type=_number() if device_type is None else device_type,
        )
        made.priority = priority
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @property
    def cuda_stream(self) -> int:
        return int(self.stream_id)

    sycl_queue = cuda_stream

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        if STATE.sync_mode:
            strict.wait()

    def is_capturing(self) -> bool:
        return False

    def __enter__(self) -> Any:
        self._outer = _current_stream(self.device_index), STATE.current()
        _set_stream(self.stream_id, self.device_index, self.device_type)
        return self

    def __exit__(self, *error: Any) -> None:
        stream, device = self._outer
        _set_stream(*stream)
        _set_device(device)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _StreamBase)
            and self.stream_id == other.stream_id
            and self.device_index == other.device_index
        )

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device_index))


class _EventBase(_Event):  # type: ignore[misc]
    """Half of `torch.cuda.Event`; a recorded one remembers the host's clock."""

    recorded: float | None
    timing: bool
    cuda_event: int

    def __new__(cls, enable_timing: bool = False, *args: Any, **kwargs: Any) -> Any:
        made = _Event.__new__(cls, device=torch.device(STATE.device_type, STATE.current()))
        made.recorded, made.timing, made.cuda_event = None, enable_timing, next(_names)
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        self.recorded = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: _EventBase) -> float:
        if not (self.timing and end.timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.recorded is None or end.recorded is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end.recorded - self.recorded) * 1e3


class _Properties:
    """What the virtual device says about itself."""

    name = "samedevice virtual device"
    major, minor = 8, 0
    multi_processor_count = 108
    max_threads_per_multi_processor = 2048
    max_threads_per_block = 1024
    warp_size = 32
    is_integrated = is_multi_gpu_board = 0
    regs_per_multiprocessor = 65536
    shared_memory_per_block = 49152
    shared_memory_per_block_optin = 166912
    shared_memory_per_multiprocessor = 167936
    L2_cache_size = 40 << 20
    gcnArchName = platform_name = driver_version = ""
    has_fp16 = has_fp64 = has_atomic64 = True
    uuid = "00000000-0000-0000-0000-000000000000"
    pci_bus_id = pci_device_id = pci_domain_id = 0

    @property
    def total_memory(self) -> int:
        return MEMORY.total

    def __repr__(self) -> str:
        return (
            f"_DeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count})"
        )


def _number() -> int:
    """Return the accelerator's number among torch's device types."""
    return int(getattr(torch._C._autograd.DeviceType, STATE.device_type.upper()).value)


def _in_bad_fork() -> bool:
    return STATE.forked


def _set_device(index: int) -> None:
    STATE.thread.device = STATE.check(index)


def _exchange_device(index: int) -> int:
    if index < 0:
        return -1
    previous = STATE.current()
    _set_device(index)
    return previous


def _maybe_exchange_device(index: int) -> int:  # a function of its own: Dynamo keeps a table
    return _exchange_device(index)


def _nothing(*args: Any, **kwargs: Any) -> None:
    pass


def _current_stream(index: int) -> tuple[int, int, int]:
    streams = STATE.thread.streams or {}
    return streams.get(index, 0), index, _number()


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    if STATE.thread.streams is None:
        STATE.thread.streams = {}
    STATE.thread.streams[device_index] = stream_id
    _set_device(device_index)


def _cudart() -> SimpleNamespace:
    return SimpleNamespace(
        cudaError=SimpleNamespace(success=0),
        cudaGetErrorString=lambda code: "no error",
        cudaMemGetInfo=MEMORY.info,
        cudaProfilerStart=lambda: 0,
        cudaProfilerStop=lambda: 0,
        cudaHostRegister=lambda *args: 0,
        cudaHostUnregister=lambda *args: 0,
        cudaStreamCreate=lambda *args: 0,
        cudaStreamDestroy=lambda *args: 0,
    )


def hide_real_devices() -> None:
    """Let CUDA find no GPU in this process, once and for all: the virtual one takes their place.

    Raises RuntimeError if the process uses one already.
    """
    if torch.cuda.is_initialized():
        raise RuntimeError("this process uses a real GPU already: there can be no virtual one")
    count = getattr(torch._C, "_cuda_getDeviceCount", None)
    if count is None:
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    try:
        count()  # CUDA reads the variable the first time that it is asked, and not again
    finally:
        del os.environ["CUDA_VISIBLE_DEVICES"]
        if visible is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = visible


def install(patches: Patches, generators: tuple[Any, ...]) -> None:
    """Make `torch.cuda` (or `torch.xpu`, `torch.mps`) and `torch.accelerator` know the devices."""
    if STATE.device_type == "mps":
        _install_mps(patches, generators[0])
    else:
        _install_module(patches, getattr(torch, STATE.device_type), generators)
    if STATE.device_type == "cuda":
        _install_cuda(patches)
    elif hasattr(torch._C, "_cuda_getDeviceCount"):
        patches.set(torch._C, "_cuda_getDeviceCount", lambda: 0)
    if STATE.device_type != "mps":
        patches.set(torch._C, "_mps_is_available", lambda: False)
    _install_accelerator(patches)


def _install_module(patches: Patches, module: Any, generators: tuple[Any, ...]) -> None:
    functions: dict[str, Callable[..., Any]] = {
        "init": _nothing,
        "getDeviceCount": STATE.visible,
        "getDevice": STATE.current,
        "setDevice": _set_device,
        "exchangeDevice": _exchange_device,
        "maybeExchangeDevice": _maybe_exchange_device,
        "isInBadFork": _in_bad_fork,
        "synchronize": _nothing,
        "emptyCache": _nothing,
        "ipc_collect": _nothing,
        "sleep": _nothing,
        "getCurrentStream": _current_stream,
        "getCurrentRawStream": lambda index: _current_stream(index)[0],
        "getDefaultStream": lambda index: (0, index, _number()),
        "setStream": _set_stream,
        "memoryStats": MEMORY.stats,
        "hostMemoryStats": dict,
        "getMemoryInfo": MEMORY.info,
        "resetPeakMemoryStats": MEMORY.reset_peak,
        "resetAccumulatedMemoryStats": _nothing,
        "resetPeakHostMemoryStats": _nothing,
        "resetAccumulatedHostMemoryStats": _nothing,
        "memorySnapshot": lambda *args: {"segments": [], "device_traces": []},
        "record_memory_history": _nothing,
        "record_memory_history_legacy": _nothing,
        "setMemoryFraction": MEMORY.set_fraction,
        "getMemoryFraction": MEMORY.fraction,
        "getAllocatorBackend": lambda: "native",
        "cudaCachingAllocator_is_enabled": lambda: True,
        "cudaCachingAllocator_enable": _nothing,
        "cudaCachingAllocator_set_allocator_settings": _nothing,
        "getArchFlags": lambda: "sm_80",
        "canDeviceAccessPeer": lambda device, peer: device != peer,
        "get_sync_debug_mode": strict.sync_mode,
        "set_sync_debug_mode": strict.set_sync_mode,
        "isCurrentStreamCapturing": lambda: False,
        "getCurrentBlasHandle": lambda: 0,
        "clearCublasWorkspaces": _nothing,
        "lock_mutex": _nothing,
        "unlock_mutex": _nothing,
    }
    for name, function in functions.items():
        patches.set(torch._C, f"_{STATE.device_type}_{name}", function)
    patches.set(torch._C, f"_has_{STATE.device_type}", True)
    properties = _Properties()
    patches.set(module, "_get_device_properties", lambda index: properties)
    patches.set(module, "_is_in_bad_fork", _in_bad_fork)
    patches.set(module, "_exchange_device", _exchange_device)
    patches.set(module, "_maybe_exchange_device", _maybe_exchange_device)
    patches.set(module, "device_count", STATE.visible)
    patches.set(module, "default_generators", generators)
    patches.set(module, "_queued_calls", [])
    patches.set(module, "_initialized", False)
    if hasattr(module, "is_current_stream_capturing"):
        patches.set(module, "is_current_stream_capturing", lambda: False)
    _install_streams(patches, module)


def _install_streams(patches: Patches, module: Any) -> None:
    """Define the module's streams and events once more, from torch's code, over halves of ours."""
    prefix = f"_{STATE.device_type.capitalize()}"
    patches.set(torch._C, f"{prefix}StreamBase", _StreamBase)
    patches.set(torch._C, f"{prefix}EventBase", _EventBase)
    streams = module.streams
    fresh = importlib.util.module_from_spec(streams.__spec__)
    streams.__spec__.loader.exec_module(fresh)
    for name in ("Stream", "ExternalStream", "Event"):
        if hasattr(fresh, name):
            for owner in (streams, module):
                patches.set(owner, name, getattr(fresh, name))


def _install_cuda(patches: Patches) -> None:
    runtime = _cudart()
    if torch.version.cuda is None:  # else that of the build, with which extensions compare theirs
        patches.set(torch.version, "cuda", "12.6")
        patches.set(torch._C, "_cuda_getCompiledVersion", lambda: 12060)
    patches.set(torch.cuda, "_cudart", runtime)
    patches.set(torch.cuda, "cudart", lambda: runtime)
    patches.set(torch.cuda, "_CudaDeviceProperties", _Properties)
    patches.set(torch.cuda.nccl, "is_available", lambda tensors: False)
    for name in ("CUDAGraph", "MemPool"):
        absent = type(name, (_Absent,), {})
        for owner in (torch.cuda, torch.cuda.graphs, torch.cuda.memory):
            if hasattr(owner, name):
                patches.set(owner, name, absent)
    patches.set(torch.cuda.nvtx, "_nvtx", _Nvtx())
    patches.set(torch.autograd.profiler, "emit_nvtx", _Ignored)
    # a build for CUDA would compile what it fuses of a trace for a GPU
    fuses = torch._C._jit_can_fuse_on_gpu()
    patches.switch(torch._C._jit_override_can_fuse_on_gpu, fuses, False)
    _profile_on_host(patches)
    cudnn = torch.backends.cudnn  # it is there, but serves no tensor: the CPU's kernels do
    patches.set(cudnn, "is_available", lambda: True)
    patches.set(cudnn, "is_acceptable", lambda tensor: False)
    patches.set(cudnn, "version", lambda: 90100)


class _Absent:
    """A class of `torch.cuda` that the virtual accelerator does not have."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"samedevice: the virtual accelerator has no torch.cuda.{cls.__name__}"
        )


class _Ignored(contextlib.nullcontext[None]):
    """A context that takes any options and does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


class _Nvtx:
    """Marks for a profiler that is not there."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args: 0


def _profile_on_host(patches: Patches) -> None:
    """Keep profilers from recording CUDA events: torch would complain of each operation."""
    profile = torch.autograd.profiler.profile
    init = profile.__init__

    @functools.wraps(init)
    def without_device(self: Any, *args: Any, **options: Any) -> None:
        if options.get("use_device") == "cuda":
            options["use_device"] = None
        options.pop("use_cuda", None)
        init(self, *args, **options)

    patches.set(profile, "__init__", without_device)


def _install_mps(patches: Patches, generator: Any) -> None:
    def available() -> bool:
        return STATE.visible() > 0

    functions: dict[str, Callable[..., Any]] = {
        "is_available": available,
        "is_on_macos_or_newer": lambda *version: True,
        "is_in_bad_fork": _in_bad_fork,
        "get_default_generator": lambda: generator,
        "deviceSynchronize": _nothing,
        "emptyCache": _nothing,
        "setMemoryFraction": _nothing,
        "currentAllocatedMemory": lambda: MEMORY.used(0),
        "driverAllocatedMemory": lambda: MEMORY.used(0),
        "recommendedMaxMemory": lambda: MEMORY.total,
        "get_name": lambda: _Properties.name,
    }
    for name, function in functions.items():
        patches.set(torch._C, f"_mps_{name}", function)
    patches.set(torch._C, "_has_mps", True)
    patches.set(torch.mps, "_is_in_bad_fork", _in_bad_fork)
    # Wrapped as torch's own is: torch 2.15 asks for what is inside.
    wrapped = functools.wraps(available)(lambda: available())
    patches.set(torch.backends.mps, "is_available", wrapped)


def _install_accelerator(patches: Patches) -> None:
    functions: dict[str, Callable[..., Any]] = {
        "getDeviceIndex": STATE.current,
        "setDeviceIndex": _set_device,
        "exchangeDevice": _exchange_device,
        "maybeExchangeDevice": _maybe_exchange_device,
        "synchronizeDevice": _nothing,
        "isAllocatorInitialized": lambda: True,
        "emptyCache": _nothing,
        "emptyHostCache": _nothing,
        "getDeviceStats": MEMORY.stats,
        "resetAccumulatedStats": _nothing,
        "resetPeakStats": MEMORY.reset_peak,
        "getMemoryInfo": MEMORY.info,
    }
    module = getattr(torch, STATE.device_type)
    if hasattr(module, "current_stream"):
        functions["getStream"] = lambda index: module.current_stream(index if index >= 0 else None)
        functions["setStream"] = lambda stream: module.set_stream(stream)
    for name, function in functions.items():
        patches.set(torch._C, f"_accelerator_{name}", function)
    patches.set(torch.accelerator, "device_count", STATE.visible)
    patches.set(torch.accelerator, "is_available", lambda: STATE.visible() > 0)
