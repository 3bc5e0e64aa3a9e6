"""Tensors of the accelerator in other processes: queues, pipes, pools, forks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))
from test_golden import GOLDEN  # noqa: E402
from test_processes import run  # noqa: E402

sys.path.pop(0)
POSTED = {one["mode"]: one["message"] for one in GOLDEN}


def test_a_queue_and_a_pipe_share_the_memory(tmp_path: Path) -> None:
    code = """
        import torch, torch.multiprocessing as mp
        from torch import nn
        def work(queue, pipe, done):
            model, x, (one, two), sparse = queue.get()
            print(type(model).__name__, model.weight.device, x, sparse.to_dense().tolist())
            print(one.untyped_storage().data_ptr() == two.untyped_storage().data_ptr())
            two.add_(10)
            with torch.no_grad():
                model.weight.add_(1)
            try:
                pipe.send(x.detach())
            except RuntimeError as error:
                print(error)
            print(torch.cuda.memory_allocated(), flush=True)
            pipe.send(x.detach().clone())
            done.wait(60)
        if __name__ == "__main__":
            context = mp.get_context("spawn")
            queue, done = context.Queue(), context.Event()
            mine, theirs = context.Pipe()
            process = context.Process(target=work, args=(queue, theirs, done))
            process.start()
            rows = torch.zeros(3, 2, device="cuda:1")
            model = nn.Linear(2, 1).cuda()
            before = model.weight.detach().clone()
            x = torch.arange(3.0, device="cuda", requires_grad=True)
            used = torch.cuda.memory_allocated()
            sparse = torch.eye(2, device="cuda").to_sparse()
            queue.put((model, x, (rows[1], rows[2]), sparse))
            rows[0] += 5  # at once: a queue pickles in a thread of its own
            print(mine.recv())
            print((model.weight - before).round().tolist(), rows)
            del sparse
            print(torch.cuda.memory_allocated() - used)
            done.set()
            process.join()
            print(process.exitcode)
        """
    done = run(tmp_path, code, virtual="cuda:2")
    assert done.stdout.splitlines() == [
        "Linear cuda:0 tensor([0., 1., 2.], device='cuda:0', requires_grad=True) "
        "[[1.0, 0.0], [0.0, 1.0]]",
        "True",
        POSTED["a tensor that goes on to a third process"],
        "0",
        "tensor([0., 1., 2.], device='cuda:0')",
        "[[1.0, 1.0]] tensor([[ 5.,  5.],",
        "        [ 0.,  0.],",
        "        [10., 10.]], device='cuda:1')",
        "0",
        "0",
    ], done.stderr


def test_the_second_time_is_the_same_memory(tmp_path: Path) -> None:
    code = """
        import torch, torch.multiprocessing as mp
        def work(there, back):
            one = there.get()
            two = there.get()
            same = one.untyped_storage().data_ptr() == two.untyped_storage().data_ptr()
            print(same, two.tolist())
            empty = there.get()
            print(empty.shape, empty.device, flush=True)
            back.put(None)
        if __name__ == "__main__":
            context = mp.get_context("spawn")
            there, back = context.Queue(), context.SimpleQueue()
            process = context.Process(target=work, args=(there, back))
            process.start()
            x = torch.zeros(4, device="cuda")
            there.put(x)
            x[1] = 7
            there.put(x.view(2, 2))
            there.put(torch.empty(0, 3, device="cuda"))
            back.get()
            process.join()
            for _ in range(100):  # what is sent and forgotten is given back
                there.put(torch.ones(1000, device="cuda"))
                there.get()
            print(torch.cuda.memory_allocated())
        """
    done = run(tmp_path, code)
    assert done.stdout.splitlines() == [
        "True [[0.0, 7.0], [0.0, 0.0]]",
        "torch.Size([0, 3]) cuda:0",
        "512",
    ], done.stderr


def test_a_pool_and_arguments(tmp_path: Path) -> None:
    code = """
        import torch, torch.multiprocessing as mp
        from concurrent.futures import ProcessPoolExecutor
        def total(x): return x.sum().item()
        def fill(rank, x): x[rank] = rank + 1
        if __name__ == "__main__":
            context = mp.get_context("spawn")
            rows = torch.ones(3, 4, device="cuda")
            with context.Pool(1) as pool:
                print(pool.map(total, list(rows)))
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                print(pool.submit(total, rows).result())
            mp.spawn(fill, (rows,), nprocs=2)
            print(rows[:, 0])
        """
    done = run(tmp_path, code)
    assert done.stdout.splitlines() == [
        "[4.0, 4.0, 4.0]",
        "12.0",
        "tensor([1., 2., 1.], device='cuda:0')",
    ], done.stderr


def test_a_producer_that_ends_early_is_warned(tmp_path: Path) -> None:
    code = """
        import torch, torch.multiprocessing as mp
        def work(queue, seen):
            x = torch.ones(2, device="cuda")
            queue.put(x)
            seen.wait(60)
        if __name__ == "__main__":
            context = mp.get_context("spawn")
            queue, seen = context.Queue(), context.Event()
            process = context.Process(target=work, args=(queue, seen))
            process.start()
            kept = queue.get()
            print(kept)
            seen.set()
            process.join()
        """
    done = run(tmp_path, code)
    assert done.stdout == "tensor([1., 1.], device='cuda:0')\n", done.stderr
    assert POSTED["a process that ends before others let go of its tensors"] in done.stderr
    quiet = run(tmp_path, code.replace("print(kept)", "del kept"))
    assert "Producer process" not in quiet.stderr


@pytest.mark.parametrize("used", ["x = torch.ones(1, device='cuda')", "torch.cuda.init()"])
def test_a_fork_after_initialisation_is_refused(tmp_path: Path, used: str) -> None:
    code = f"""
        import torch, torch.multiprocessing as mp
        def work():
            torch.zeros(1).cuda()
        if __name__ == "__main__":
            {used}
            process = mp.get_context("fork").Process(target=work)
            process.start()
            process.join()
            print(process.exitcode)
        """
    done = run(tmp_path, code)
    assert done.stdout == "1\n"
    assert (
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
        "multiprocessing, you must use the 'spawn' start method"
    ) in done.stderr


def test_events_cross_processes(tmp_path: Path) -> None:
    code = """
        import torch, torch.multiprocessing as mp
        def work(event):
            event.synchronize()
            print(event.query())
        if __name__ == "__main__":
            event = torch.cuda.Event(interprocess=True)
            event.record()
            process = mp.get_context("spawn").Process(target=work, args=(event,))
            process.start()
            process.join()
        """
    done = run(tmp_path, code)
    assert done.stdout == "True\n", done.stderr
