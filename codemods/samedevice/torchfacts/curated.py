"""Facts about torch that neither its schemas nor its signatures tell; `generate.py` merges them.

Each entry is (kind, names separated by blanks, other fields of `Fact`). An entry here wins over
what the generator reads off torch, and a later entry over an earlier one. Sources: the
documentation of torch 2.13 of the function named, and runs on torch 2.13, which
tests/torchfacts/test_semantics.py repeats where they need no GPU.
"""

from __future__ import annotations

from typing import Any

Entry = tuple[str, str, dict[str, Any]]

_LOAD = {"params": ("f", "map_location"), "out": "unknown"}
_NONE: dict[str, Any] = {"out": "none"}
_SCALAR: dict[str, Any] = {"out": "scalar"}
_UNKNOWN: dict[str, Any] = {"out": "unknown"}
_SELF: dict[str, Any] = {"out": "self"}

FUNCTIONS: list[Entry] = [
    # -- creations that are no aten operator, or take data ------------------------------------
    ("create", "torch.tensor", {"device": True, "params": ("data",)}),
    ("create", "torch.scalar_tensor", {"device": True, "params": ("s",)}),
    ("share", "torch.as_tensor", {"device": True, "params": ("data", "dtype", "device")}),
    ("share", "torch.asarray", {"device": True, "params": ("obj",)}),
    ("share", "torch.from_numpy", {"params": ("ndarray",)}),
    ("share", "torch.frombuffer", {"params": ("buffer",)}),
    (
        "share",
        "torch.from_dlpack torch.utils.dlpack.from_dlpack",
        {"device": True, "params": ("ext_tensor",)},
    ),
    ("create", "torch.from_file", {"device": True, "params": ("filename", "shared", "size")}),
    # Without `device` they are where their values are.
    (
        "create",
        "torch.sparse_coo_tensor",
        {
            "device": True,
            "params": ("indices", "values", "size"),
            "tensors": ("indices", "values"),
        },
    ),
    # A number may be a tensor without dimensions; that does not decide the place.
    (
        "create",
        "torch.linspace torch.logspace",
        {"device": True, "params": ("start", "end", "steps"), "free": ("start", "end")},
    ),
    ("create", "torch.arange torch.range", {"device": True, "params": ("start", "end", "step")}),
    ("create", "torch.full", {"device": True, "params": ("size", "fill_value")}),
    (
        "create",
        "torch.normal",
        {"device": True, "params": ("mean", "std", "size"), "tensors": ("mean", "std")},
    ),
    # -- which one of the arguments decides ---------------------------------------------------
    (
        "view",
        "torch.clone torch.detach torch.alias_copy",
        {"params": ("input",), "tensors": ("input",)},
    ),
    ("op", "torch.einsum", {"params": ("equation", "*operands"), "tensors": ("operands",)}),
    (
        "op",
        "torch.meshgrid",
        {"params": ("*tensors",), "tensors": ("tensors",), "out": "tensors"},
    ),
    # Each result is where its own tensor is.
    (
        "view",
        "torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.broadcast_tensors",
        {"params": ("*tensors",), "free": ("tensors",), "out": "tensors"},
    ),
    (
        "op",
        "torch.block_diag torch.cartesian_prod",
        {"params": ("*tensors",), "tensors": ("tensors",)},
    ),
    (
        "op",
        "torch.spmm torch.dsmm torch.hsmm",
        {"params": ("input", "mat2"), "tensors": ("input", "mat2")},
    ),
    ("op", "torch.chain_matmul", {"params": ("*matrices",), "tensors": ("matrices",)}),
    ("op", "torch.cdist", {"params": ("x1", "x2", "p"), "tensors": ("x1", "x2")}),
    ("view", "torch.norm", {"params": ("input", "p", "dim", "keepdim"), "tensors": ("input",)}),
    (
        "view",
        "torch.unique torch.unique_consecutive",
        {
            "params": ("input", "sorted", "return_inverse", "return_counts", "dim"),
            "tensors": ("input",),
        },
    ),
    (
        "view",
        "torch.nn.functional.sigmoid torch.nn.functional.softsign torch.nn.functional.tanh "
        "torch.nn.functional.tanhshrink torch.nn.functional.one_hot",
        {"params": ("input",), "tensors": ("input",)},
    ),
    (
        "view",
        "torch.nn.functional.max_pool1d torch.nn.functional.max_pool2d "
        "torch.nn.functional.max_pool3d torch.nn.functional.adaptive_max_pool1d "
        "torch.nn.functional.adaptive_max_pool2d torch.nn.functional.adaptive_max_pool3d "
        "torch.nn.functional.fractional_max_pool2d torch.nn.functional.fractional_max_pool3d",
        {"params": ("input", "kernel_size", "stride", "padding"), "tensors": ("input",)},
    ),
    (
        "view",
        "torch.nn.functional.upsample torch.nn.functional.upsample_bilinear "
        "torch.nn.functional.upsample_nearest",
        {"params": ("input", "size", "scale_factor", "mode"), "tensors": ("input",)},
    ),
    # ctc_loss copies the lengths to the CPU itself (aten/src/ATen/native/LossCTC.cpp); with cuDNN
    # the targets may be on the CPU as well, so that only the log-probabilities decide. That a mean
    # over cuDNN's losses refuses lengths of 32 bits on the CPU depends on types: it is not known.
    (
        "op",
        "torch.nn.functional.ctc_loss torch.ctc_loss torch.nn.CTCLoss.forward",
        {
            "params": ("log_probs", "targets", "input_lengths", "target_lengths"),
            "tensors": ("log_probs",),
            "free": ("targets", "input_lengths", "target_lengths"),
        },
    ),
    # "tensor_indices_or_sections must be on the CPU" (its error text).
    (
        "view",
        "torch.tensor_split",
        {
            "params": ("input", "indices_or_sections", "dim"),
            "tensors": ("input",),
            "host": ("indices_or_sections",),
            "out": "tensors",
        },
    ),
    # -- sequences ----------------------------------------------------------------------------
    (
        "pack",
        "torch.nn.utils.rnn.pack_padded_sequence",
        {
            "params": ("input", "lengths", "batch_first", "enforce_sorted"),
            "tensors": ("input",),
            "host": ("lengths",),
        },
    ),
    (
        "pack",
        "torch.nn.utils.rnn.pack_sequence",
        {"params": ("sequences",), "tensors": ("sequences",)},
    ),
    (
        "view",
        "torch.nn.utils.rnn.pad_packed_sequence",
        {"params": ("sequence", "batch_first"), "tensors": ("sequence",), "out": "tensors"},
    ),
    (
        "view",
        "torch.nn.utils.rnn.unpack_sequence",
        {"params": ("packed_sequences",), "tensors": ("packed_sequences",), "out": "tensors"},
    ),
    (
        "view",
        "torch.nn.utils.rnn.pad_sequence",
        {"params": ("sequences", "batch_first", "padding_value"), "tensors": ("sequences",)},
    ),
    (
        "op",
        "torch.nn.utils.rnn.unpad_sequence",
        {
            "params": ("padded_sequences", "lengths", "batch_first"),
            "tensors": ("padded_sequences", "lengths"),
            "out": "tensors",
        },
    ),
    (
        "pack",
        "torch.nn.utils.rnn.PackedSequence",
        {"params": ("data", "batch_sizes"), "tensors": ("data",), "host": ("batch_sizes",)},
    ),
    # The first parameter is filled where it is; these names are the older ones.
    (
        "view",
        "torch.nn.init.constant torch.nn.init.dirac torch.nn.init.eye "
        "torch.nn.init.kaiming_normal torch.nn.init.kaiming_uniform torch.nn.init.normal "
        "torch.nn.init.orthogonal torch.nn.init.sparse torch.nn.init.uniform "
        "torch.nn.init.xavier_normal torch.nn.init.xavier_uniform",
        {"params": ("tensor",), "tensors": ("tensor",)},
    ),
    # -- parameters, gradients ----------------------------------------------------------------
    (
        "parameter",
        "torch.nn.Parameter torch.nn.parameter.Parameter torch.nn.Buffer",
        {"params": ("data",), "tensors": ("data",)},
    ),
    ("parameter", "torch.autograd.Variable", {"params": ("data",), "tensors": ("data",)}),
    ("parameter", "torch.nn.UninitializedParameter torch.nn.UninitializedBuffer", {"device": True}),
    (
        "query",
        "torch.autograd.backward",
        {
            "params": ("tensors", "grad_tensors"),
            "tensors": ("tensors", "grad_tensors"),
            "out": "none",
        },
    ),
    (
        "op",
        "torch.autograd.grad",
        {
            "params": ("outputs", "inputs", "grad_outputs"),
            "tensors": ("outputs", "inputs", "grad_outputs"),
            "out": "tensors",
        },
    ),
    # They group the gradients by device and bring the norms together themselves.
    (
        "query",
        "torch.nn.utils.clip_grad_norm_ torch.nn.utils.clip_grad_norm",
        {"params": ("parameters", "max_norm"), "free": ("parameters",), "out": "tensor"},
    ),
    (
        "query",
        "torch.nn.utils.clip_grad_value_",
        {"params": ("parameters", "clip_value"), "free": ("parameters",), "out": "none"},
    ),
    (
        "view",
        "torch.nn.utils.parameters_to_vector",
        {"params": ("parameters",), "tensors": ("parameters",)},
    ),
    (
        "op",
        "torch.nn.utils.vector_to_parameters",
        {"params": ("vec", "parameters"), "tensors": ("vec", "parameters"), "out": "none"},
    ),
    (
        "passthrough",
        "torch.nn.utils.spectral_norm torch.nn.utils.weight_norm "
        "torch.nn.utils.remove_spectral_norm torch.nn.utils.remove_weight_norm "
        "torch.nn.utils.parametrizations.spectral_norm "
        "torch.nn.utils.parametrizations.weight_norm torch.nn.utils.parametrizations.orthogonal "
        "torch.jit.script torch.jit.trace torch.compile torch.jit.freeze "
        "torch.jit.optimize_for_inference torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        {"params": ("module",), "out": "follows0"},
    ),
    (
        "module",
        "torch.nn.utils.skip_init",
        {"params": ("module_cls", "*args"), "out": "module", "state": True, "device": True},
    ),
    # -- loading and saving -------------------------------------------------------------------
    ("load", "torch.load torch.jit.load", _LOAD),
    (
        "load",
        "torch.hub.load_state_dict_from_url torch.utils.model_zoo.load_url",
        {"params": ("url", "model_dir", "map_location"), "out": "unknown"},
    ),
    (
        "module",
        "torch.hub.load",
        {"params": ("repo_or_dir", "model", "*args"), "out": "module", "state": True},
    ),
    ("save", "torch.save torch.jit.save", {"params": ("obj", "f"), "out": "none"}),
    ("pure", "torch.hub.download_url_to_file torch.hub.set_dir", _NONE),
    ("pure", "torch.hub.list torch.hub.help torch.hub.get_dir", _SCALAR),
    # -- randomness ---------------------------------------------------------------------------
    ("generator", "torch.Generator", {"device": True, "params": ("device",), "out": "generator"}),
    (
        "random",
        "torch.manual_seed torch.random.manual_seed",
        {"params": ("seed",), "out": "generator"},
    ),
    (
        "random",
        "torch.seed torch.random.seed torch.initial_seed torch.random.initial_seed",
        _SCALAR,
    ),
    ("random", "torch.get_rng_state torch.random.get_rng_state", {"out": "host"}),
    (
        "random",
        "torch.set_rng_state torch.random.set_rng_state",
        {"params": ("new_state",), "host": ("new_state",), "out": "none"},
    ),
    ("context", "torch.random.fork_rng", {"out": "none"}),
    # -- data ---------------------------------------------------------------------------------
    (
        "loader",
        "torch.utils.data.DataLoader",
        {
            "params": (
                "dataset",
                "batch_size",
                "shuffle",
                "sampler",
                "batch_sampler",
                "num_workers",
                "collate_fn",
            ),
            "out": "loader",
        },
    ),
    (
        "dataset",
        "torch.utils.data.TensorDataset",
        {"params": ("*tensors",), "free": ("tensors",), "out": "dataset"},
    ),
    ("dataset", "torch.utils.data.Dataset torch.utils.data.IterableDataset", {"out": "dataset"}),
    (
        "dataset",
        "torch.utils.data.Subset torch.utils.data.ConcatDataset torch.utils.data.ChainDataset "
        "torch.utils.data.StackDataset",
        {"params": ("dataset",), "out": "dataset"},
    ),
    (
        "dataset",
        "torch.utils.data.random_split",
        {"params": ("dataset", "lengths"), "out": "datasets"},
    ),
    (
        "sampler",
        "torch.utils.data.Sampler torch.utils.data.RandomSampler "
        "torch.utils.data.SequentialSampler torch.utils.data.BatchSampler "
        "torch.utils.data.SubsetRandomSampler torch.utils.data.distributed.DistributedSampler "
        "torch.utils.data.DistributedSampler",
        {"out": "unknown"},
    ),
    # It turns its weights into a list (checked with weights on another device).
    (
        "sampler",
        "torch.utils.data.WeightedRandomSampler",
        {
            "params": ("weights", "num_samples", "replacement"),
            "free": ("weights",),
            "out": "unknown",
        },
    ),
    (
        "collate",
        "torch.utils.data.default_collate torch.utils.data.dataloader.default_collate",
        {"params": ("batch",), "tensors": ("batch",)},
    ),
    ("collate", "torch.utils.data.default_convert", {"params": ("data",), "tensors": ("data",)}),
    ("query", "torch.utils.data.get_worker_info", {"out": "unknown"}),
    # -- CUDA: what the calls without CUDA do not tell ----------------------------------------
    (
        "cudaonly",
        "torch.cuda.Event torch.cuda.Stream torch.cuda.ExternalStream torch.cuda.CUDAGraph "
        "torch.cuda.graph torch.cuda.MemPool",
        _UNKNOWN,
    ),
    (
        "cudaonly",
        "torch.cuda.set_sync_debug_mode",
        {"params": ("debug_mode",), "out": "unknown"},
    ),
    (
        "cudaonly",
        "torch.cuda.make_graphed_callables",
        {"params": ("callables", "sample_args"), "out": "unknown"},
    ),
    ("cudaonly", "torch.cuda.device", {"params": ("device",), "out": "unknown"}),
    ("cudaquiet", "torch.cuda.device_of", {"params": ("obj",), "free": ("obj",), "out": "unknown"}),
    (
        "cudaquiet",
        "torch.cuda.stream torch.cuda.StreamContext",
        {"params": ("stream",), "out": "unknown"},
    ),
    (
        "cudaquiet",
        "torch.cuda.set_rng_state",
        {"params": ("new_state", "device"), "host": ("new_state",), "out": "none"},
    ),
    (
        "cudaquiet",
        "torch.cuda.set_rng_state_all",
        {"params": ("new_states",), "host": ("new_states",), "out": "none"},
    ),
    ("cudaonly", "torch.cuda.get_rng_state", {"params": ("device",), "out": "host"}),
    ("cudaquiet", "torch.cuda.get_rng_state_all", {"out": "host"}),
    ("cudaonly", "torch.accelerator.Graph torch.cuda.get_stream_from_external", _UNKNOWN),
    ("cudaonly", "torch.cuda.check_error", {"params": ("res",), "out": "none"}),
    ("cudaonly", "torch.cuda.use_mem_pool", {"params": ("pool", "device"), "out": "unknown"}),
    (
        "cudaonly",
        "torch.cuda.CUDAPluggableAllocator torch.cuda.change_current_allocator "
        "torch.cuda.jiterator._create_jit_fn torch.cuda.jiterator._create_multi_output_jit_fn "
        "torch.cuda.memory._dump_snapshot torch.cuda.memory._record_memory_history "
        "torch.cuda.memory._snapshot torch.autograd.profiler.emit_nvtx",
        _UNKNOWN,
    ),
    (
        "cudaonly",
        "torch.cuda.BFloat16Storage torch.cuda.BoolStorage torch.cuda.ByteStorage "
        "torch.cuda.CharStorage torch.cuda.ComplexDoubleStorage torch.cuda.ComplexFloatStorage "
        "torch.cuda.DoubleStorage torch.cuda.FloatStorage torch.cuda.HalfStorage "
        "torch.cuda.IntStorage torch.cuda.LongStorage torch.cuda.ShortStorage",
        _UNKNOWN,
    ),
    # A context manager; nothing happens for None.
    ("cudaonly", "torch.accelerator.device_index", {"params": ("device",), "out": "unknown"}),
    # -- devices ------------------------------------------------------------------------------
    (
        "device",
        "torch.device torch.get_default_device",
        {"params": ("type", "index"), "out": "device"},
    ),
    (
        "availability",
        "torch.accelerator.is_available torch.cuda.is_available torch.cuda.device_count "
        "torch.backends.mps.is_available torch.backends.mps.is_built torch.backends.cuda.is_built "
        "torch.backends.cudnn.is_available "
        "torch.mps.is_available torch.mps.device_count torch.xpu.is_available "
        "torch.xpu.device_count torch.accelerator.device_count "
        "torch.cuda.is_bf16_supported torch.mtia.is_available "
        "torch.amp.is_autocast_available",
        _SCALAR,
    ),
    ("device", "torch.accelerator.current_accelerator torch.cpu.current_device", {"out": "device"}),
    ("device", "torch.set_default_device", {"params": ("device",), "out": "none"}),
    ("device", "torch.set_default_tensor_type", {"params": ("t",), "out": "none"}),
    ("pure", "torch.get_device_module", {"params": ("device",), "out": "unknown"}),
    # -- contexts, switches -------------------------------------------------------------------
    (
        "context",
        "torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled "
        "torch.autograd.no_grad torch.autograd.set_grad_enabled torch.autograd.set_detect_anomaly "
        "torch.autograd.detect_anomaly torch.autograd.inference_mode torch.autograd.enable_grad "
        "torch.autograd.profiler.profile torch.autograd.profiler.record_function "
        "torch.profiler.profile torch.profiler.record_function torch.nn.attention.sdpa_kernel "
        "torch.autograd.graph.save_on_cpu torch.autograd.graph.saved_tensors_hooks",
        _NONE,
    ),
    (
        "context",
        "torch.autocast torch.amp.autocast torch.amp.autocast_mode.autocast",
        {"params": ("device_type", "dtype", "enabled"), "out": "none"},
    ),
    (
        "context",
        "torch.cuda.amp.autocast torch.cuda.amp.autocast_mode.autocast torch.cpu.amp.autocast",
        {"params": ("enabled", "dtype"), "out": "none"},
    ),
    ("pure", "torch.amp.GradScaler", {"params": ("device",), "out": "unknown"}),
    ("cudaquiet", "torch.cuda.amp.GradScaler", {"params": ("init_scale",), "out": "unknown"}),
    (
        "pure",
        "torch.amp.custom_fwd torch.amp.custom_bwd torch.cuda.amp.custom_fwd "
        "torch.cuda.amp.custom_bwd torch.jit.export torch.jit.ignore torch.jit.unused "
        "torch.func.vmap torch.vmap torch.func.grad torch.func.jacrev torch.func.jacfwd "
        "torch.func.hessian torch.func.vjp torch.func.jvp torch.func.functional_call "
        "torch.func.stack_module_state torch.func.grad_and_value",
        {"out": "unknown"},
    ),
    (
        "pure",
        "torch.set_num_threads torch.set_num_interop_threads torch.set_default_dtype "
        "torch.set_printoptions torch.set_float32_matmul_precision torch.set_flush_denormal "
        "torch.use_deterministic_algorithms torch.set_deterministic_debug_mode "
        "torch.set_warn_always torch.multiprocessing.set_start_method "
        "torch.multiprocessing.set_sharing_strategy torch.multiprocessing.spawn "
        "torch.autograd.gradcheck torch.autograd.gradgradcheck",
        _NONE,
    ),
    (
        "query",
        "torch.is_tensor torch.is_storage torch.typename torch.get_num_threads "
        "torch.get_default_dtype torch.is_grad_enabled torch.is_inference_mode_enabled "
        "torch.get_num_interop_threads torch.are_deterministic_algorithms_enabled "
        "torch.broadcast_shapes torch.finfo torch.iinfo torch.Size "
        "torch.get_float32_matmul_precision torch.nn.init.calculate_gain torch.numel "
        "torch.is_autocast_enabled torch.multiprocessing.cpu_count torch.can_cast "
        "torch.promote_types torch.result_type",
        _SCALAR,
    ),
    (
        "pure",
        "torch.utils.checkpoint.checkpoint",
        {"params": ("function", "*args"), "tensors": ("args",), "out": "unknown"},
    ),
    (
        "pure",
        "torch.utils.checkpoint.checkpoint_sequential",
        {"params": ("functions", "segments", "input"), "tensors": ("input",)},
    ),
    ("pure", "torch.Event torch.Stream torch.autograd.Function", _UNKNOWN),
    (
        "pure",
        "torch.autograd.functional.jacobian torch.autograd.functional.hessian "
        "torch.autograd.functional.vjp torch.autograd.functional.jvp "
        "torch.autograd.functional.vhp torch.autograd.functional.hvp",
        {"params": ("func", "inputs"), "tensors": ("inputs",), "out": "tensors"},
    ),
    # A view of memory on any device: who takes it decides.
    ("pure", "torch.to_dlpack torch.utils.dlpack.to_dlpack", _UNKNOWN),
    # -- distributed --------------------------------------------------------------------------
    (
        "query",
        "torch.distributed.is_available torch.distributed.is_initialized "
        "torch.distributed.get_rank torch.backends.openmp.is_available torch.cpu.is_available "
        "torch.distributed.get_world_size torch.distributed.get_backend "
        "torch.distributed.is_nccl_available",
        _SCALAR,
    ),
    (
        "pure",
        "torch.distributed.init_process_group torch.distributed.destroy_process_group "
        "torch.distributed.barrier torch.distributed.all_gather_object "
        "torch.distributed.broadcast_object_list torch.distributed.gather_object",
        _NONE,
    ),
    (
        "view",
        "torch.distributed.all_reduce torch.distributed.broadcast torch.distributed.reduce "
        "torch.distributed.send torch.distributed.recv",
        {"params": ("tensor",), "tensors": ("tensor",), "out": "none"},
    ),
    (
        "op",
        "torch.distributed.all_gather",
        {"params": ("tensor_list", "tensor"), "tensors": ("tensor_list", "tensor"), "out": "none"},
    ),
    (
        "op",
        "torch.distributed.scatter",
        {
            "params": ("tensor", "scatter_list"),
            "tensors": ("tensor", "scatter_list"),
            "out": "none",
        },
    ),
    (
        "op",
        "torch.distributed.gather",
        {"params": ("tensor", "gather_list"), "tensors": ("tensor", "gather_list"), "out": "none"},
    ),
    # -- distributions ------------------------------------------------------------------------
    (
        "op",
        "torch.distributions.kl_divergence torch.distributions.kl.kl_divergence",
        {"params": ("p", "q"), "tensors": ("p", "q")},
    ),
    (
        "distribution",
        "torch.distributions.AffineTransform",
        {"params": ("loc", "scale"), "tensors": ("loc", "scale"), "out": "distribution"},
    ),
    (
        "distribution",
        "torch.distributions.PowerTransform",
        {"params": ("exponent",), "tensors": ("exponent",), "out": "distribution"},
    ),
    # -- replicas -----------------------------------------------------------------------------
    (
        "module",
        "torch.nn.DataParallel torch.nn.parallel.DataParallel "
        "torch.nn.parallel.DistributedDataParallel torch.nn.parallel.DistributedDataParallelCPU",
        {"params": ("module", "device_ids", "output_device"), "out": "follows0", "state": True},
    ),
    # They go over several devices on purpose.
    (
        "pure",
        "torch.nn.parallel.replicate torch.nn.parallel.scatter torch.nn.parallel.gather "
        "torch.nn.parallel.parallel_apply torch.nn.parallel.data_parallel",
        _UNKNOWN,
    ),
    # Bases that classes of users inherit from.
    (
        "module",
        "torch.nn.modules.loss._Loss torch.nn.modules.loss._WeightedLoss torch.jit.ScriptModule",
        {"out": "module"},
    ),
    (
        "module",
        "torch.nn.modules.batchnorm._BatchNorm torch.nn.modules.batchnorm._NormBase "
        "torch.nn.modules.conv._ConvNd torch.nn.modules.instancenorm._InstanceNorm",
        {"device": True, "out": "module", "state": True},
    ),
    ("scheduler", "torch.optim.lr_scheduler._LRScheduler", _UNKNOWN),
    # The weight is the tensor that is given.
    (
        "module",
        "torch.nn.Embedding.from_pretrained torch.nn.EmbeddingBag.from_pretrained",
        {
            "params": ("embeddings", "freeze"),
            "tensors": ("embeddings",),
            "out": "module",
            "state": True,
        },
    ),
    # -- containers: their place is that of what they are given -------------------------------
    ("module", "torch.nn.Sequential", {"params": ("*modules",), "out": "module"}),
    (
        "module",
        "torch.nn.ModuleList torch.nn.ModuleDict",
        {"params": ("modules",), "out": "module"},
    ),
    (
        "module",
        "torch.nn.ParameterList torch.nn.ParameterDict",
        {"params": ("values",), "tensors": ("values",), "out": "module", "state": True},
    ),
    ("module", "torch.nn.Module torch.nn.Container", {"out": "module"}),
    (
        "module",
        "torch.nn.RNN torch.nn.LSTM torch.nn.GRU",
        {
            "device": True,
            "params": ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout"),
            "out": "module",
            "state": True,
        },
    ),
    (
        "op",
        "torch.nn.RNN.forward torch.nn.LSTM.forward torch.nn.GRU.forward",
        {"params": ("input", "hx"), "tensors": ("input", "hx"), "out": "tensors"},
    ),
    (
        "op",
        "torch.nn.LSTMCell.forward",
        {"params": ("input", "hx"), "tensors": ("input", "hx"), "out": "tensors"},
    ),
    ("view", "torch.nn.Sequential.forward", {"params": ("input",), "tensors": ("input",)}),
    (
        "module",
        "torch.optim.swa_utils.AveragedModel",
        {"params": ("model", "device"), "device": True, "out": "module", "state": True},
    ),
    (
        "pure",
        "torch.optim.swa_utils.update_bn",
        {"params": ("loader", "model", "device"), "device": True, "out": "none"},
    ),
]

_AGREES: dict[str, Any] = {"params": ("other",), "tensors": ("other",)}

TENSOR_METHODS: list[Entry] = [
    ("move", "to", {"device": True, "params": ("device", "dtype", "non_blocking", "copy")}),
    ("move", "cuda xpu ipu mtia", {"device": True, "params": ("device", "non_blocking")}),
    ("move", "cpu", {}),
    # x.type("torch.cuda.FloatTensor") moves; x.type(torch.float32) does not.
    ("move", "type", {"params": ("dtype", "non_blocking")}),
    # A copy in pinned host memory; refuses a tensor that is not on the host, and needs CUDA.
    ("cudaonly", "pin_memory", {"device": True, "out": "host", "host": ("self",)}),
    ("to_numpy", "numpy __array__", {"out": "ndarray", "host": ("self",)}),
    # Sharing memory of the host with NumPy or with another process.
    ("view", "share_memory_", _SELF),
    (
        "host",
        "apply_ map_ map2_",
        {"out": "self", "params": ("tensor",), "host": ("self", "tensor")},
    ),
    (
        "query",
        "item tolist size dim ndimension nelement numel element_size stride storage_offset "
        "data_ptr is_contiguous is_floating_point is_complex is_signed is_pinned is_shared "
        "get_device is_set_to dim_order const_data_ptr storage_type __len__ __bool__ __int__ "
        "__float__ __index__ __contains__ __hash__ __format__ __repr__ __nonzero__ __long__ "
        "__complex__ __sizeof__ dense_dim sparse_dim q_scale qscheme is_inference is_neg is_conj "
        "is_nonzero is_distributed is_coalesced",
        _SCALAR,
    ),
    ("query", "equal allclose is_same_size", {"out": "scalar", **_AGREES}),
    ("query", "is_same_size", {"out": "scalar", "params": ("other",), "free": ("other",)}),
    ("query", "storage untyped_storage", {"out": "unknown"}),
    (
        "query",
        "backward",
        {
            "params": ("gradient", "retain_graph", "create_graph"),
            "tensors": ("gradient",),
            "out": "none",
        },
    ),
    (
        "query",
        "register_hook register_post_accumulate_grad_hook",
        {"params": ("hook",), "out": "unknown"},
    ),
    ("query", "retain_grad", _NONE),
    ("view", "requires_grad_ detach_ squeeze_ unsqueeze_ t_ zero_ resize_", _SELF),
    (
        "view",
        "float double half bfloat16 long int short char byte bool cfloat cdouble chalf contiguous "
        "__abs__ __neg__ __pos__ __invert__ __deepcopy__ __reversed__ to_sparse_coo as_subclass",
        {},
    ),
    ("view", "__iter__", {"out": "tensors"}),
    (
        "view",
        "unique unique_consecutive",
        {"params": ("sorted", "return_inverse", "return_counts", "dim")},
    ),
    ("view", "lu", {"out": "tensors"}),
    # Only the sizes of the argument matter.
    (
        "view",
        "view_as reshape_as expand_as resize_as_ resize_as",
        {"params": ("other",), "free": ("other",)},
    ),
    # The result is on the argument's place.
    ("like", "type_as", {"params": ("other",), "free": ("other",), "out": "follows0"}),
    ("like", "new", {"device": True, "params": ("*args",)}),
    ("like", "new_tensor", {"device": True, "params": ("data",)}),
    # Copies across devices.
    ("view", "copy_", {"params": ("src", "non_blocking"), "free": ("src",), "out": "self"}),
    (
        "view",
        "tensor_split",
        {
            "params": ("indices_or_sections", "dim"),
            "host": ("indices_or_sections",),
            "out": "tensors",
        },
    ),
    ("view", "split", {"params": ("split_size", "dim"), "out": "tensors"}),
    ("view", "__getitem__", {"params": ("index",), "free": ("index",)}),
    (
        "view",
        "__setitem__",
        {"params": ("index", "value"), "free": ("index", "value"), "out": "none"},
    ),
    (
        "op",
        "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ "
        "__rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __and__ __or__ __xor__ __rand__ __ror__ "
        "__rxor__ __lshift__ __rshift__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __div__ "
        "__rdiv__",
        {"scalars": True, **_AGREES},
    ),
    ("op", "__matmul__ __rmatmul__", _AGREES),
    (
        "op",
        "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ "
        "__ixor__ __ilshift__ __irshift__ __idiv__",
        {"out": "self", "scalars": True, **_AGREES},
    ),
]

MODULE_METHODS: list[Entry] = [
    ("move", "to", {"device": True, "out": "self", "params": ("device", "dtype", "non_blocking")}),
    ("move", "cuda xpu ipu mtia", {"device": True, "out": "self", "params": ("device",)}),
    ("move", "cpu", _SELF),
    ("move", "to_empty", {"device": True, "out": "self", "params": ("device", "recurse")}),
    (
        "view",
        "train eval requires_grad_ float double half bfloat16 type apply share_memory _apply",
        _SELF,
    ),
    ("view", "parameters buffers", {"out": "tensors"}),
    ("view", "named_parameters named_buffers", {"out": "named_tensors"}),
    ("view", "modules children", {"out": "modules"}),
    ("view", "named_modules named_children", {"out": "named_modules"}),
    ("view", "get_parameter get_buffer", {"params": ("target",)}),
    ("view", "get_submodule", {"params": ("target",), "out": "module"}),
    ("view", "state_dict", {"out": "tensors"}),
    # Copies into the parameters where they are.
    (
        "query",
        "load_state_dict",
        {"params": ("state_dict", "strict", "assign"), "free": ("state_dict",), "out": "unknown"},
    ),
    ("query", "zero_grad", {"params": ("set_to_none",), "out": "none"}),
    ("query", "compile", _NONE),
    (
        "parameter",
        "register_buffer",
        {"params": ("name", "tensor", "persistent"), "tensors": ("tensor",), "out": "none"},
    ),
    (
        "parameter",
        "register_parameter",
        {"params": ("name", "param"), "tensors": ("param",), "out": "none"},
    ),
    ("module", "add_module register_module", {"params": ("name", "module"), "out": "none"}),
    ("module", "set_submodule", {"params": ("target", "module"), "out": "none"}),
    (
        "query",
        "register_forward_hook register_forward_pre_hook register_full_backward_hook "
        "register_full_backward_pre_hook register_backward_hook register_state_dict_pre_hook "
        "register_state_dict_post_hook register_load_state_dict_pre_hook "
        "register_load_state_dict_post_hook",
        {"params": ("hook",), "out": "unknown"},
    ),
    ("query", "extra_repr", _SCALAR),
    ("query", "get_extra_state", {"out": "unknown"}),
    ("query", "set_extra_state", {"params": ("state",), "out": "none"}),
]

TENSOR_ATTRIBUTES: dict[str, str] = {
    "shape": "scalar",
    "ndim": "scalar",
    "dtype": "scalar",
    "layout": "scalar",
    "device": "device",
    "names": "scalar",
    "name": "scalar",
    "itemsize": "scalar",
    "nbytes": "scalar",
    "requires_grad": "scalar",
    "is_leaf": "scalar",
    "retains_grad": "scalar",
    "grad_fn": "unknown",
    "grad_dtype": "scalar",
    "output_nr": "scalar",
    "volatile": "scalar",
    "T": "self",
    "H": "self",
    "mT": "self",
    "mH": "self",
    "data": "self",
    "grad": "self",
    "real": "self",
    "imag": "self",
    "_grad": "self",
    "_base": "self",
}

# What earlier releases had and the installed one lacks; code that people have still names it.
REMOVED: list[Entry] = [
    (
        "view",
        "torch.rfft torch.irfft torch.ifft torch.fft",
        {"params": ("input",), "tensors": ("input",)},
    ),
    (
        "view",
        "torch.symeig torch.eig",
        {"params": ("input", "eigenvectors"), "tensors": ("input",), "out": "tensors"},
    ),
    (
        "op",
        "torch.solve torch.lstsq",
        {"params": ("input", "A"), "tensors": ("input", "A"), "out": "tensors"},
    ),
    ("view", "torch.matrix_rank", {"params": ("input", "tol"), "tensors": ("input",)}),
    (
        "module",
        "torch.nn.NLLLoss2d",
        {"params": ("weight",), "tensors": ("weight",), "out": "module"},
    ),
    (
        "op",
        "torch.nn.NLLLoss2d.forward",
        {"params": ("input", "target"), "tensors": ("input", "target")},
    ),
]

# Operators that are made of elementwise ones (their own entry says nothing about devices).
ELEMENTWISE = (
    "arctan2 clamp clamp_max clamp_min clip divide fill float_power fmax fmin greater "
    "greater_equal isclose less less_equal masked_fill max min multiply not_equal rsub subtract "
    "true_divide where"
)

# Parameters of operators that take a tensor which may be elsewhere; schemas do not tell.
FREE: dict[str, tuple[str, ...]] = {
    # An index on the host selects on the device (not the other way round).
    "index_put": ("indices",),
    "index_put_": ("indices",),
    # Copied into a part of the first operand.
    "as_strided_scatter": ("src",),
    "diagonal_scatter": ("src",),
    "select_scatter": ("src",),
    "slice_scatter": ("src",),
    # A number, which is read: one without dimensions.
    "narrow": ("start",),
    # Only the size matters.
    "resize_as_": ("the_template",),
}
