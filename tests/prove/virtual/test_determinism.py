"""`torch.use_deterministic_algorithms` on the virtual accelerator, beside torch's docstring of it.

The docstring lists what raises and what does not. Both lists are read here: what a later release
adds to one has no case below, and the test fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

PACKAGES = Path(__file__).parents[3] / "codemods"
START = """
from samedevice.prove.virtual import install
install("cuda")
import torch
from torch import nn
F = nn.functional
D = "cuda"
torch.use_deterministic_algorithms(True)
def g(*shape): return torch.rand(*shape, device=D, requires_grad=True)
def x(*shape): return torch.rand(*shape, device=D)
def zeros(*shape): return torch.zeros(*shape, dtype=torch.long, device=D)
"""

#: By the name in the docstring: what is called, and the name that CUDA's kernel has in the message.
#: None where the docstring is behind the kernels.
RAISES = {
    "AvgPool3d": ("nn.AvgPool3d(1)(g(1, 2, 3, 3, 3)).sum().backward()", "avg_pool3d_backward_cuda"),
    "AdaptiveAvgPool2d": (
        "nn.AdaptiveAvgPool2d(2)(g(1, 2, 5, 5)).sum().backward()",
        "adaptive_avg_pool2d_backward_cuda",
    ),
    "AdaptiveAvgPool3d": (
        "nn.AdaptiveAvgPool3d(2)(g(1, 2, 5, 5, 5)).sum().backward()",
        "adaptive_avg_pool3d_backward_cuda",
    ),
    "AdaptiveMaxPool2d": (
        "nn.AdaptiveMaxPool2d(2)(g(1, 2, 5, 5)).sum().backward()",
        "adaptive_max_pool2d_backward_cuda",
    ),
    "FractionalMaxPool2d": (
        "nn.FractionalMaxPool2d(2, output_ratio=.5)(g(1, 2, 5, 5)).sum().backward()",
        "fractional_max_pool2d_backward_cuda",
    ),
    "FractionalMaxPool3d": (
        "nn.FractionalMaxPool3d(2, output_ratio=.5)(g(1, 2, 5, 5, 5)).sum().backward()",
        "fractional_max_pool3d_backward_cuda",
    ),
    "MaxUnpool1d": ("nn.MaxUnpool1d(2)(x(1, 1, 2), zeros(1, 1, 2))", "max_unpooling2d_forward_out"),
    "MaxUnpool2d": (
        "nn.MaxUnpool2d(2)(x(1, 1, 2, 2), zeros(1, 1, 2, 2))",
        "max_unpooling2d_forward_out",
    ),
    "MaxUnpool3d": (
        "nn.MaxUnpool3d(2)(x(1, 1, 2, 2, 2), zeros(1, 1, 2, 2, 2))",
        "max_unpooling3d_forward_out",
    ),
    "interpolate": (
        "F.interpolate(g(1, 1, 4), 8, mode='linear').sum().backward()",
        "upsample_linear1d_backward_out_cuda",
    ),
    "ReflectionPad1d": (
        "nn.ReflectionPad1d(1)(g(1, 2, 3)).sum().backward()",
        "reflection_pad1d_backward_out_cuda",
    ),
    "ReflectionPad2d": None,  # has a deterministic kernel since 2.6 (pytorch/pytorch#136241)
    "ReflectionPad3d": (
        "nn.ReflectionPad3d(1)(g(1, 2, 3, 3, 3)).sum().backward()",
        "reflection_pad3d_backward_out_cuda",
    ),
    "NLLLoss": (
        "F.nll_loss(g(1, 3, 2, 2), zeros(1, 2, 2))",
        "nll_loss2d_forward_out_cuda_template",
    ),
    "CTCLoss": (
        "F.ctc_loss(g(5, 1, 4).log_softmax(2), zeros(1, 2) + 1, torch.tensor([5]),"
        " torch.tensor([2])).backward()",
        "ctc_loss_backward_gpu",
    ),
    "EmbeddingBag": (
        "nn.EmbeddingBag(4, 2, mode='max', device=D)(zeros(1, 2)).sum().backward()",
        "embedding_bag_backward_cuda_max",
    ),
    "put_": ("x(3).put_(zeros(1), x(1), accumulate=True)", "put_"),
    "histc": ("torch.histc(x(4))", "_histc_cuda"),
    "bincount": ("torch.bincount(zeros(3), x(3))", "_bincount_cuda"),
    "median": ("x(3, 3).median(1)", "median CUDA with indices output"),
    "grid_sample": (
        "F.grid_sample(g(1, 1, 3, 3), torch.zeros(1, 2, 2, 2, device=D)).sum().backward()",
        "grid_sampler_2d_backward_cuda",
    ),
    "cumsum": None,  # the same (pytorch/pytorch#136224)
    "scatter_reduce": (
        "x(3).scatter_reduce_(0, zeros(3), x(3), 'prod')",
        "scatter_reduce_cuda_prod_",
    ),
    "resize_": None,  # of quantized tensors, which the accelerator does not have
}

#: What does not raise: by the name in the docstring's other list, and what is beside the above.
ENDS = {
    "Conv1d": "nn.Conv1d(1, 1, 2).cuda()(g(1, 1, 3)).sum().backward()",
    "Conv2d": "nn.Conv2d(1, 1, 2).cuda()(g(1, 1, 3, 3)).sum().backward()",
    "Conv3d": "nn.Conv3d(1, 1, 2).cuda()(g(1, 1, 3, 3, 3)).sum().backward()",
    "ConvTranspose1d": "nn.ConvTranspose1d(1, 1, 2).cuda()(g(1, 1, 3)).sum().backward()",
    "ConvTranspose2d": "nn.ConvTranspose2d(1, 1, 2).cuda()(g(1, 1, 3, 3)).sum().backward()",
    "ConvTranspose3d": "nn.ConvTranspose3d(1, 1, 2).cuda()(g(1, 1, 3, 3, 3)).sum().backward()",
    "ReplicationPad1d": "nn.ReplicationPad1d(1)(g(1, 2, 3)).sum().backward()",
    "ReplicationPad2d": "nn.ReplicationPad2d(1)(g(1, 2, 3, 3)).sum().backward()",
    "ReplicationPad3d": "nn.ReplicationPad3d(1)(g(1, 2, 3, 3, 3)).sum().backward()",
    "__getitem__": "g(3)[[zeros(2)]].sum().backward()",
    "index_put": "x(3).index_put_((zeros(1),), x(1), accumulate=True)",
    "scatter_add_": "x(3).scatter_add_(0, zeros(3), x(3))",
    "gather": "g(3).gather(0, zeros(2)).sum().backward()",
    "index_add": "x(3).index_add(0, zeros(2), x(2))",
    "index_select": "g(3).index_select(0, zeros(2)).sum().backward()",
    "repeat_interleave": "g(3).repeat_interleave(2).sum().backward()",
    "index_copy": "x(3).index_copy(0, zeros(1), x(1))",
    "scatter": "x(3).scatter(0, zeros(3), x(3))",
    "scatter_reduce": "x(3).scatter_reduce(0, zeros(3), x(3), 'sum')",
    "MaxPool3d": "nn.MaxPool3d(2)(g(1, 2, 5, 5, 5)).sum().backward()",
    "bmm": "pass",  # of a sparse factor, which asks cuSPARSE and not cuBLAS
    "put_": "pass",  # on the CPU
    "cumsum": "x(3).cumsum(0)",
    "ReflectionPad2d": "nn.ReflectionPad2d(1)(g(1, 2, 3, 3)).sum().backward()",
    "bincount without weights": "torch.bincount(zeros(3))",
    "the median of all": "x(3, 3).median()",
    "bags that are summed": "nn.EmbeddingBag(4, 2, device=D)(zeros(1, 2)).sum().backward()",
    "losses of vectors": "F.nll_loss(g(2, 3), zeros(2)).backward()",
    "nearest neighbours": "F.interpolate(g(1, 1, 4, 4), 8).sum().backward()",
    "bilinear, which torch decomposes": (
        "F.interpolate(g(1, 1, 4, 4), 8, mode='bilinear').sum().backward()"
    ),
}

PRODUCTS = {
    "mm": "torch.mm(x(2, 2), x(2, 2))",
    "mv": "torch.mv(x(2, 2), x(2))",
    "bmm": "torch.bmm(x(1, 2, 2), x(1, 2, 2))",
}


def listed(beginning: str, end: str) -> set[str]:
    """Return the names that the docstring has in one of its lists."""
    said = torch.use_deterministic_algorithms.__doc__
    part = said.partition(beginning)[2].partition(end)[0]
    return {name.rpartition(".")[2] for name in re.findall(r"\* :\w+:`([\w.]+)`", part)}


def run(calls: list[str], workspace: str | None = ":4096:8", **environment: str) -> list[str]:
    """Return what each call ends with, in one process: "" where it ends well."""
    code = [START]
    for call in calls:
        code.append(f"try:\n    {call}\n    print()")
        code.append("except Exception as error:\n    print(str(error).replace(chr(10), ' '))")
    env = {**os.environ, "PYTHONPATH": str(PACKAGES), **environment}
    env.pop("CUBLAS_WORKSPACE_CONFIG", None)
    if workspace is not None:
        env["CUBLAS_WORKSPACE_CONFIG"] = workspace
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(code)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("compiled", ["", pytest.param("1", marks=pytest.mark.slow)])
def test_what_torch_lists_is_refused(compiled: str) -> None:
    cases = {name: case for name, case in RAISES.items() if case is not None}
    said = run([call for call, _ in cases.values()], SAMEDEVICE_VIRTUAL_COMPILED=compiled)
    begins = [f"{asks} does not have a deterministic implementation" for _, asks in cases.values()]
    wrong = {
        name: words
        for name, words, begin in zip(cases, said, begins, strict=True)
        if not words.startswith(begin)
    }
    assert wrong == {}


def test_what_torch_does_not_list_is_not() -> None:
    said = run(list(ENDS.values()))
    assert {name: words for name, words in zip(ENDS, said, strict=True) if words} == {}


def test_every_name_in_the_docstring_has_a_case() -> None:
    raising = listed("operations will throw", "In addition")
    acting = listed("will act", "operations will throw")
    assert raising <= set(RAISES) and acting <= set(ENDS), raising ^ set(RAISES)


@pytest.mark.parametrize(
    ("workspace", "refused"),
    [(None, True), ("garbage", True), (":4096:8", False), (":16:8", False)],
)
def test_products_ask_for_a_workspace(workspace: str | None, refused: bool) -> None:
    said = run(list(PRODUCTS.values()), workspace)
    assert [bool(words) for words in said] == [refused] * len(PRODUCTS)
    if refused:
        assert all("because it uses CuBLAS and you have CUDA >= 10.2" in words for words in said)
