"""The stored data is what the committed script reads off the same torch."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from samedevice.torchfacts import releases, store


@pytest.mark.torch
def test_generated_again_it_is_the_same() -> None:
    torch = pytest.importorskip("torch")
    stored = store.torch_data().version
    if torch.__version__ != stored:
        pytest.skip(f"torch {torch.__version__} is installed, the facts are about {stored}")
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, "-m", "samedevice.torchfacts.generate", "--check"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_pack_and_unpack_are_inverse() -> None:
    data = store.torch_data()
    assert store.unpack(json.loads(json.dumps(store.pack(data)))) == data


@pytest.mark.torch
def test_names_of_the_installed_release_exist() -> None:
    torch = pytest.importorskip("torch")
    if releases.release(torch.__version__) not in releases.all_releases():
        pytest.skip(f"the names of torch {torch.__version__} are not known")
    names = releases.names_in(torch.__version__)
    assert names == frozenset(releases.read_release(Path(torch.__file__).parents[1]))
    missing = []
    for name in names:
        namespace, _, short = name.rpartition(".")
        if not hasattr(importlib.import_module(namespace), short):
            missing.append(name)
    assert not missing


def test_modules_are_read_with_their_package(tmp_path: Path) -> None:
    package = tmp_path / "torch" / "backends" / "cudnn"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "def version(): pass\nclass CudnnModule(PropModule):\n    benchmark = ContextProp()\n"
    )
    (package / "rnn.py").write_text("from .x import other\nclass Unserializable: pass\n")
    (package / "_hidden.py").write_text("def f(): pass\n")
    assert releases.read_release(tmp_path) == {
        "torch.backends.cudnn.benchmark",
        "torch.backends.cudnn.rnn.Unserializable",
        "torch.backends.cudnn.version",
    }


def test_a_release_is_read_without_importing_it(tmp_path: Path) -> None:
    package = tmp_path / "torch" / "accelerator"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import os\nfrom typing import Any\nfrom .memory import empty_cache\n"
        "__all__ = ['is_available']\ndef is_available(): raise SystemExit\ndef _private(): pass\n"
        "OutOfMemoryError = os.error\nlimit = 3\n"
    )
    assert releases.read_release(tmp_path) == {
        "torch.accelerator.OutOfMemoryError",
        "torch.accelerator.empty_cache",
        "torch.accelerator.is_available",
    }
    with pytest.raises(SystemExit):
        releases.main(["2.6", str(tmp_path / "nowhere")])
