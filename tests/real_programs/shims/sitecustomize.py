"""Makes a real program run offline, quickly and twice alike. Python imports this file by itself.

Everything here is generic: it knows modules of libraries, never a program. Read from the
environment:

``REAL_PROGRAMS_MAX_BATCHES``    batches that a DataLoader yields per pass (default: all)
``REAL_PROGRAMS_MAX_BACKWARDS``  the program is ended with exit status 0 after that many backward
                                 passes (default: never)
``REAL_PROGRAMS_WORKERS=0``      a DataLoader that is limited starts no processes
``REAL_PROGRAMS_IMAGES``         images in each synthetic data set (default 256)
``REAL_PROGRAMS_WITHOUT``        a module that is not to be found
``REAL_PROGRAMS_TRACE``          file that receives one JSON line per backward pass and, at the
                                 end, the places of the parameters that optimizers stepped
``REAL_PROGRAMS_ROOT``           folder of the program: the trace names the modules from there
"""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.util
import json
import os
import random
import socket
import sys
from collections import Counter

SEED = 0
_XLA_BEGINS = 101  # what the state of XLA's random numbers is before the first is drawn
random.seed(SEED)


def _limit(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text else None


def _after_numpy(numpy) -> None:
    numpy.random.seed(SEED)
    # The names before NumPy 1.24 and 2.
    old = {"Inf": numpy.inf, "NaN": numpy.nan, "bool": bool, "int": int, "float": float}
    for name, value in {**old, "object": object, "float_": numpy.float64}.items():
        if name not in vars(numpy):
            setattr(numpy, name, value)


def _after_torch(torch) -> None:
    if os.environ.get("SAMEDEVICE_VIRTUAL"):
        from samedevice.prove.virtual import install_from_environment

        install_from_environment()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    _limit_loaders(torch)
    _trace(torch)
    _tolerate_missing_operators(torch)
    _full_precision(torch)


def _limit_loaders(torch) -> None:
    batches = _limit("REAL_PROGRAMS_MAX_BATCHES")
    if batches is None:
        return
    loader = torch.utils.data.DataLoader
    every_batch = loader.__iter__

    class FirstBatches:
        """The iterator of a loader, ended early; its length is still the loader's."""

        def __init__(self, iterator) -> None:
            self.iterator, self.left = iterator, batches

        def __iter__(self):
            return self

        def __len__(self) -> int:
            return len(self.iterator)

        def __next__(self):
            if self.left == 0:
                raise StopIteration
            self.left -= 1
            return next(self.iterator)

        next = __next__  # the name before PyTorch 1.13

    begin = loader.__init__

    def begin_alone(self, *args, **kwargs) -> None:
        kwargs.update(num_workers=0, prefetch_factor=None, persistent_workers=False)
        begin(self, *args, **kwargs)

    loader.__iter__ = lambda self: FirstBatches(every_batch(self))
    if os.environ.get("REAL_PROGRAMS_WORKERS") == "0":
        loader.__init__ = begin_alone


def _trace(torch) -> None:
    """Write down what the program computed: one that prints nothing is compared too."""
    path = os.environ.get("REAL_PROGRAMS_TRACE")
    stop = _limit("REAL_PROGRAMS_MAX_BACKWARDS")
    if not path and stop is None:
        return
    main_process = os.getpid()
    lines = []
    stepped = Counter()  # (type of device of a parameter) -> parameters stepped
    backward = torch.Tensor.backward

    def traced_backward(self, *args, **kwargs):
        if os.getpid() == main_process:
            if stop is not None and len(lines) >= stop:
                raise SystemExit(0)
            value = self.detach().sum().item() / getattr(self, "_scaled_by", 1)
            lines.append({"backward": repr(value), "on": self.device.type})
        return backward(self, *args, **kwargs)

    scale = torch.amp.GradScaler.scale

    def noted_scale(self, outputs):
        scaled = scale(self, outputs)
        if torch.is_tensor(scaled):
            scaled._scaled_by = self.get_scale()  # 1 on the CPU
        return scaled

    def note_places(optimizer, args, kwargs) -> None:
        for group in optimizer.param_groups:
            # A leaf without dimensions may stay on the host: torch lets it meet any device.
            stepped.update(leaf.device.type for leaf in group["params"] if leaf.dim())

    def write() -> None:
        if os.getpid() == main_process and path:
            ends = {"stepped": dict(stepped), "drew": _drew_on_device(torch), "files": _files()}
            lines.append(ends)
            with open(path, "a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(line) + "\n" for line in lines)

    torch.Tensor.backward = traced_backward
    torch.amp.GradScaler.scale = noted_scale
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    register_optimizer_step_pre_hook(note_places)
    atexit.register(write)


def _files() -> list[str]:
    """The program's own modules that were executed, relative to its folder."""
    root = os.path.realpath(os.environ.get("REAL_PROGRAMS_ROOT", "/nowhere")) + os.sep
    found = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    paths = {os.path.realpath(path) for path in found if isinstance(path, str)}
    return sorted(path[len(root) :] for path in paths if path.startswith(root))


def _drew_on_device(torch) -> bool:
    """Tell whether random numbers were drawn on an XLA device or a GPU, which are not the CPU's."""
    xla = sys.modules.get("torch_xla.core.xla_model")
    if xla is not None:
        return xla.get_rng_state() != _XLA_BEGINS
    if "SAMEDEVICE_VIRTUAL" in os.environ or not torch.cuda.is_initialized():
        return False
    return any(generator.get_offset() for generator in torch.cuda.default_generators)


def _full_precision(torch) -> None:
    """Without ``autocast``: only an accelerator would compute in half precision."""
    begin = torch.autocast.__init__

    def begin_disabled(self, device_type, dtype=None, enabled=True, cache_enabled=None) -> None:
        begin(self, device_type, dtype, False, cache_enabled)

    torch.autocast.__init__ = begin_disabled


def _tolerate_missing_operators(torch) -> None:
    """Let torchvision be imported where its compiled operators do not fit this torch."""
    import torch.library

    register_fake = torch.library.register_fake

    def lenient(op, *args, **kwargs):
        if isinstance(op, str) and op.startswith("torchvision::"):
            return lambda function: function
        return register_fake(op, *args, **kwargs)

    torch.library.register_fake = lenient


def _after_datasets(datasets) -> None:
    """Data sets of torchvision, filled with deterministic noise instead of a download."""
    import numpy as np
    import torch
    from PIL import Image

    images = _limit("REAL_PROGRAMS_IMAGES") or 256

    def noise(shape: tuple[int, ...], classes: int) -> tuple[np.ndarray, np.ndarray]:
        source = np.random.RandomState(SEED)
        labels = source.randint(0, classes, shape[0])
        pixels = source.randint(0, 128, shape)
        # Brightness follows the label, so that a training loop has something to learn.
        pixels = pixels + (labels * (127 // classes)).reshape(-1, *[1] * (len(shape) - 1))
        return pixels.astype(np.uint8), labels.astype(np.int64)

    def load_digits(self):
        pixels, labels = noise((images, 28, 28), 10)
        return torch.from_numpy(pixels), torch.from_numpy(labels)

    mnist = datasets.MNIST
    mnist._load_data = load_digits
    mnist._check_exists = lambda self: True
    mnist._check_legacy_exist = lambda self: False
    mnist.download = lambda self: None

    def cifar(classes: int):
        def init(
            self, root, train=True, transform=None, target_transform=None, download=False
        ) -> None:
            datasets.VisionDataset.__init__(
                self, root, transform=transform, target_transform=target_transform
            )
            self.train = train
            self.data, labels = noise((images, 32, 32, 3), classes)
            self.targets = labels.tolist()
            self.classes = [f"class {number}" for number in range(classes)]
            self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

        return init

    datasets.CIFAR10.__init__ = cifar(10)
    datasets.CIFAR100.__init__ = cifar(100)

    def svhn(
        self, root, split="train", transform=None, target_transform=None, download=False
    ) -> None:
        datasets.VisionDataset.__init__(
            self, root, transform=transform, target_transform=target_transform
        )
        self.split = split
        self.data, self.labels = noise((images, 3, 32, 32), 10)

    datasets.SVHN.__init__ = svhn

    folder_init = datasets.ImageFolder.__init__

    def folder(self, root, *args, **kwargs) -> None:
        if not os.path.isdir(root):
            pixels, labels = noise((min(images, 32), 72, 72, 3), 2)
            for number, (image, label) in enumerate(zip(pixels, labels, strict=True)):
                place = os.path.join(root, f"class_{label}")
                os.makedirs(place, exist_ok=True)
                Image.fromarray(image).save(os.path.join(place, f"{number:03}.png"))
        folder_init(self, root, *args, **kwargs)

    datasets.ImageFolder.__init__ = folder


def _after_models_api(api) -> None:
    """Pretrained weights cannot be fetched: keep the (seeded) initial ones."""
    import torch

    kept = {}
    load = torch.nn.Module.load_state_dict

    def load_unless_kept(self, state_dict, *args, **kwargs):
        return None if state_dict is kept else load(self, state_dict, *args, **kwargs)

    torch.nn.Module.load_state_dict = load_unless_kept
    api.WeightsEnum.get_state_dict = lambda self, *args, **kwargs: kept


def _after_image(image) -> None:
    image.ANTIALIAS = image.LANCZOS  # the name before Pillow 10


def _after_transforms(transforms) -> None:
    transforms.Scale = transforms.Resize  # the name before torchvision 0.17


def _after_gymnasium(gymnasium) -> None:
    make = gymnasium.make

    def seeded_make(*args, **kwargs):
        kwargs.pop("render_mode", None)  # nothing is drawn
        environment = make(*args, **kwargs)
        environment.reset(seed=SEED)
        environment.action_space.seed(SEED)
        return environment

    gymnasium.make = seeded_make


_AFTER = {
    "numpy": _after_numpy,
    "torch": _after_torch,
    "torchvision.datasets": _after_datasets,
    "torchvision.transforms": _after_transforms,
    "torchvision.models._api": _after_models_api,
    "PIL.Image": _after_image,
    "gymnasium": _after_gymnasium,
}


class _AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function of ``_AFTER`` once its module has been executed."""

    def find_spec(self, name, path=None, target=None):
        after = _AFTER.pop(name, None)
        if after is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module) -> None:
            execute(module)
            after(module)

        spec.loader.exec_module = exec_module
        return spec


def _stay_offline() -> None:
    connect = socket.socket.connect

    def local_only(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            if not str(address[0]).startswith(("127.", "::1", "localhost")):
                raise OSError(f"offline: no connection to {address[0]}")
        return connect(self, address)

    socket.socket.connect = local_only


if missing := os.environ.get("REAL_PROGRAMS_WITHOUT"):
    sys.modules[missing] = None  # Python's own way to say that there is none
sys.meta_path.insert(0, _AfterImport())
_stay_offline()
