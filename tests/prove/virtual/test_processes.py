"""Whole processes: the environment variable, children, forked workers, refusals at installation."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
from samedevice.prove.virtual import VARIABLE, hook_directory  # noqa: E402

PACKAGES = Path(__file__).parents[3] / "codemods"


def run(
    tmp_path: Path, code: str, *, virtual: str | None = "cuda:1", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program as `samedevice run` starts one: through the hook alone."""
    script = tmp_path / "main.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    paths = [hook_directory() if virtual else "", str(PACKAGES)]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment}
    variables.pop(VARIABLE, None)
    if virtual:
        variables[VARIABLE] = virtual
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_environment_makes_a_process_virtual(tmp_path: Path) -> None:
    done = run(
        tmp_path, "import torch; print(torch.ones(2).cuda().device, torch.cuda.device_count())"
    )
    assert done.stdout == "cuda:0 1\n", done.stderr


def test_two_devices(tmp_path: Path) -> None:
    code = """
        import torch
        from torch import nn
        a, b = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
        print(torch.cuda.device_count(), (a.to("cuda:1") + b).device)
        try:
            a + b
        except RuntimeError as error:
            print(error)
        with torch.cuda.device(1):
            print(torch.ones(1, device="cuda").device, torch.cuda.current_device())
        w = b.requires_grad_()
        (w * 2).sum().backward()
        (w.to("cuda:0") * a).sum().backward()
        print(w.grad)
        torch.manual_seed(0)
        m = nn.Linear(3, 2).cuda()
        x = torch.randn(4, 3).cuda()
        y = nn.DataParallel(m)(x)
        y.sum().backward()
        print(y.device, torch.allclose(y, m(x)), m.weight.grad.device)
        try:
            m(x.to(1))
        except RuntimeError as error:
            print(str(error).partition(" (")[0])
        print(torch.cuda.get_device_properties(1).name, torch.cuda.memory_allocated(1) > 0)
        image, weight, bias = torch.rand(1, 2, 5, 5).cuda(), torch.rand(2, 2, 3, 3), torch.rand(2)
        for there in ((weight.to(1), bias.cuda()), (weight.cuda(), bias.to(1))):
            try:
                nn.functional.conv2d(image, *there)
            except RuntimeError as error:
                print(str(error))
        print([torch.cuda.can_device_access_peer(0, 1), torch.cuda.can_device_access_peer(1, 1)])
        try:
            torch.cuda.can_device_access_peer(0, 5)
        except AssertionError as error:
            print(error)
        """
    done = run(tmp_path, code, virtual="cuda:2")
    assert done.stdout.splitlines() == [
        "2 cuda:1",
        "Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:0 and cuda:1!",
        "cuda:1 1",
        "tensor([3., 3.], device='cuda:1')",
        "cuda:0 True cuda:0",
        "Expected all tensors to be on the same device, but got mat1 is on cuda:1, different from "
        "other tensors on cuda:0",
        "samedevice virtual device True",
        "Expected all tensors to be on the same device, but got weight is on cuda:1, different "
        "from other tensors on cuda:0 (when checking argument in method "
        "wrapper_CUDA__cudnn_convolution)",
        "Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:0 and cuda:1!",
        "[True, False]",
        "Invalid peer device id",
    ], done.stderr


def test_forked_workers_may_not_touch_it(tmp_path: Path) -> None:
    code = """
        import torch
        from torch.utils.data import DataLoader, Dataset
        class Data(Dataset):
            def __len__(self): return 2
            def __getitem__(self, i): return torch.ones(2, device="cuda") * i
        if __name__ == "__main__":
            torch.ones(1, device="cuda")
            for x in DataLoader(Data(), 1, num_workers=1, multiprocessing_context="fork"):
                print(x)
        """
    done = run(tmp_path, code)
    assert (
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
        "multiprocessing, you must use the 'spawn' start method"
    ) in done.stderr
    assert done.returncode == 1


def test_forked_workers_may_not_use_tensors_of_the_parent(tmp_path: Path) -> None:
    code = """
        import torch
        from torch.utils.data import DataLoader, Dataset
        class Data(Dataset):
            x = torch.ones(2, 3, device="cuda")
            def __len__(self): return 2
            def __getitem__(self, i): return self.x[i] * 2
        if __name__ == "__main__":
            for x in DataLoader(Data(), 1, num_workers=1, multiprocessing_context="fork"):
                print(x)
        """
    done = run(tmp_path, code)
    assert "CUDA error: initialization error" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_that_stay_on_the_host_work(tmp_path: Path, method: str) -> None:
    code = f"""
        import torch
        from torch.utils.data import DataLoader, TensorDataset
        if __name__ == "__main__":
            model = torch.nn.Linear(3, 1).cuda()
            data = TensorDataset(torch.ones(4, 3))
            options = dict(num_workers=2, multiprocessing_context="{method}", pin_memory=True)
            for x, in DataLoader(data, 2, **options):
                model(x.cuda()).sum().backward()
                print(x.is_pinned(), x.cuda().device)
        """
    done = run(tmp_path, code)
    assert done.stdout == "True cuda:0\n" * 2, done.stderr


def test_spawned_processes_are_virtual(tmp_path: Path) -> None:
    code = """
        import torch, torch.multiprocessing as mp
        def work(rank, queue):
            x = torch.ones(2, device="cuda", requires_grad=True)
            (x * rank).sum().backward()
            queue.put(str(x.grad))
        if __name__ == "__main__":
            torch.ones(1).cuda()
            context = mp.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=work, args=(3, queue))
            process.start()
            print(queue.get())
            process.join()
        """
    done = run(tmp_path, code)
    assert done.stdout == "tensor([3., 3.], device='cuda:0')\n", done.stderr


def test_subprocesses_are_virtual(tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        code = "import torch; print(torch.cuda.is_available())"
        print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        """
    done = run(tmp_path, code)
    assert done.stdout.strip() == "True", done.stderr


def test_another_sitecustomize_still_runs(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("print('theirs')\n")
    paths = os.pathsep.join([hook_directory(), str(other), str(PACKAGES)])
    done = run(tmp_path, "import torch; print(torch.cuda.is_available())", PYTHONPATH=paths)
    assert done.stdout == "theirs\nTrue\n", done.stderr


def test_a_child_that_needs_no_torch_does_not_load_it(tmp_path: Path) -> None:
    done = run(tmp_path, "import sys; print('torch' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


def test_hidden_devices(tmp_path: Path) -> None:
    code = "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"
    assert run(tmp_path, code, CUDA_VISIBLE_DEVICES="").stdout == "False 0\n"
    done = run(tmp_path, code, virtual="cuda:2", CUDA_VISIBLE_DEVICES="1")
    assert done.stdout == "True 1\n"


def test_a_checkpoint_from_the_accelerator_needs_map_location_on_a_cpu_machine(
    tmp_path: Path,
) -> None:
    saved = run(tmp_path, "import torch; torch.save(torch.ones(2).cuda(), 'x.pt')")
    assert saved.returncode == 0, saved.stderr
    done = run(tmp_path, "import torch; torch.load('x.pt')", virtual=None)
    assert (
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False"
        in done.stderr
    )
    done = run(
        tmp_path, "import torch; print(torch.load('x.pt', map_location='cpu'))", virtual=None
    )
    assert done.stdout == "tensor([1., 1.])\n", done.stderr


def test_install_is_idempotent_and_can_be_undone(tmp_path: Path) -> None:
    code = """
        import torch
        from samedevice.prove import virtual
        before = torch.Generator, torch.cuda.is_available, torch.manual_seed
        a = virtual.install("cuda", 2)
        assert virtual.install("cuda", 2) is a is virtual.installed()
        try:
            virtual.install("cuda", 1)
        except ValueError as error:
            print(error)
        x = torch.ones(2, device="cuda", requires_grad=True)
        (x * 2).sum().backward()
        del x
        a.uninstall()
        assert virtual.installed() is None and not torch.cuda.is_available()
        assert before == (torch.Generator, torch.cuda.is_available, torch.manual_seed)
        virtual.install("cuda", 2)
        print(torch.ones(2, device="cuda").sum().item())
        """
    done = run(tmp_path, code, virtual=None)
    assert done.stdout == "this process has 2 virtual cuda devices already\n2.0\n", done.stderr


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("tpu:1", "no virtual 'tpu' devices"),
        ("cuda:many", "expected a device type and a number, like cuda:1"),
        ("cuda:0", "0 devices: there can be one to 8"),
    ],
)
def test_what_cannot_be_installed_is_refused(tmp_path: Path, value: str, words: str) -> None:
    done = run(tmp_path, "import torch", virtual=value)
    assert words in done.stderr and done.returncode == 1


def test_values_do_not_depend_on_the_place(tmp_path: Path) -> None:
    code = """
        import sys, torch
        from torch import nn
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(1)
        torch.cuda.manual_seed_all(1)
        m = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1)).to(device)
        o = torch.optim.AdamW(m.parameters())
        for _ in range(20):
            x = torch.randn(16, 4, device=device)
            loss = (m(x) - x.sum(1, keepdim=True)).pow(2).mean()
            o.zero_grad(); loss.backward(); o.step()
        print(repr(loss.item()))
        """
    on_device, on_host = run(tmp_path, code), run(tmp_path, code, virtual=None)
    assert on_device.stdout == on_host.stdout != "", on_device.stderr


@pytest.mark.parametrize("device", ["mps", "xpu"])
def test_other_accelerators(tmp_path: Path, device: str) -> None:
    code = f"""
        import io, torch
        from torch import nn
        D = "{device}"
        print(torch.accelerator.current_accelerator(), torch.cuda.is_available())
        print(torch.backends.mps.is_available() if D == "mps" else torch.xpu.is_available())
        x = torch.ones(2, 3, device=D)
        print(x.device, x.to(D) is x, type(x) is torch.Tensor, torch.Generator(D).device.type)
        def train(device):
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 2)).to(device)
            optimizer = torch.optim.Adam(model.parameters())
            x = torch.randn(5, 3).to(device)
            for _ in range(3):
                loss = model(x).pow(2).mean()
                optimizer.zero_grad(); loss.backward(); optimizer.step()
            return loss.item()
        print(train(D) == train("cpu"))
        file = io.BytesIO(); torch.save(x, file); file.seek(0)
        print(torch.load(file).device, torch.empty(0, device=D).device)
        for attempt in ("x + torch.ones(2, 3)", "x @ torch.ones(3, 2)", "x.numpy()", "x.double()"):
            try:
                eval(attempt); print("fine")
            except Exception as error:
                print(error)
        """
    done = run(tmp_path, code, virtual=f"{device}:1")
    common = (
        "Placeholder storage has not been allocated on MPS device!"
        if device == "mps"
        else "Expected all tensors to be on the same device, but got mat2 is on cpu, different "
        "from other tensors on xpu:0 (when checking argument in method wrapper_XPU_mm)"
    )
    double = (
        "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support "
        "float64. Please use float32 instead."
        if device == "mps"
        else "fine"
    )
    assert done.stdout.splitlines() == [
        f"{device} False",
        "True",
        f"{device}:0 True True {device}",
        "True",
        f"{device}:0 {device}:0",
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{device}:0 and cpu!",
        common,
        f"can't convert {device}:0 device type tensor to numpy. "
        "Use Tensor.cpu() to copy the tensor to host memory first.",
        double,
    ], done.stderr


def test_it_says_what_it_lacks(tmp_path: Path) -> None:
    code = """
        import torch
        attempts = (
            "torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8).cuda()",
            "torch.quantize_per_tensor(torch.ones(3, device='cuda'), 0.1, 0, torch.quint8)",
            "torch.cuda.CUDAGraph()",
            "torch.cuda.make_graphed_callables(lambda x: x, (torch.ones(1, device='cuda'),))",
        )
        for attempt in attempts:
            try:
                eval(attempt); print("fine")
            except NotImplementedError as error:
                print(error)
        """
    done = run(tmp_path, code)
    begin = "samedevice: the virtual accelerator has no"
    assert done.stdout.splitlines() == [
        f"{begin} quantized tensors",
        f"{begin} quint8 tensors",
        f"{begin} torch.cuda.CUDAGraph",
        f"{begin} torch.cuda.CUDAGraph",
    ], done.stderr


@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="this torch has no Gloo")
def test_distributed_training_under_the_name_of_nccl(tmp_path: Path) -> None:
    code = """
        import os, sys
        import torch, torch.distributed as dist, torch.multiprocessing as mp
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        def work(rank, file):
            torch.cuda.set_device(rank)
            dist.init_process_group("nccl", f"file://{file}", rank=rank, world_size=2)
            device = torch.device("cuda", rank)
            torch.manual_seed(rank)
            model = DistributedDataParallel(nn.Linear(3, 1).to(device), device_ids=[rank])
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for step in range(3):
                optimizer.zero_grad()
                model(torch.full((2, 3), float(rank + step), device=device)).sum().backward()
                optimizer.step()
            weights = model.module.weight.detach()
            seen = [torch.zeros_like(weights) for _ in range(2)]
            dist.all_gather(seen, weights)
            model.zero_grad()
            model(torch.full((2, 3), rank + 1.0, device=device)).sum().backward()
            total = torch.tensor([rank + 1.0], device=device)
            dist.all_reduce(total)
            names = [None, None]
            dist.all_gather_object(names, f"rank {rank}")
            dist.barrier(device_ids=[rank])
            try:
                dist.all_reduce(torch.ones(1))
            except RuntimeError as error:
                refusal = str(error).partition(chr(10))[0]
            if rank == 0:
                print(dist.get_backend(), torch.equal(seen[0], seen[1]), seen[1].device)
                print(total.item(), model.module.weight.grad.tolist(), names, refusal)
            dist.destroy_process_group()
        if __name__ == "__main__":
            mp.spawn(work, (os.path.abspath("store"),), nprocs=2)
        """
    done = run(tmp_path, code, virtual="cuda:2")
    assert done.stdout.splitlines() == [
        "nccl True cuda:0",
        "3.0 [[3.0, 3.0, 3.0]] ['rank 0', 'rank 1'] "
        "No backend type associated with device type cpu",
    ], done.stderr


def test_kernels_for_cuda_that_a_library_brings_are_replaced(tmp_path: Path) -> None:
    code = """
        from pathlib import Path
        import torch
        library = torch.library.Library("demo", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        def kernel(x):
            raise RuntimeError("this would have touched a GPU")
        library.impl("twice", kernel, "CUDA")
        shipped = next(Path(torch.__file__).parent.glob("lib/libtorch_cpu.*"))
        torch.ops.load_library(str(shipped))  # as an extension that has just registered the above
        print(torch.ops.demo.twice(torch.ones(2, device="cuda")))
        """
    done = run(tmp_path, code)
    assert done.stdout == "tensor([2., 2.], device='cuda:0')\n", done.stderr
