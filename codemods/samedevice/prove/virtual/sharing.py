"""Tensors of the accelerator that go to other processes: what torch calls CUDA IPC.

On a GPU the memory itself is shared: what one process writes, the other sees. Here a storage that
is sent moves to shared memory first, under all tensors that stand on it; the process that receives
it stands a storage of the accelerator over the same memory. torch's own code does the rest
(`torch.multiprocessing.reductions`).
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import multiprocessing.queues
import multiprocessing.reduction
import pickle
import sys
import weakref
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef, rebuild_event

from samedevice.prove.virtual import bridge
from samedevice.prove.virtual.memory import MEMORY
from samedevice.prove.virtual.patches import Patches
from samedevice.prove.virtual.state import STATE

_RECEIVED = (
    "Attempted to send CUDA tensor received from another process; this is not currently supported. "
    "Consider cloning before sending."
)
_ENDED = (
    "[W CudaIPCTypes.cpp:16] Producer process has been terminated before all shared CUDA tensors "
    "released. See Note [Sharing CUDA tensors]"
)
_FILES = b"/dev/shm"  # of Linux; elsewhere there is no such warning
_MOST = 1000  # names that are remembered before those that are gone are forgotten
_WORD = ctypes.sizeof(ctypes.c_void_p)
_Words = ctypes.c_void_p * 3  # of a storage: its memory, what owns that, how it is given back

# By the address of a storage: the host tensor in shared memory under it, or that it was received.
_hosts: dict[int, weakref.ref[Tensor]] = {}
_received: dict[int, StorageWeakRef] = {}
_sent: set[bytes] = set()  # names


def install(patches: Patches) -> None:
    """Give torch the C++ half of CUDA IPC.

    Raises RuntimeError if the storages of this torch have a form that is not known here.
    """
    offset = _offset()

    def share(storage: Any) -> tuple[Any, ...]:
        return _share(storage, offset)

    def release(cls: Any, handle: Any, *ignored: Any, **also: Any) -> None:
        _open(handle, 0)

    patches.set(torch.UntypedStorage, "_share_cuda_", share)
    patches.set(torch.UntypedStorage, "_new_shared_cuda", classmethod(_receive))
    patches.set(torch.UntypedStorage, "_release_ipc_counter_cuda", classmethod(release))
    patches.set(torch.cuda.Event, "ipc_handle", _name_event)
    patches.set(torch.cuda.Event, "from_ipc_handle", classmethod(_open_event))
    multiprocessing.reduction.register(torch.cuda.Event, _reduce_event)  # a class of its own here
    atexit.register(_warn_of_the_early_end)
    for kind in (multiprocessing.queues.Queue, multiprocessing.queues.JoinableQueue):
        patches.set(kind, "put", _sharing_first(vars(kind)["put"], offset))


def _offset() -> int:
    """Return where a storage keeps the three words of its memory, in bytes."""
    storage = torch.empty(1, device="cpu").untyped_storage()
    for at in range(0, 16 * _WORD, _WORD):
        if ctypes.c_void_p.from_address(storage._cdata + at).value == storage.data_ptr():
            return at
    raise RuntimeError("the storages of this torch have a form that is not known here")


def _share(storage: Any, offset: int) -> tuple[Any, ...]:
    """Return what `torch.UntypedStorage._share_cuda_` does, with names where CUDA has handles.

    Raises RuntimeError for a storage that was itself received, as CUDA does.
    """
    index, size = storage.device.index, storage.nbytes()
    if not size:
        return index, None, 0, 0, b"", 0, b"", False
    known = _received.get(storage._cdata)
    if known is not None and not known.expired():
        raise RuntimeError(_RECEIVED)
    shared = _in_shared_memory(storage, offset).untyped_storage()
    manager, name, _ = shared._share_filename_cpu_()
    shared._shared_incref()  # for the one who receives it: ours may be gone by then
    if len(_sent) >= _MOST:
        _sent.intersection_update([one for one in _sent if _users(one)])
    _sent.add(name)
    handle = (manager, name, size)
    return index, handle, size, 0, handle, 0, b"", False


def _in_shared_memory(storage: Any, offset: int) -> Tensor:
    """Return the host tensor in shared memory that a storage stands on; move it there first."""
    reference = _hosts.get(storage._cdata)
    host = reference() if reference is not None else None
    if host is not None:
        return host
    key, size, index = storage._cdata, storage.nbytes(), storage.device.index
    with torch.no_grad():
        old = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
        host = torch.empty(size, dtype=torch.uint8, device="cpu")
        host.untyped_storage()._share_filename_cpu_()
        host.copy_(bridge.to_host(old))
    other = bridge.to_device(host, index, counted=False).untyped_storage()
    mine, others = (_Words.from_address(one._cdata + offset) for one in (storage, other))
    mine[:], others[:] = list(others), list(mine)
    # The old memory stays as long: an operation in another thread may be at work on it. It is what
    # is counted, too.
    weakref.finalize(host, lambda kept: None, other)
    _hosts[key] = weakref.ref(host, lambda dead: _hosts.pop(key, None))
    return host


def _open(handle: tuple[bytes, bytes, int], offset: int) -> Any:
    """Return the storage of the host that a handle names, and take back what `_share` lent it."""
    manager, name, size = handle
    return torch.UntypedStorage._new_shared_filename_cpu(manager, name, size)._shared_decref()


def _receive(cls: Any, device: int, handle: Any, size: int, offset: int, *ignored: Any) -> Any:
    host = torch.empty(0, dtype=torch.uint8, device="cpu").set_(_open(handle, offset))
    storage = bridge.to_device(host, STATE.check(device), counted=False).untyped_storage()
    for key in [key for key, known in _received.items() if known.expired()]:
        del _received[key]
    _received[storage._cdata] = StorageWeakRef(storage)
    return storage


def _reduce_event(event: Any) -> tuple[Any, ...]:
    """Return what pickle keeps of an event, as a function of torch does whose name changes."""
    return rebuild_event, (event.device, event.ipc_handle())


def _name_event(event: Any) -> bytes:
    return b"everything is done when it is asked for"


def _open_event(cls: Any, device: Any, handle: bytes) -> Any:
    event = cls(interprocess=True)
    event.record()
    return event


def _warn_of_the_early_end() -> None:
    """Say what CUDA says when this process ends before others let go of what it sent them."""
    hosts = [reference() for reference in list(_hosts.values())]
    own = {host.untyped_storage()._share_filename_cpu_()[1] for host in hosts if host is not None}
    if any(_users(name) > (name in own) for name in _sent):
        print(_ENDED, file=sys.stderr)


def _users(name: bytes) -> int:
    """Return how many storages of any process stand on shared memory: its file begins with that."""
    try:
        with open(_FILES + name, "rb") as file:
            return int.from_bytes(file.read(4), sys.byteorder)
    except OSError:
        return 0


# -- queues -----------------------------------------------------------------------------------


class _Nowhere:
    def write(self, data: Any) -> int:
        return len(data)


class _Finder(pickle.Pickler):
    """Goes through an object as pickle does, and moves the accelerator's tensors in it."""

    def __init__(self, offset: int) -> None:
        super().__init__(_Nowhere(), pickle.HIGHEST_PROTOCOL)
        self._offset = offset

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, Tensor):
            if thing.device.type == STATE.device_type:
                dense = thing.layout is torch.strided and not thing.is_nested
                for part in (thing,) if dense else bridge.parts(thing):
                    _share_early(part, self._offset)
            return bool, ()
        if isinstance(thing, (torch.UntypedStorage, torch.TypedStorage)):
            return bool, ()
        return NotImplemented


def _share_early(tensor: Tensor, offset: int) -> None:
    storage = tensor.untyped_storage()
    if storage.nbytes() and storage._cdata not in _received:
        _in_shared_memory(storage, offset)


def _sharing_first(put: Any, offset: int) -> Any:
    """Return a queue's `put` that moves storages in the thread that calls it.

    Queues pickle in a thread of their own. A storage that moved there, while the program already
    writes to it, would lose what is written.
    """

    def sharing_put(self: Any, obj: Any, *args: Any, **kwargs: Any) -> None:
        if MEMORY.made() and not STATE.forked:
            with contextlib.suppress(Exception):  # what cannot be sent is for the queue to say
                _Finder(offset).dump(obj)
        put(self, obj, *args, **kwargs)

    return sharing_put
