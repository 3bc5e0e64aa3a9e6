"""Facts about the libraries around torch, kept by hand.

Each entry is (kind, names separated by blanks, other fields of `Fact`). In a name, `*` stands for
anything without a dot, `**` for anything, `[A-Z]` for a capital letter. An exact name wins over a
pattern, and a later pattern over an earlier one. `"*"` in `tensors` or `host` of a fact stands for
every argument.

Read from the sources of torchvision 0.29, torchaudio 2.11, timm 1.0, torchmetrics 1.9,
torch_geometric 2.8, segmentation_models_pytorch 0.6 and einops 0.8, from runs with numpy 2.4, and
from the documentation of the others. Where a library changed, the older behaviour is kept in mind
as well: a fact must not be wrong for a version that people use.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from samedevice.torchfacts import Fact

Entry = tuple[str, str, dict[str, Any]]

_HOST: dict[str, Any] = {"host": ("*",)}
_OP: dict[str, Any] = {"tensors": ("*",)}
_MODULE: dict[str, Any] = {"out": "module", "state": True}
_PLAIN_MODULE: dict[str, Any] = {"out": "module"}
_SCALAR: dict[str, Any] = {"out": "scalar"}
_NONE: dict[str, Any] = {"out": "none"}
_UNKNOWN: dict[str, Any] = {"out": "unknown"}
_LOGGER: dict[str, Any] = {"out": "logger"}
_ON_HOST: dict[str, Any] = {"out": "host"}
_FOLLOWS: dict[str, Any] = {"out": "follows0"}
_DATASET: dict[str, Any] = {"out": "dataset"}
_LOADER: dict[str, Any] = {"params": ("dataset", "batch_size", "shuffle"), "out": "loader"}

#: Modules that are built for CUDA alone: without it their import fails, or nothing in them works.
#: Read from what their own builds ask for: a compiled module that links to CUDA (flash-attn and its
#: parts, causal-conv1d, mamba-ssm, apex, tiny-cuda-nn, Transformer Engine, flashinfer, the
#: rasterizers of Gaussian splatting and of meshes, PointNet++'s operators, KNN_CUDA, Deformable
#: DETR's attention, ActNN, ziplab's Mesa, PyCUDA), or kernels for a GPU alone (Triton, CuPy,
#: flash-linear-attention, RAPIDS, TensorRT). Another package than Mesa has its name, too: its
#: modules tell the two apart.
BUILT_FOR_CUDA = frozenset(
    (
        "actnn", "amp_C", "causal_conv1d", "causal_conv1d_cuda", "cudf", "cuml", "cupy", "cupyx",
        "deep_ep", "deep_gemm", "diff_gaussian_rasterization", "dropout_layer_norm",
        "fast_hadamard_transform", "fla", "flash_attn", "flash_attn_2_cuda", "flash_attn_interface",
        "flashinfer", "fused_dense_lib", "gsplat", "knn_cuda", "mamba_ssm", "mesa.custom_quant",
        "mesa.native", "mesa.packbit", "MultiScaleDeformableAttention", "neural_renderer",
        "nvdiffrast", "pointnet2_ops", "pycuda", "rotary_emb", "selective_scan_cuda", "simple_knn",
        "tensorrt", "tinycudann", "torch2trt", "torch_tensorrt", "transformer_engine", "triton",
        "xentropy_cuda_lib",
    )
)  # fmt: skip

#: Functions that raise where their model is not on CUDA, of packages that are built without, too.
#: Read from apex 0.1 (`amp/_initialize.py`: "provide a model with parameters located on a CUDA
#: device"), which asks only where it is not told to be off, and `parallel/distributed.py`, which
#: makes streams of CUDA; from torchaudio 2.8 (`models/decoder/_cuda_ctc_decoder.py`).
CALLED_ON_CUDA = (
    "apex.amp.initialize", "apex.parallel.DistributedDataParallel",
    "torchaudio.models.decoder.cuda_ctc_decoder",
)  # fmt: skip

#: Fields of what a model of a library gives that hold tensors, all where the model is. Read from
#: transformers 4.57 (`modeling_outputs.py`, the models of CLIP) and the outputs of diffusers 0.35.
OUTPUT_FIELDS = frozenset(
    (
        "end_logits", "image_embeds", "last_hidden_state", "logits", "logits_per_image",
        "logits_per_text", "loss", "pooler_output", "prediction_logits", "prev_sample",
        "sample", "seq_relationship_logits", "start_logits", "text_embeds",
    )
)  # fmt: skip

#: Methods of a library's modules that give tensors where the module is, beside its call. Read from
#: transformers 4.57, diffusers 0.35, timm 1.0, open_clip 3.2, CLIP and efficientnet_pytorch 0.7.
#: Others of this kind give arrays or texts: `SentenceTransformer.encode`, `MTCNN.detect`.
COMPUTES = frozenset(
    (
        "encode_image", "encode_text", "extract_endpoints", "extract_features", "forward",
        "forward_features", "forward_head", "generate", "get_image_features",
        "get_intermediate_layers", "get_text_features",
    )
)  # fmt: skip

#: Last words of the keywords by which modules are given tensors. Read from the models of
#: transformers 4.57 and diffusers 0.35, and from `torch.nn`.
INPUTS = frozenset(
    (
        "embeds", "features", "hidden", "ids", "image", "images", "input", "inputs", "key", "label",
        "labels", "latents", "mask", "masks", "memory", "query", "sample", "src", "states",
        "target", "targets", "tensor", "tgt", "value", "values", "x",
    )
)  # fmt: skip

#: Libraries whose modules take objects that have a device of their own, with what they compute.
WITH_GRAPHS = frozenset(("dgl",))

# Parts of torch that are not read off it, since they take or give no tensors of interest.
TORCH: list[Entry] = [
    (
        "pure",
        "torch.backends.** torch.distributed.** torch.fx.** torch.futures.** torch.hub.** "
        "torch.multiprocessing.** torch.onnx.** torch.profiler.** torch.serialization.** "
        "torch.testing.** torch.utils._pytree.** torch.utils.benchmark.** "
        "torch.utils.bottleneck.** torch.utils.cpp_extension.** torch.utils.tensorboard.**",
        _UNKNOWN,
    ),
    # Names of other releases than the one that is read off, and of interfaces that it cannot call.
    (
        "cudaonly",
        "torch.cuda.MemPoolContext torch.cuda.memory.MemPoolContext torch.cuda.GreenContext "
        "torch.cuda.GreenContext.create "
        "torch.cuda.green_contexts.GreenContext torch.cuda.green_contexts.GreenContext.create "
        "torch.cuda.green_contexts.SMPartition torch.cuda.green_contexts.get_num_locality_domains "
        "torch.cuda.green_contexts.is_localization_supported torch.cuda.gds.GdsFile "
        "torch.cuda.gds.gds_deregister_buffer torch.cuda.gds.gds_register_buffer "
        "torch.cuda.nccl.init_rank torch.cuda.profiler.init torch.cuda.tunable.dynamic_dims_mask "
        "torch.cuda.tunable.get_cublaslt_requested_algo_count "
        "torch.cuda.tunable.set_cublaslt_requested_algo_count "
        "torch.cuda.tunable.wildcard_fallback_enable "
        "torch.cuda.tunable.wildcard_fallback_is_enabled torch.cuda.tunable.write_file "
        "torch.cuda.tunable.write_file_on_exit",
        _UNKNOWN,
    ),
    (
        "cudaquiet",
        "torch.cuda.export_dot torch.cuda.export_graph_data torch.cuda.graphs.export_dot "
        "torch.cuda.graphs.export_graph_data torch.cuda.graph_annotations.mark_kernels "
        "torch.cuda.graph_annotations.clear_kernel_annotations "
        "torch.cuda.graph_annotations.dump_kernel_py_stacks "
        "torch.cuda.graph_annotations.get_kernel_annotations "
        "torch.cuda.graph_annotations.get_kernel_py_stacks "
        "torch.cuda.graphs.register_graph_capture_end_hook "
        "torch.cuda.graphs.register_graph_capture_start_hook "
        "torch.cuda.graphs.register_graph_destroy_hook "
        "torch.cuda.graphs.register_graph_instantiate_hook "
        "torch.cuda.graphs.register_graph_replay_end_hook "
        "torch.cuda.graphs.register_graph_replay_start_hook",
        _UNKNOWN,
    ),
    (
        "cudaonly",
        "torch.accelerator.random.get_rng_state torch.accelerator.random.initial_seed "
        "torch.xpu.Event torch.xpu.MemPool torch.xpu.Stream "
        "torch.xpu.XPUGraph torch.xpu.XPUPluggableAllocator torch.xpu.can_device_access_peer "
        "torch.xpu.change_current_allocator torch.xpu.device torch.xpu.get_stream "
        "torch.xpu.get_stream_from_external torch.xpu.graph torch.xpu.graphs.XPUGraph "
        "torch.xpu.graphs.graph torch.xpu.graphs.make_graphed_callables "
        "torch.xpu.make_graphed_callables torch.xpu.memory.MemPool "
        "torch.xpu.memory.XPUPluggableAllocator torch.xpu.memory.change_current_allocator "
        "torch.xpu.memory.use_mem_pool torch.xpu.streams.Event torch.xpu.streams.Stream "
        "torch.xpu.use_mem_pool torch.mps.Event torch.mps.Stream torch.mps.compile_shader "
        "torch.mps.current_stream torch.mps.default_stream torch.mps.event.Event "
        "torch.mps.load_metallib torch.mps.profiler.* torch.mps.set_stream torch.mps.stream "
        "torch.mps.streams.Stream torch.mps.streams.current_stream "
        "torch.mps.streams.default_stream torch.mps.streams.set_stream torch.mps.streams.stream",
        _UNKNOWN,
    ),
    (
        "cudaquiet",
        "torch.accelerator.random.get_rng_state_all torch.xpu.device_of torch.xpu.StreamContext",
        _UNKNOWN,
    ),
    (
        "cudaquiet",
        "torch.xpu.list_gpu_processes torch.xpu.memory.list_gpu_processes",
        {"out": "scalar"},
    ),
    (
        "query",
        "torch.cuda.amp.amp_definitely_not_available "
        "torch.cuda.amp.common.amp_definitely_not_available torch.cuda.gds.is_available "
        "torch.cuda.graph_annotations.is_available",
        {"out": "scalar"},
    ),
    ("pure", "torch.amp.autocast_mode.autocast_decorator", {"out": "unknown"}),
    # It compares the places too, unless check_device=False.
    (
        "op",
        "torch.testing.assert_close torch.testing.assert_allclose",
        {"params": ("actual", "expected"), "tensors": ("actual", "expected"), "out": "none"},
    ),
    (
        "module",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        {"params": ("module",), "out": "follows0", "state": True},
    ),
    (
        "managed",
        "torch.distributed.rpc.** torch.distributed.tensor.** torch.distributed._tensor.** "
        "torch.distributed.pipelining.** torch.distributed.nn.**",
        _UNKNOWN,
    ),
]

STANDARD_LIBRARY: list[Entry] = [
    # float(x) and what calls it: they copy the one element to the host.
    ("query", "math.**", _SCALAR),
    ("passthrough", "copy.copy copy.deepcopy", {"params": ("x",), "out": "follows0"}),
    ("save", "pickle.dump pickle.dumps", {"params": ("obj", "file"), "out": "none"}),
    (
        "pure",
        "pickle.load pickle.loads random.** os.** sys.** time.** json.**",
        _UNKNOWN,
    ),
    ("pure", "logging.**", _LOGGER),
    # Their elements are those of their argument.
    (
        "passthrough",
        "random.sample random.choice random.choices itertools.cycle itertools.islice "
        "itertools.chain itertools.chain.from_iterable itertools.tee collections.deque "
        "collections.OrderedDict",
        {"params": ("iterable",), "out": "follows0"},
    ),
]

_DRAWING = (
    "acorr bar barh boxplot contour contourf errorbar eventplot fill fill_between fill_betweenx "
    "hexbin hist hist2d imsave imshow loglog matshow pcolor pcolormesh pie plot plot_date psd "
    "quiver scatter semilogx semilogy specgram spy stackplot stairs stem step streamplot violinplot"
)

NUMPY: list[Entry] = [
    # np.asarray(x) calls x.__array__(), which refuses a tensor that is not on the host.
    ("host", "numpy.** scipy.**", {"out": "ndarray", **_HOST}),
    # A universal function that is given a tensor gives a tensor (on the host), else an array.
    (
        "host",
        "numpy.abs numpy.absolute numpy.add numpy.arctan numpy.arctan2 numpy.ceil numpy.clip "
        "numpy.cos numpy.divide numpy.equal numpy.exp numpy.floor numpy.isnan numpy.log "
        "numpy.log10 numpy.log1p numpy.log2 numpy.maximum numpy.minimum numpy.multiply "
        "numpy.power numpy.rint numpy.sign numpy.sin numpy.sqrt numpy.square numpy.subtract "
        "numpy.tan numpy.tanh numpy.transpose numpy.argmax numpy.argmin",
        {"out": "hosttensor", **_HOST},
    ),
    # It calls x.squeeze(), wherever that is.
    # They read the attribute of that name, and copy nothing.
    ("query", "numpy.shape numpy.ndim", {"params": ("a",), "out": "scalar"}),
    # They ask of which class something is.
    ("query", "numpy.isscalar numpy.iterable", _SCALAR),
    ("query", "scipy.sparse.issparse scipy.sparse.isspmatrix", _SCALAR),
    ("passthrough", "numpy.squeeze", {"params": ("a",), "out": "follows0"}),
    (
        "pure",
        "numpy.random.seed numpy.random.default_rng numpy.random.RandomState "
        "numpy.set_printoptions numpy.seterr numpy.errstate numpy.dtype numpy.finfo numpy.iinfo "
        "numpy.random.get_state numpy.random.set_state",
        _UNKNOWN,
    ),
    (
        "host",
        "numpy.save numpy.savez numpy.savez_compressed numpy.savetxt",
        {"out": "none", **_HOST},
    ),
]

# Libraries whose functions and objects know nothing of devices: every tensor they are given must
# be on the host, and so must those given to the methods of their objects ("hostobject").
HOST_LIBRARIES: list[Entry] = [
    (
        "host",
        "cv2.** imageio.** skimage.** librosa.** soundfile.** nibabel.** SimpleITK.** shapely.** "
        "trimesh.** open3d.** albumentations.** imgaug.**",
        {"out": "ndarray", **_HOST},
    ),
    (
        "host",
        "matplotlib.** PIL.** h5py.** pycocotools.** seaborn.** plotly.** bokeh.** pandas.** "
        "polars.** sklearn.** xgboost.** lightgbm.** networkx.** statsmodels.** hdbscan.** "
        "umap.** faiss.** gym.** gymnasium.** gym_super_mario_bros.** pettingzoo.** dm_control.** "
        "mujoco.** minigrid.** nltk.** gensim.**",
        {"out": "hostobject", **_HOST},
    ),
    ("host", "sklearn.metrics.**", {"out": "scalar", **_HOST}),
    (
        "host",
        "sklearn.preprocessing.scale sklearn.preprocessing.normalize sklearn.datasets.** "
        "sklearn.model_selection.train_test_split sklearn.metrics.confusion_matrix "
        "sklearn.metrics.pairwise.** sklearn.utils.**",
        {"out": "ndarray", **_HOST},
    ),
    # What a program gets by `from pylab import *`, or `%pylab`, and what draws there.
    ("host", "pylab.**", {"out": "hostobject", **_HOST}),
    (
        "host",
        " ".join(
            f"{module}.{name}"
            for module in ("pylab", "matplotlib.pyplot")
            for name in _DRAWING.split()
        ),
        {"out": "hostobject", **_HOST},
    ),
    (
        "pure",
        "matplotlib.use matplotlib.pyplot.show matplotlib.pyplot.close matplotlib.pyplot.savefig "
        "matplotlib.pyplot.legend matplotlib.pyplot.axis matplotlib.pyplot.tight_layout "
        "matplotlib.pyplot.clf matplotlib.pyplot.cla matplotlib.pyplot.pause "
        "matplotlib.pyplot.ion matplotlib.pyplot.ioff matplotlib.pyplot.grid",
        _NONE,
    ),
]

TORCHVISION: list[Entry] = [
    ("module", "torchvision.models.**", _MODULE),
    (
        "pure",
        "torchvision.models.**Weights** torchvision.models.**Config torchvision.models.get_weight "
        "torchvision.models.list_models torchvision.models.get_model_weights "
        "torchvision.models.get_model_builder torchvision.models.quantization.quantize_model",
        _UNKNOWN,
    ),
    (
        "load",
        "torchvision.models.**.load_state_dict_from_url",
        {"params": ("url", "model_dir", "map_location"), "out": "unknown"},
    ),
    (
        "module",
        "torchvision.models.detection.rpn.AnchorGenerator "
        "torchvision.models.detection.anchor_utils.AnchorGenerator "
        "torchvision.models.detection.anchor_utils.DefaultBoxGenerator "
        "torchvision.models.detection.transform.GeneralizedRCNNTransform",
        _PLAIN_MODULE,
    ),
    ("op", "torchvision.models.detection.roi_heads.*_loss", {"out": "tensors", **_OP}),
    # `out` of a transform is what its call gives.
    ("transform", "torchvision.transforms.** torchvision.transforms.v2.**", _FOLLOWS),
    (
        "transform",
        "torchvision.transforms.ToTensor torchvision.transforms.PILToTensor "
        "torchvision.transforms.v2.ToTensor torchvision.transforms.v2.PILToTensor",
        _ON_HOST,
    ),
    # pic.numpy(force=True), and pic.cpu().numpy() before: device-safe.
    (
        "transform",
        "torchvision.transforms.ToPILImage torchvision.transforms.v2.ToPILImage",
        {"out": "unknown", "free": ("pic",), "params": ("pic",)},
    ),
    (
        "transform",
        "torchvision.transforms.Compose torchvision.transforms.v2.Compose "
        "torchvision.transforms.RandomApply torchvision.transforms.RandomChoice "
        "torchvision.transforms.RandomOrder torchvision.transforms.v2.RandomApply "
        "torchvision.transforms.v2.RandomChoice torchvision.transforms.v2.RandomOrder",
        {"params": ("transforms",), "out": "unknown"},
    ),
    (
        "transform",
        "torchvision.transforms.Lambda torchvision.transforms.v2.Lambda",
        {"params": ("lambd",), "out": "unknown"},
    ),
    (
        "functional_transform",
        "torchvision.transforms.functional.** torchvision.transforms.v2.functional.** "
        "torchvision.transforms.functional_tensor.**",
        {"params": ("img",), "tensors": ("img",), "out": "follows0"},
    ),
    (
        "functional_transform",
        "torchvision.transforms.functional.to_tensor "
        "torchvision.transforms.functional.pil_to_tensor "
        "torchvision.transforms.v2.functional.pil_to_tensor "
        "torchvision.transforms.v2.functional.to_image",
        {"params": ("pic",), "out": "host"},
    ),
    (
        "functional_transform",
        "torchvision.transforms.functional.to_pil_image "
        "torchvision.transforms.v2.functional.to_pil_image "
        # kornia/utils/image.py: it brings the tensor to the CPU, and gives an array.
        "kornia.tensor_to_image kornia.utils.tensor_to_image kornia.image.tensor_to_image",
        {"params": ("pic",), "free": ("pic",), "out": "unknown"},
    ),
    (
        "functional_transform",
        "kornia.image_to_tensor kornia.utils.image_to_tensor kornia.image.image_to_tensor",
        {"params": ("image",), "out": "host"},
    ),
    (
        "query",
        "torchvision.transforms.functional.get_dimensions "
        "torchvision.transforms.functional.get_image_size "
        "torchvision.transforms.functional.get_image_num_channels "
        "torchvision.transforms.InterpolationMode* torchvision.transforms.AutoAugmentPolicy*",
        _SCALAR,
    ),
    ("dataset", "torchvision.datasets.**", _DATASET),
    ("pure", "torchvision.datasets.utils.** torchvision.datasets.folder.**", _UNKNOWN),
    (
        "dataset",
        "torchvision.datasets.folder.ImageFolder torchvision.datasets.folder.DatasetFolder",
        _DATASET,
    ),
    # -- operators --
    ("module", "torchvision.ops.**", _PLAIN_MODULE),
    (
        "module",
        "torchvision.ops.DeformConv2d torchvision.ops.FeaturePyramidNetwork "
        "torchvision.ops.FrozenBatchNorm2d torchvision.ops.Conv2dNormActivation "
        "torchvision.ops.Conv3dNormActivation torchvision.ops.SqueezeExcitation "
        "torchvision.ops.MLP torchvision.ops.misc.** torchvision.ops.feature_pyramid_network.**",
        _MODULE,
    ),
    (
        "op",
        "torchvision.ops.*nms torchvision.ops.boxes.*nms",
        {"params": ("boxes", "scores", "idxs"), **_OP},
    ),
    (
        "op",
        "torchvision.ops.box_iou torchvision.ops.generalized_box_iou "
        "torchvision.ops.distance_box_iou torchvision.ops.complete_box_iou "
        "torchvision.ops.generalized_box_iou_loss torchvision.ops.distance_box_iou_loss "
        "torchvision.ops.complete_box_iou_loss torchvision.ops.boxes.box_iou",
        {"params": ("boxes1", "boxes2"), "tensors": ("boxes1", "boxes2")},
    ),
    (
        "op",
        "torchvision.ops.roi_align torchvision.ops.roi_pool torchvision.ops.ps_roi_align "
        "torchvision.ops.ps_roi_pool",
        {"params": ("input", "boxes", "output_size"), "tensors": ("input", "boxes")},
    ),
    (
        "op",
        "torchvision.ops.sigmoid_focal_loss",
        {"params": ("inputs", "targets", "alpha"), "tensors": ("inputs", "targets")},
    ),
    (
        "op",
        "torchvision.ops.deform_conv2d",
        {
            "params": ("input", "offset", "weight", "bias"),
            "tensors": ("input", "offset", "weight", "bias", "mask"),
        },
    ),
    (
        "view",
        "torchvision.ops.box_convert torchvision.ops.box_area torchvision.ops.clip_boxes_to_image "
        "torchvision.ops.remove_small_boxes torchvision.ops.masks_to_boxes "
        "torchvision.ops.stochastic_depth torchvision.ops.drop_block2d "
        "torchvision.ops.drop_block3d",
        {"params": ("input",), "tensors": ("input",)},
    ),
    # -- images --
    ("saveimage", "torchvision.utils.save_image", {"params": ("tensor", "fp"), "out": "none"}),
    (
        "saveimage",
        "torchvision.utils.make_grid",
        {"params": ("tensor", "nrow", "padding"), "tensors": ("tensor",), "out": "follows0"},
    ),
    # They draw through PIL and give a tensor on the host.
    (
        "saveimage",
        "torchvision.utils.draw_bounding_boxes torchvision.utils.draw_keypoints",
        {"params": ("image", "boxes"), "out": "host"},
    ),
    (
        "op",
        "torchvision.utils.draw_segmentation_masks",
        {"params": ("image", "masks"), "tensors": ("image", "masks")},
    ),
    ("view", "torchvision.utils.flow_to_image", {"params": ("flow",), "tensors": ("flow",)}),
    ("load", "torchvision.io.read_* torchvision.io.decode_*", _ON_HOST),
    ("load", "torchvision.io.decode_jpeg", {"device": True, "out": "host"}),
    ("read", "torchvision.io.read_image torchvision.io.decode_image", _ON_HOST),
    ("load", "torchvision.io.read_video", {"out": "tensors"}),
    ("host", "torchvision.io.write_*", {"out": "none", **_HOST}),
    (
        "host",
        "torchvision.io.encode_png torchvision.io.encode_jpeg",
        {"out": "host", "host": ("input",), "params": ("input",)},
    ),
    ("pure", "torchvision.set_image_backend torchvision.disable_beta_transforms_warning", _NONE),
]

TORCHAUDIO: list[Entry] = [
    ("read", "torchaudio.load torchaudio.backend.*.load", {"out": "tensors"}),
    (
        "host",
        "torchaudio.save",
        {"params": ("uri", "src", "sample_rate"), "host": ("src",), "out": "none"},
    ),
    (
        "query",
        "torchaudio.info torchaudio.list_audio_backends torchaudio.get_audio_backend",
        _UNKNOWN,
    ),
    ("pure", "torchaudio.set_audio_backend torchaudio.utils.**", _UNKNOWN),
    ("module", "torchaudio.transforms.** torchaudio.models.**", _MODULE),
    # Decoders are no modules, and that of the CPU reads arrays of the host (torchaudio 2.5).
    (
        "pure",
        "torchaudio.models.decoder.ctc_decoder torchaudio.models.decoder.CTCDecoder",
        {"out": "hostobject"},
    ),
    ("pure", "torchaudio.models.decoder.**", _UNKNOWN),
    (
        "module",
        "torchaudio.transforms.AmplitudeToDB torchaudio.transforms.MuLawEncoding "
        "torchaudio.transforms.MuLawDecoding torchaudio.transforms.ComputeDeltas "
        "torchaudio.transforms.Fade torchaudio.transforms.FrequencyMasking "
        "torchaudio.transforms.TimeMasking torchaudio.transforms.SpecAugment "
        "torchaudio.transforms.Loudness torchaudio.transforms.Vol torchaudio.transforms.Vad "
        "torchaudio.transforms.SlidingWindowCmn torchaudio.transforms.RNNTLoss "
        "torchaudio.transforms.Convolve torchaudio.transforms.FFTConvolve "
        "torchaudio.transforms.AddNoise torchaudio.transforms.Preemphasis "
        "torchaudio.transforms.Deemphasis",
        _PLAIN_MODULE,
    ),
    (
        "module",
        "torchaudio.pipelines.**.get_model torchaudio.pipelines.**.get_tacotron2 "
        "torchaudio.pipelines.**.get_vocoder",
        _MODULE,
    ),
    ("op", "torchaudio.functional.** torchaudio.compliance.kaldi.**", _OP),
    # Tables made on the host, with no device argument.
    (
        "create",
        "torchaudio.functional.create_dct torchaudio.functional.melscale_fbanks "
        "torchaudio.functional.linear_fbanks torchaudio.functional.create_fb_matrix",
        {},
    ),
    ("query", "torchaudio.functional.edit_distance", _SCALAR),
    ("dataset", "torchaudio.datasets.**", _DATASET),
]

TIMM: list[Entry] = [
    (
        "module",
        "timm.create_model timm.models.** timm.layers.[A-Z]* timm.layers.**.[A-Z]* "
        "timm.models.layers.[A-Z]*",
        _MODULE,
    ),
    (
        "module",
        "timm.layers.DropPath timm.models.layers.DropPath timm.layers.DropBlock2d timm.loss.**",
        _PLAIN_MODULE,
    ),
    (
        "pure",
        "timm.models.**Cfg timm.list_models timm.list_pretrained timm.is_model timm.list_modules "
        "timm.model_entrypoint timm.models.list_models timm.models.is_model "
        "timm.models.model_entrypoint timm.models.register_model timm.models.registry.** "
        "timm.models.helpers.** timm.data.** timm.layers.to_*tuple timm.models.layers.to_*tuple "
        "timm.utils.**",
        _UNKNOWN,
    ),
    (
        "view",
        "timm.layers.trunc_normal_ timm.models.layers.trunc_normal_ timm.layers.lecun_normal_ "
        "timm.layers.drop_path",
        {"params": ("tensor",), "tensors": ("tensor",)},
    ),
    # Reads to the host, then into the model where it is.
    ("pure", "timm.models.load_checkpoint timm.models.resume_checkpoint", _UNKNOWN),
    ("load", "timm.models.load_state_dict", {"params": ("checkpoint_path",), "out": "host"}),
    (
        "module",
        "timm.utils.ModelEma* timm.utils.model_ema.ModelEma*",
        {"params": ("model", "decay", "device"), "out": "follows0", "state": True, "device": True},
    ),
    (
        "op",
        "timm.utils.accuracy",
        {"params": ("output", "target"), "tensors": ("output", "target"), "out": "tensors"},
    ),
    ("optimizer", "timm.optim.**", {"out": "optimizer"}),
    ("scheduler", "timm.scheduler.**", _UNKNOWN),
    (
        "dataset",
        "timm.data.create_dataset timm.data.ImageDataset timm.data.IterableImageDataset",
        _DATASET,
    ),
    # Its prefetcher moves the batches itself, by default to "cuda".
    ("loader", "timm.data.create_loader", {"device": True, **_LOADER}),
    ("transform", "timm.data.create_transform", _ON_HOST),
    ("transform", "timm.data.Mixup timm.data.mixup.Mixup", _FOLLOWS),
]

HUGGING_FACE: list[Entry] = [
    (
        "module",
        "transformers.models.**.modeling_*.[A-Z]* transformers.**Model transformers.**For[A-Z]* "
        "transformers.**Model.from_pretrained transformers.**For[A-Z]*.from_pretrained "
        "transformers.**Model.from_config transformers.**For[A-Z]*.from_config "
        "transformers.**ModelWith*.from_pretrained transformers.**ModelWithProjection "
        "transformers.**Backbone transformers.**Backbone.from_pretrained",
        _MODULE,
    ),
    (
        "pure",
        "transformers.modeling_outputs.** transformers.**ModelOutput* "
        "transformers.**For[A-Z]*Output",
        _UNKNOWN,
    ),
    ("module", "transformers.activations.[A-Z]*", _PLAIN_MODULE),
    # A tokenizer or processor; its call gives host tensors in an object with its own .to(device).
    (
        "tokenizer",
        "transformers.**Tokenizer transformers.**TokenizerFast transformers.**Processor "
        "transformers.**FeatureExtractor transformers.**Tokenizer.from_pretrained "
        "transformers.**TokenizerFast.from_pretrained transformers.**Processor.from_pretrained "
        "transformers.**FeatureExtractor.from_pretrained "
        "transformers.**ImageProcessor.from_pretrained",
        _ON_HOST,
    ),
    (
        "pure",
        "transformers.**Config transformers.**Config.from_pretrained "
        "transformers.GenerationConfig*",
        _UNKNOWN,
    ),
    (
        "pure",
        "transformers.logging.** transformers.TrainingArguments transformers.HfArgumentParser "
        "transformers.TrainerCallback",
        _UNKNOWN,
    ),
    (
        "random",
        "transformers.set_seed accelerate.utils.set_seed",
        {"params": ("seed",), "out": "none"},
    ),
    ("collate", "transformers.DataCollator* transformers.default_data_collator", _ON_HOST),
    (
        "optimizer",
        "transformers.AdamW transformers.Adafactor transformers.optimization.AdamW",
        {"params": ("params", "lr"), "out": "optimizer"},
    ),
    (
        "scheduler",
        "transformers.get_*schedule* transformers.get_scheduler transformers.optimization.get_*",
        _UNKNOWN,
    ),
    (
        "managed",
        "peft.**",
        _UNKNOWN,
    ),
    ("trainer", "transformers.**Trainer trl.**Trainer", _UNKNOWN),
    (
        "managed",
        "transformers.pipeline",
        {"device": True, "params": ("task", "model"), "out": "unknown"},
    ),
    (
        "module",
        "peft.get_peft_model peft.PeftModel.from_pretrained",
        {"params": ("model",), "out": "follows0"},
    ),
    (
        "module",
        "diffusers.models.**.[A-Z]* diffusers.**Pipeline diffusers.**Pipeline.from_pretrained "
        "diffusers.**Pipeline.from_single_file diffusers.**Model "
        "diffusers.**Model.from_pretrained diffusers.Autoencoder* "
        "diffusers.Autoencoder*.from_pretrained diffusers.*Adapter "
        "diffusers.*Adapter.from_pretrained diffusers.**ModelMixin",
        _MODULE,
    ),
    ("pure", "diffusers.**Output", _UNKNOWN),
    # Its tables follow the sample or stay on the host: both by its own code.
    (
        "pure",
        "diffusers.**Scheduler diffusers.**Scheduler.from_pretrained "
        "diffusers.**Scheduler.from_config",
        _UNKNOWN,
    ),
    (
        "module",
        "diffusers.training_utils.EMAModel",
        {"params": ("parameters",), "out": "follows0", "state": True},
    ),
    ("scheduler", "diffusers.optimization.get_*", _UNKNOWN),
    (
        "load",
        "safetensors.torch.load_file",
        {"device": True, "params": ("filename", "device"), "out": "host"},
    ),
    ("load", "safetensors.torch.load", {"params": ("data",), "out": "host"}),
    (
        "load",
        "safetensors.safe_open",
        {"device": True, "params": ("filename", "framework", "device"), "out": "unknown"},
    ),
    (
        "save",
        "safetensors.torch.save_file safetensors.torch.save_model",
        {"params": ("tensors", "filename"), "out": "none"},
    ),
    ("pure", "huggingface_hub.**", _UNKNOWN),
    ("dataset", "datasets.load_dataset datasets.load_from_disk datasets.Dataset.**", _DATASET),
    ("module", "sentence_transformers.SentenceTransformer", {"device": True, **_MODULE}),
]

GRAPHS: list[Entry] = [
    ("module", "torch_geometric.nn.**.[A-Z]* torch_geometric.nn.[A-Z]*", _MODULE),
    (
        "op",
        "torch_geometric.nn.[a-z]* torch_geometric.utils.** torch_scatter.** torch_sparse.** "
        "torch_cluster.**",
        _OP,
    ),
    ("scheduler", "torch_geometric.nn.lr_scheduler.**", _UNKNOWN),
    ("managed", "torch_geometric.graphgym.**", _UNKNOWN),
    # They go through lists or copy to the host themselves.
    (
        "query",
        "torch_geometric.utils.to_networkx torch_geometric.utils.to_scipy_sparse_matrix",
        {"out": "unknown"},
    ),
    (
        "create",
        "torch_geometric.utils.from_networkx torch_geometric.utils.from_scipy_sparse_matrix "
        "torch_geometric.utils.erdos_renyi_graph torch_geometric.utils.barabasi_albert_graph",
        {"out": "batch"},
    ),
    (
        "loader",
        "torch_geometric.loader.** torch_geometric.data.DataLoader "
        "torch_geometric.data.NeighborSampler torch_geometric.data.ClusterLoader "
        "torch_geometric.data.DenseDataLoader",
        {**_LOADER, "out": "records"},
    ),
    (
        "dataset",
        "torch_geometric.datasets.** torch_geometric.data.Dataset "
        "torch_geometric.data.InMemoryDataset",
        {"out": "records"},
    ),
    # Objects that hold tensors; .to(device) gives the moved object.
    (
        "container",
        "torch_geometric.data.Data torch_geometric.data.HeteroData "
        "torch_geometric.data.TemporalData",
        {"params": ("x", "edge_index", "edge_attr", "y", "pos"), "tensors": ("*",), "out": "batch"},
    ),
    (
        "container",
        "torch_geometric.data.Batch.from_data_list",
        {"params": ("data_list",), "tensors": ("data_list",), "out": "batch"},
    ),
    ("transform", "torch_geometric.transforms.**", _FOLLOWS),
    (
        "transform",
        "torch_geometric.transforms.ToDevice",
        {"device": True, "params": ("device",), "out": "unknown"},
    ),
    ("random", "torch_geometric.seed_everything", {"params": ("seed",), "out": "none"}),
    ("module", "dgl.nn.**", _MODULE),
]

MODELS_AND_METRICS: list[Entry] = [
    ("module", "segmentation_models_pytorch.**", _MODULE),
    (
        "module",
        "segmentation_models_pytorch.losses.** segmentation_models_pytorch.utils.losses.** "
        "segmentation_models_pytorch.utils.metrics.**",
        _PLAIN_MODULE,
    ),
    ("dataset", "segmentation_models_pytorch.datasets.**", _DATASET),
    # Its kernels read labels and lengths from host memory, whichever device computes.
    ("module", "warpctc_pytorch.CTCLoss", _PLAIN_MODULE),
    (
        "op",
        "warpctc_pytorch.CTCLoss.forward",
        {
            "params": ("acts", "labels", "act_lens", "label_lens"),
            "tensors": ("acts",),
            "host": ("labels", "act_lens", "label_lens"),
        },
    ),
    ("op", "segmentation_models_pytorch.metrics.**", _OP),
    (
        "op",
        "segmentation_models_pytorch.metrics.get_stats",
        {"params": ("output", "target"), "tensors": ("output", "target"), "out": "tensors"},
    ),
    ("transform", "segmentation_models_pytorch.encoders.get_preprocessing_fn", _UNKNOWN),
    (
        "pure",
        "segmentation_models_pytorch.encoders.get_preprocessing_params "
        "segmentation_models_pytorch.encoders.get_encoder_names",
        _UNKNOWN,
    ),
    ("managed", "segmentation_models_pytorch.utils.train.**", {"device": True, "out": "unknown"}),
    # The states of a metric move with .to(device), like buffers.
    ("module", "torchmetrics.**", _MODULE),
    ("op", "torchmetrics.functional.**", _OP),
    ("pure", "torchmetrics.utilities.**", _UNKNOWN),
    (
        "op",
        "torchmetrics.functional.accuracy",
        {"params": ("preds", "target"), "tensors": ("preds", "target")},
    ),
    ("module", "lpips.LPIPS pytorch_fid.inception.InceptionV3 facenet_pytorch.**", _MODULE),
    ("op", "pytorch_msssim.ssim pytorch_msssim.ms_ssim", _OP),
    # Many of them bring the others to where the first one is.
    ("op", "kornia.**", {"params": ("input",), "tensors": ("input",), "out": "follows0"}),
    (
        "module",
        "pytorch_msssim.SSIM pytorch_msssim.MS_SSIM kornia.*.[A-Z]* monai.losses.** "
        "monai.metrics.**",
        _PLAIN_MODULE,
    ),
    ("module", "monai.networks.nets.** monai.networks.blocks.**", _MODULE),
    ("transform", "monai.transforms.**", _UNKNOWN),
    ("loader", "monai.data.DataLoader", _LOADER),
    ("dataset", "monai.data.*Dataset", _DATASET),
    (
        "module",
        "efficientnet_pytorch.EfficientNet.from_pretrained "
        "efficientnet_pytorch.EfficientNet.from_name pretrainedmodels.** "
        "pretrainedmodels.models.** resnest.torch.** encoding.models.**",
        _MODULE,
    ),
    ("module", "open_clip.create_model", {"device": True, **_MODULE}),
    # (model, preprocess), and two for training and evaluation
    (
        "module",
        "clip.load",
        {"device": True, "params": ("name", "device"), "chooses": True, **_MODULE},
    ),
    ("module", "open_clip.create_model_and_transforms", {"device": True, **_MODULE}),
    ("create", "clip.tokenize open_clip.tokenize", {"params": ("texts",)}),
    # It takes a device since torch 2.0 only.
    ("create", "torch.nn.Transformer.generate_square_subsequent_mask", {"params": ("sz",)}),
    (
        "module",
        "whisper.load_model",
        {"device": True, "params": ("name", "device"), "chooses": True, **_MODULE},
    ),
    (
        "optimizer",
        "torch_optimizer.** adabelief_pytorch.** bitsandbytes.optim.** apex.optimizers.**",
        {"out": "optimizer"},
    ),
    ("scheduler", "warmup_scheduler.**", _UNKNOWN),
    ("module", "apex.parallel.DistributedDataParallel", {"params": ("module",), "out": "follows0"}),
    ("module", "torchcrf.CRF TorchCRF.CRF", _MODULE),
]

EINOPS: list[Entry] = [
    (
        "view",
        "einops.rearrange einops.reduce einops.repeat",
        {"params": ("tensor", "pattern"), "tensors": ("tensor",)},
    ),
    (
        "op",
        "einops.einsum",
        {"params": ("*tensors_and_pattern",), "tensors": ("tensors_and_pattern",)},
    ),
    (
        "op",
        "einops.pack",
        {"params": ("tensors", "pattern"), "tensors": ("tensors",), "out": "tensors"},
    ),
    (
        "view",
        "einops.unpack",
        {
            "params": ("tensor", "packed_shapes", "pattern"),
            "tensors": ("tensor",),
            "out": "tensors",
        },
    ),
    ("query", "einops.parse_shape", _SCALAR),
    ("to_numpy", "einops.asnumpy", {"params": ("tensor",), "out": "ndarray"}),
    ("module", "einops.layers.torch.Rearrange einops.layers.torch.Reduce", _PLAIN_MODULE),
    ("module", "einops.layers.torch.EinMix", _MODULE),
]

# What takes models, batches or the choice of the device into its own hands: left alone.
FRAMEWORKS: list[Entry] = [
    (
        "managed",
        "pytorch_lightning.** lightning.** lightning_fabric.** accelerate.** deepspeed.** "
        "fastai.** skorch.** ignite.** composer.** catalyst.** stable_baselines3.** tianshou.** "
        "ray.** colossalai.** horovod.**",
        _UNKNOWN,
    ),
    (
        "random",
        "pytorch_lightning.seed_everything lightning.seed_everything",
        {"params": ("seed",), "out": "none"},
    ),
]

TOOLS: list[Entry] = [
    # torch_xla 2.9: both give the device that is there, or raise.
    ("device", "torch_xla.device torch_xla.core.xla_model.xla_device", {"out": "device"}),
    (
        "passthrough",
        "tqdm.tqdm tqdm.trange tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.auto.trange "
        "tqdm.notebook.trange tqdm.tqdm_notebook rich.progress.track",
        {"params": ("iterable",), "out": "follows0"},
    ),
    # SummaryWriter, visdom and wandb.log copy to the host themselves.
    (
        "pure",
        "tensorboardX.** visdom.** wandb.** mlflow.** neptune.** comet_ml.** swanlab.** aim.** "
        "clearml.** rich.** loguru.** structlog.** tensorboard.**",
        _LOGGER,
    ),
    ("pure", "termcolor.** argparse.** yaml.** omegaconf.** hydra.** absl.**", _UNKNOWN),
    ("pure", "absl.logging.**", _LOGGER),
    ("host", "wandb.Histogram wandb.plot.**", {"out": "unknown", **_HOST}),
    # Runs the model on an input that it makes on `device`, by default "cuda" if there is one.
    (
        "pure",
        "torchsummary.summary",
        {"device": True, "params": ("model", "input_size", "batch_size", "device"), "out": "none"},
    ),
    # Makes the input where the model is.
    (
        "pure",
        "torchinfo.summary",
        {"device": True, "params": ("model", "input_size"), "out": "unknown"},
    ),
    (
        "op",
        "thop.profile",
        {"params": ("model", "inputs"), "tensors": ("model", "inputs"), "out": "scalar"},
    ),
    ("op", "torchviz.make_dot", {"params": ("var", "params"), "out": "unknown"}),
    ("pure", "torchtext.vocab.** torchtext.data.** torchtext.legacy.data.**", _UNKNOWN),
    (
        "loader",
        "torchtext.data.BucketIterator* torchtext.data.Iterator* "
        "torchtext.legacy.data.BucketIterator* torchtext.legacy.data.Iterator*",
        {"device": True, "params": ("dataset", "batch_size"), "out": "loader"},
    ),
    (
        "dataset",
        "torchtext.datasets.** torchtext.data.TabularDataset* torchtext.legacy.datasets.**",
        _DATASET,
    ),
    ("pure", "prefetch_generator.**", _UNKNOWN),
]

ENTRIES = (
    TORCH
    + TOOLS
    + STANDARD_LIBRARY
    + NUMPY
    + HOST_LIBRARIES
    + TORCHVISION
    + TORCHAUDIO
    + TIMM
    + FRAMEWORKS
    + HUGGING_FACE
    + GRAPHS
    + MODELS_AND_METRICS
    + EINOPS
)


@cache
def _exact() -> dict[str, Fact]:
    """Return the facts about names without a wildcard."""
    return {
        name: Fact(kind, **fields)
        for kind, names, fields in ENTRIES
        for name in names.split()
        if "*" not in name
    }


@cache
def _patterns(package: str) -> list[tuple[re.Pattern[str], Fact]]:
    """Return the patterns of one package, the one to try first in front."""
    found = []
    for kind, names, fields in ENTRIES:
        for name in names.split():
            if "*" in name and name.startswith(package + "."):
                expression = re.escape(name).replace(r"\*\*", ".*").replace(r"\*", "[^.]*")
                expression = expression.replace(r"\[", "[").replace(r"\]", "]").replace(r"\-", "-")
                found.append((re.compile(expression), Fact(kind, **fields)))
    return found[::-1]


def lookup(name: str) -> Fact | None:
    """Return the fact about a dotted name outside torch, or None."""
    fact = _exact().get(name)
    if fact is not None:
        return fact
    for pattern, fact in _patterns(name.partition(".")[0]):
        if pattern.fullmatch(name):
            return fact
    return None


@cache
def members(module: str) -> tuple[str, ...]:
    """Return the names of a module that are known one by one: what `from module import *` gives."""
    short = len(module) + 1
    names = (name[short:] for name in _exact() if name.startswith(f"{module}."))
    return tuple(sorted(name for name in names if "." not in name and name[0] != "_"))


@cache
def packages() -> frozenset[str]:
    """Return the top-level packages about which facts are kept here."""
    return frozenset(name.partition(".")[0] for _, names, _ in ENTRIES for name in names.split())
