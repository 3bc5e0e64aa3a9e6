"""What other rooms rely on: names resolve, kinds are right, nothing here imports torch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from samedevice.torchfacts import (
    Fact,
    accelerator_names,
    legacy_dtype,
    libraries,
    library,
    lookup,
    module_method,
    releases,
    store,
    tensor_attribute,
    tensor_method,
)


def fact(name: str) -> Fact:
    found = lookup(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.zeros", "create"),
        ("torch.tensor", "create"),
        ("torch.fft.fftfreq", "create"),
        ("torch.signal.windows.hann", "create"),
        ("torch.nested.nested_tensor", "create"),
        ("torch.FloatTensor", "legacy"),
        ("torch.cuda.LongTensor", "legacy"),
        ("torch.Tensor", "legacy"),
        ("torch.from_numpy", "share"),
        ("torch.randn_like", "like"),
        ("torch.load", "load"),
        ("torch.utils.model_zoo.load_url", "load"),
        ("torch.nn.Conv2d", "module"),
        ("torch.hub.load", "module"),
        ("torch.nn.Parameter", "parameter"),
        ("torch.autograd.Variable", "parameter"),
        ("torch.cat", "op"),
        ("torch.nn.functional.cross_entropy", "op"),
        ("torch.linalg.solve", "op"),
        ("torch.nn.functional.relu", "view"),
        ("torch.fft.fft", "view"),
        ("torch.numel", "query"),
        ("torch.allclose", "query"),
        ("torch.nn.utils.rnn.pack_padded_sequence", "pack"),
        ("torch.Generator", "generator"),
        ("torch.set_rng_state", "random"),
        ("torch.optim.AdamW", "optimizer"),
        ("torch.optim.lr_scheduler.StepLR", "scheduler"),
        ("torch.utils.data.DataLoader", "loader"),
        ("torch.utils.data.TensorDataset", "dataset"),
        ("torch.distributions.Normal", "distribution"),
        ("torch.device", "device"),
        ("torch.cuda.is_available", "availability"),
        ("torch.cuda.synchronize", "cudaonly"),
        ("torch.accelerator.synchronize", "cudaonly"),
        ("torch.cuda.empty_cache", "cudaquiet"),
        ("torch.cuda.amp.autocast", "context"),
        ("torch.no_grad", "context"),
        ("torch.save", "save"),
        ("torch.utils.tensorboard.SummaryWriter", "pure"),
        ("torch.rfft", "view"),  # gone from torch, not from code
        ("torch.nn.modules.loss._WeightedLoss", "module"),  # what user classes inherit from
        ("torch.optim.lr_scheduler._LRScheduler", "scheduler"),
        ("torch.nn.Embedding.from_pretrained", "module"),
        ("torch.distributed.rpc.remote", "managed"),
        ("torch.multiprocessing.Process", "pure"),
    ],
)
def test_kind_of_torch_names(name: str, kind: str) -> None:
    assert fact(name).kind == kind


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.nn.modules.Linear", "torch.nn.Linear"),
        ("torch.nn.modules.loss.CrossEntropyLoss.forward", "torch.nn.CrossEntropyLoss.forward"),
        ("torch.optim.adam.Adam", "torch.optim.Adam"),
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.utils.data.dataset.TensorDataset", "torch.utils.data.TensorDataset"),
        (
            "torch.utils.data.sampler.WeightedRandomSampler",
            "torch.utils.data.WeightedRandomSampler",
        ),
        ("torch.distributions.normal.Normal", "torch.distributions.Normal"),
        ("torch.nn.parallel.data_parallel.DataParallel", "torch.nn.DataParallel"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.functional.einsum", "torch.einsum"),
        ("torch._C._nn.gelu", "torch.nn.functional.gelu"),
    ],
)
def test_aliases_are_the_same_fact(alias: str, name: str) -> None:
    assert fact(alias) is fact(name)


@pytest.mark.parametrize(
    ("name", "kind", "out"),
    [
        ("numpy.array", "host", "ndarray"),
        ("numpy.linalg.norm", "host", "ndarray"),
        ("numpy.random.seed", "pure", "unknown"),
        ("scipy.ndimage.zoom", "host", "ndarray"),
        ("cv2.imwrite", "host", "ndarray"),
        ("matplotlib.pyplot.plot", "host", "hostobject"),
        ("matplotlib.pyplot.show", "pure", "none"),
        ("sklearn.metrics.accuracy_score", "host", "scalar"),
        ("PIL.Image.fromarray", "host", "hostobject"),
        ("gymnasium.make", "host", "hostobject"),
        ("torchvision.models.resnet18", "module", "module"),
        ("torchvision.models.resnet.BasicBlock", "module", "module"),
        ("torchvision.models.ResNet18_Weights", "pure", "unknown"),
        ("torchvision.models.segmentation.deeplabv3_resnet50", "module", "module"),
        ("torchvision.models.detection.faster_rcnn.FastRCNNPredictor", "module", "module"),
        ("torchvision.transforms.ToTensor", "transform", "host"),
        ("torchvision.transforms.Resize", "transform", "follows0"),
        ("torchvision.transforms.v2.functional.resize", "functional_transform", "follows0"),
        ("torchvision.transforms.functional.to_tensor", "functional_transform", "host"),
        ("torchvision.datasets.ImageFolder", "dataset", "dataset"),
        ("torchvision.ops.nms", "op", "tensor"),
        ("torchvision.utils.save_image", "saveimage", "none"),
        ("torchaudio.transforms.MelSpectrogram", "module", "module"),
        ("torchaudio.load", "read", "tensors"),
        ("torchvision.io.read_image", "read", "host"),
        ("timm.create_model", "module", "module"),
        ("transformers.AutoModelForCausalLM.from_pretrained", "module", "module"),
        ("transformers.BertModel", "module", "module"),
        ("transformers.BertConfig", "pure", "unknown"),
        ("transformers.AutoTokenizer.from_pretrained", "tokenizer", "host"),
        ("transformers.Trainer", "trainer", "unknown"),
        ("diffusers.UNet2DModel", "module", "module"),
        ("diffusers.DDPMScheduler", "pure", "unknown"),
        ("diffusers.StableDiffusionPipeline.from_pretrained", "module", "module"),
        ("segmentation_models_pytorch.Unet", "module", "module"),
        ("torchmetrics.Accuracy", "module", "module"),
        ("torchmetrics.functional.f1_score", "op", "tensor"),
        ("torch_geometric.nn.GCNConv", "module", "module"),
        ("torch_geometric.nn.conv.GCNConv", "module", "module"),
        ("torch_geometric.nn.global_mean_pool", "op", "tensor"),
        ("torch_geometric.loader.DataLoader", "loader", "records"),
        ("torch_geometric.data.Data", "container", "batch"),
        ("einops.rearrange", "view", "tensor"),
        ("einops.layers.torch.Rearrange", "module", "module"),
        ("pytorch_lightning.Trainer", "managed", "unknown"),
        ("tqdm.tqdm", "passthrough", "follows0"),
        ("copy.deepcopy", "passthrough", "follows0"),
        ("wandb.log", "pure", "logger"),
    ],
)
def test_libraries(name: str, kind: str, out: str) -> None:
    found = fact(name)
    assert (found.kind, found.out) == (kind, out)
    assert library(name.partition(".")[0])


def test_unknown_names_have_no_fact() -> None:
    assert lookup("torch.no_such_function") is None
    assert lookup("torch") is None
    assert lookup("mypackage.zeros") is None
    assert lookup("numpy_like.zeros") is None
    assert tensor_method("no_such_method") is None
    assert tensor_attribute("no_such_attribute") is None
    assert module_method("no_such_method") is None
    assert not library("mypackage")


def test_parameters() -> None:
    assert fact("torch.zeros").parameter(3) == "size"
    assert fact("torch.nn.functional.linear").params == ("input", "weight", "bias")
    assert fact("torch.nn.Linear").params[3] == "device"
    assert fact("torch.nn.Sequential").parameter(7) == "modules"
    assert fact("torch.add").parameter(5) is None
    assert fact("torch.load").params == ("f", "map_location")


def test_tensors_that_must_agree_or_not() -> None:
    assert fact("torch.stack").tensors == ("tensors",)
    assert fact("torch.where").tensors == ("condition", "input", "other")
    assert fact("torch.nn.functional.embedding").tensors == ("input", "weight")
    assert fact("torch.nn.CrossEntropyLoss").tensors == ("weight",)
    assert fact("torch.nn.CrossEntropyLoss.forward").tensors == ("input", "target")
    assert fact("torch.nn.LSTM.forward").tensors == ("input", "hx")
    assert fact("torch.nn.utils.rnn.pack_padded_sequence").host == ("lengths",)
    assert "input_lengths" in fact("torch.nn.functional.ctc_loss").free
    assert fact("numpy.array").host == ("*",)
    gather = tensor_method("gather")
    assert gather is not None and gather.tensors == ("index",)
    index_put = tensor_method("index_put_")
    assert index_put is not None and index_put.free == ("indices",)


def test_device_keyword() -> None:
    takes = "torch.rand torch.tensor torch.as_tensor torch.zeros_like torch.nn.Linear torch.nn.LSTM"
    lacks = "torch.from_numpy torch.stack torch.nn.ReLU torch.nn.CrossEntropyLoss"
    assert all(fact(n).device for n in takes.split())
    assert not any(fact(n).device for n in lacks.split())


def test_state_of_modules() -> None:
    with_state = "Linear Conv1d LSTM Embedding BatchNorm2d LayerNorm Transformer PReLU LazyLinear"
    without = "ReLU Dropout CrossEntropyLoss MaxPool2d Flatten Upsample Softmax"
    assert all(fact(f"torch.nn.{n}").state for n in with_state.split())
    assert not any(fact(f"torch.nn.{n}").state for n in without.split())
    assert fact("torchaudio.transforms.Resample").state
    assert not fact("torchaudio.transforms.TimeMasking").state


def test_members() -> None:
    kinds = {
        "view": "view", "to": "move", "cuda": "move", "cpu": "move", "numpy": "to_numpy",
        "item": "query", "tolist": "query", "size": "query", "new_zeros": "like",
        "type_as": "like", "masked_fill": "op", "add_": "op", "relu": "view", "backward": "query",
        "pin_memory": "cudaonly",
    }  # fmt: skip
    for name, kind in kinds.items():
        method = tensor_method(name)
        assert method is not None and method.kind == kind, name
    assert tensor_attribute("shape") == "scalar"
    assert tensor_attribute("device") == "device"
    assert tensor_attribute("T") == tensor_attribute("data") == tensor_attribute("grad") == "self"
    assert tensor_attribute("indices") == "self"  # of the tuple that topk returns
    outs = {
        "to": "self", "parameters": "tensors", "named_parameters": "named_tensors",
        "state_dict": "tensors", "eval": "self", "load_state_dict": "unknown",
        "modules": "modules", "register_buffer": "none", "half": "self",
    }  # fmt: skip
    for name, out in outs.items():
        method = module_method(name)
        assert method is not None and method.out == out, name


def test_accelerator_names_by_release() -> None:
    assert "torch.accelerator.is_available" in accelerator_names("2.6.0+cu124")
    assert "torch.accelerator.is_available" not in accelerator_names("2.5.1")
    assert "torch.accelerator.memory_allocated" in accelerator_names("2.9")
    assert "torch.accelerator.memory_allocated" not in accelerator_names("2.8")
    assert "torch.amp.GradScaler" in accelerator_names("2.3")
    assert "torch.amp.GradScaler" not in accelerator_names("2.2")
    assert "torch.cuda.OutOfMemoryError" in accelerator_names("2.13")
    assert "torch.accelerator.get_device_name" not in accelerator_names("99.0")
    assert accelerator_names("1.8") == accelerator_names("2.0")  # the oldest that is known
    with pytest.raises(ValueError, match="not a torch version"):
        accelerator_names("nightly")


def test_looking_up_does_not_import_torch_and_import_reads_no_data() -> None:
    code = (
        "import sys; import samedevice.torchfacts as t\n"
        "assert 'json' not in sys.modules and 'torch' not in sys.modules\n"
        "assert t.lookup('torch.zeros') and t.lookup('numpy.zeros')\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_word_is_documented() -> None:
    """The vocabulary of kinds and outs is closed: the documentation explains every word."""
    text = (Path(__file__).parents[2] / "docs" / "torchfacts.md").read_text(encoding="utf-8")
    kinds, _, rest = text.partition("## Kinds")[2].partition("## What comes out")
    outs = rest.partition("## Parameters")[0]
    facts = [*store.torch_data().facts.values()]
    facts += [Fact(kind, **fields) for kind, _, fields in libraries.ENTRIES]
    assert {f.kind for f in facts} <= set(re.findall(r"`(\w+)`", kinds))
    assert {f.out for f in facts} <= set(re.findall(r"`(\w+)`", outs))
    used = {f.kind for f in facts}
    rows = re.findall(r"^\| ([^|]*) \|", kinds, re.MULTILINE)[2:]
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} <= used


def test_names_of_parameters_are_parameters() -> None:
    """`tensors`, `free` and `host` never name what cannot be given, and never overlap."""
    for name, known in store.torch_data().facts.items():
        groups = (known.tensors, known.free, known.host)
        named = [n for group in groups for n in group]
        assert len(named) == len(set(named)), name
        assert not any(n.startswith("*") for n in named), name
        assert not any(p.startswith("*") for p in known.params[:-1]), name


def test_no_entry_of_a_library_is_out_of_reach() -> None:
    """Each pattern wins for some name: none is hidden altogether by a later one."""
    for kind, names, fields in libraries.ENTRIES:
        for name in names.split():
            sample = re.sub(r"\[([A-Za-z])-[A-Za-z]\]", r"\1", name)
            sample = sample.replace("**", "Some_thing").replace("*", "Some_thing")
            assert libraries.lookup(sample) == Fact(kind, **fields), (name, sample)


#: Modules, data and errors: nothing of these is called.
_NOT_CALLED = re.compile(
    r".*Error|.*\.(?:amp|classproperty|cudaStatus|default_generators|OptState|graph_annotations|"
    r"graphs|has_half|has_magma|jiterator|memory|nccl|nvtx|profiler|random|sparse|"
    r"streams|tunable)"
)


def test_every_name_of_the_interfaces_is_known_in_every_release() -> None:
    """From torch 2.0 to the newest: those that are gone, and those that came later."""
    names = set().union(*releases.all_releases().values())
    unknown = {name for name in names if lookup(name) is None and not _NOT_CALLED.fullmatch(name)}
    assert not unknown


def test_old_tensor_types() -> None:
    assert legacy_dtype("LongTensor") == "int64"
    assert legacy_dtype("Tensor") == "float32"
    assert legacy_dtype("SparseTensor") == legacy_dtype("zeros") == legacy_dtype("") == ""
