"""What may differ between the CPU and an accelerator, in outputs and in files, and what may not."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

from samedevice.prove.alike import alike, differing_number, near_text
from samedevice.prove.contents import differing


@pytest.mark.parametrize(
    ("cpu", "cuda"),
    [
        ("training on cpu\nloss 1.5\n", "training on cuda:0\nloss 1.5\n"),
        ("device(type='cpu')\n", "device(type='cuda', index=0)\n"),
        ("tensor([1., 2.])\n", "tensor([1., 2.], device='cuda:0')\n"),
        (
            "tensor([1., 2.], grad_fn=<AddBackward0>)\n",
            "tensor([1., 2.], device='cuda:0',\n       grad_fn=<AddBackward0>)\n",
        ),
        ("torch.FloatTensor\n", "torch.cuda.FloatTensor\n"),
        ("CUDA available: False\n", "CUDA available: True\n"),
        ("0 GPUs\n", "1 GPUs\n"),
        ("Using CPU\n1\n", "Using GPU\n1\n"),
        ("1\n", "GPU name: samedevice virtual device\n1\n"),
        ("no accelerator found\n1\n", "1\n"),
        ("1\n", "CUDA version 12.8, 1 GPU with 15.9 GB\n1\n"),
        ("memory on the device: 0.0 MB\n", "memory on the device: 12.25 MB\n"),
        ("loss 0.12345678\n", "loss 0.12345679\n"),
        ("loss 0.1235\n", "loss 0.1236\n"),
        ("loss 1.0000001e+00\n", "loss 1.0000002e+00\n"),
        ("0.3210032284259796\n", "0.3210032582283020\n"),
        ('{"device": "cpu", "loss": 0.5}\n', '{"device": "cuda", "loss": 0.5}\n'),
    ],
)
def test_what_may_differ(cpu: str, cuda: str) -> None:
    assert alike(cpu, cuda).difference == ""
    assert alike(cpu, cpu).difference == ""


@pytest.mark.parametrize(
    ("cpu", "cuda"),
    [
        ("loss 1.5\n", "loss 4.5\n"),
        ("loss on cpu 1.5\n", "loss on cuda 4.5\n"),
        ("loss 1.5\nloss 1.25\n", "loss 1.5\n"),
        ("loss 1.5\n", "loss 1.5\nloss 1.5\n"),
        ("on cpu: 1.5\non cpu: 2.5\n", "on cuda: 1.5\n"),
        ("cpu: 1.5\n", "cuda: 4.5\n"),
        ("cpu:1.5\n", "cuda:4.5\n"),
        ("on cpu 1.5\n", "on cuda, scaled: 4.5\n"),
        ("1\n", "1\non cuda: 4.5\n"),
        ("right 98 of 100\n", "right 97 of 100\n"),
        ("98 right on cpu\n", "97 right on cuda\n"),
        ("3\n", "3.0\n"),
        ("loss 0.1235\n", "loss 0.1237\n"),
        ("loss 0.32\n", "loss 0.3210\n"),
        ("nan\n", "1.5\n"),
        ("loss nan\n", "loss 0.0\n"),
        ("inf\n", "3.0e38\n"),
        ("True\n", "False\n"),
        ("done\n", "failed\n"),
        ("the cat sat\n", "the cat set\n"),
        ("step 1 loss 1.0\nstep 2 loss 0.5\n", "step 2 loss 0.5\nstep 1 loss 1.0\n"),
    ],
)
def test_what_may_not_differ(cpu: str, cuda: str) -> None:
    assert alike(cpu, cuda).difference != ""
    assert alike(cuda, cpu).difference != ""


def test_a_device_of_another_name() -> None:
    assert alike("on cpu: 1.5\n", "on tpu:0: 1.5\n", device_type="tpu").difference == ""
    assert alike("took 1.2s on cpu\n", "took 9.5s on cuda\n").difference != ""
    assert alike("took 1.2s on cpu\n", "took 9.5s on cuda\n", ["timings"]).difference == ""


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("1.5", "1.5", True),
        ("0.12", "0.13", True),
        ("0.12", "0.14", False),
        ("0.12", "0.120", True),
        ("0.12", "0.124", False),
        ("1.5", "1.6", False),
        ("12", "13", False),
        ("1e-05", "1.0000001e-05", True),
        ("-0.5", "0.5", False),
    ],
)
def test_numbers(one: str, two: str, same: bool) -> None:
    assert near_text(one, two, 1e-6) is same


def test_numbers_that_a_program_learns() -> None:
    assert differing_number([1.0, None], [1.0 + 1e-8, None], 1e-6) is None
    assert differing_number([1.0, 2.0], [1.0, 2.1], 1e-6) == (2, 2.0, 2.1)
    assert differing_number([1.0], [1.0, 2.0], 1e-6) == (2, "none", 2.0)
    assert differing_number([None], [3.0], 1e-6) == (1, None, 3.0)


# Files


def pair(folder: Path, one: bytes, two: bytes) -> tuple[Path, Path]:
    paths = folder / "one", folder / "two"
    for path, content in zip(paths, (one, two), strict=True):
        path.write_bytes(content)
    return paths


def test_texts(tmp_path: Path) -> None:
    files = pair(tmp_path, b"a,1.0\nb,2.0\n", b"a,1.0\nb,2.5\n")
    assert differing(*files) == "line 2: 'b,2.0' before, 'b,2.5' after"
    assert "'b,2.5' on cuda" in differing(*files, on="cuda", tolerance=1e-6)
    files = pair(tmp_path, b'{"device": "cpu"}', b'{"device": "cuda:0"}')
    assert differing(*files) != "" and differing(*files, on="cuda") == ""


def test_bytes(tmp_path: Path) -> None:
    assert differing(*pair(tmp_path, b"\x00\xff1", b"\x00\xff1")) == ""
    assert differing(*pair(tmp_path, b"\x00\xff1", b"\x00\xff2")) == "different content"
    assert differing(*pair(tmp_path, b"\x00\xff1", b"\x00\xff2"), on="cuda") == "different content"


class Executed:
    """What a pickle may not do to us."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise SystemExit('executed')",)


def test_pickles(tmp_path: Path) -> None:
    def dump(device: str, value: float) -> bytes:
        return pickle.dumps({"where": device, "x": [value, (1, None)], "p": Path("a")}, protocol=2)

    cpu = dump("cpu", 1.0)
    assert (
        differing(*pair(tmp_path, cpu, dump("cuda:0", 1.0 + 1e-9)), on="cuda", tolerance=1e-6) == ""
    )
    assert differing(*pair(tmp_path, cpu, dump("cuda:0", 1.1)), on="cuda", tolerance=1e-6) != ""
    assert differing(*pair(tmp_path, cpu, dump("cuda:0", 1.0))) != ""
    hostile = pickle.dumps(Executed()), pickle.dumps([Executed()])
    assert differing(*pair(tmp_path, *hostile), on="cuda") == "different content"
    round_about: list[object] = []
    round_about.append(round_about)
    files = pair(tmp_path, pickle.dumps((round_about, "cpu")), pickle.dumps((round_about, "cuda")))
    assert differing(*files, on="cuda") == ""
    files = pair(tmp_path, cpu[:20] + b"\xff\xfe", cpu[:30] + b"\xff\xfe")
    assert differing(*files, on="cuda") == "different content"


def test_archives(tmp_path: Path) -> None:
    def archive(name: str, year: int, **members: str) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as stream:
            for member, text in members.items():
                stream.writestr(zipfile.ZipInfo(f"top/{member}", (year, 1, 1, 0, 0, 0)), text)
        return tmp_path / name

    one, again = archive("1", 2020, a="x", b="y"), archive("2", 2021, a="x", b="y")
    assert one.read_bytes() != again.read_bytes() and differing(one, again) == ""
    assert differing(one, archive("3", 2020, a="x", b="z")) == "b is different"
    assert differing(one, archive("4", 2020, a="x")) == "b is in one only"


def test_checkpoints(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    def save(name: str, value: float, more: float = 0.0, dtype: object = None) -> Path:
        values = torch.full((3, 2), value, dtype=dtype) + more
        torch.save({"a": values, "b": values[0], "step": 3}, tmp_path / name)
        return tmp_path / name

    cpu = save("cpu.pt", 1.0)
    assert differing(cpu, save("other.pt", 1.0)) == ""
    assert differing(cpu, save("near.pt", 1.0, 1e-7), on="cuda", tolerance=1e-6) == ""
    assert differing(cpu, save("near.pt", 1.0, 1e-7)) == "data/0 is different"
    assert differing(cpu, save("far.pt", 1.0, 1e-3), on="cuda", tolerance=1e-6) != ""
    assert differing(cpu, save("double.pt", 1.0, dtype=torch.float64), on="cuda") != ""
