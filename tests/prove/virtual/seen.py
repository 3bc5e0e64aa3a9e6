"""False alarms and lies of the virtual accelerator that were seen, as cases (see `cases`).

`SAME` ends with the numbers of the CPU, `ENDS` ends; of `REFUSED`, each with the words of a GPU.
"""

# ruff: noqa: E501 (one case, one line)

_TWO = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


_WAITS = "RuntimeError: called a synchronizing CUDA operation"


def _wrapper(name: str, method: str) -> str:
    return (
        f"RuntimeError: Expected all tensors to be on the same device, but got {name} is on cpu, "
        f"different from other tensors on cuda:0 (when checking argument in method {method})"
    )


def _lacks(kernel: str, kind: str) -> str:
    return f"NotImplementedError: \"{kernel}\" not implemented for '{kind}'"


_ENCODER = "m = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).to(D).eval(); x = torch.rand(2, 5, 8).to(D)"
_CTC = "g = torch.Generator().manual_seed(0); x = torch.rand(5, 2, 4, generator=g).to(D).requires_grad_(); i = dict(dtype=torch.int32); loss = lambda t, a, b, **k: F.ctc_loss(x.log_softmax(2), t, a, b, **k); t = torch.tensor([1, 2, 1, 3], **i); a, b = torch.tensor([5, 5], **i), torch.tensor([2, 2], **i); "
_TRACE = "torch.manual_seed(0); m = {module}.to(D).eval(); x, y = torch.rand({shape}).to(D), torch.rand({shape}).to(D)\nt = torch.jit.trace(m, x); r = [t(y), m(y)]"

SAME = {
    "fast path of a transformer, with a mask": f"{_ENCODER}; k = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]).bool().to(D)\nwith torch.no_grad(): r = m(x, src_key_padding_mask=k)",
    "fast path of a transformer": f"{_ENCODER}\nwith torch.no_grad(): r = m(x)",
    "nested tensors": "n = torch.nested.nested_tensor([h, h[:1]], device=D); assert n.device.type == D; r = [(n * 2).to_padded_tensor(0.), n.unbind()[1], torch.nested.to_padded_tensor(n @ torch.nested.nested_tensor([h.T, h[:1].T], device=D), 0.)]",
    "nested tensors that move": "n = torch.nested.nested_tensor([h, h[:1]]).to(D); assert n.device.type == D; r = [*n.cpu().unbind(), *n.clone().unbind()]",
    "nested gradients": "a = d.clone().requires_grad_(); n = torch.nested.as_nested_tensor([a, a[:1]]); torch.nested.to_padded_tensor(n * 3, 0.).sum().backward(); r = a.grad",
    "lengths of ctc_loss on the host": f"{_CTC}l = loss(t.to(D), a.long(), b.long()); l.backward(); r = [l, x.grad]",
    "lengths of ctc_loss on the device": f"{_CTC}l = loss(t.long(), a.long().to(D), b.to(D)); l.backward(); r = [l, x.grad]",
    "lengths of ctc_loss of 32 bits, for targets in rows": f"{_CTC}r = loss(t.view(2, 2).to(D), a, b)",
    "lengths of ctc_loss of 32 bits on the host, not cuDNN's": f"{_CTC}\nwith torch.backends.cudnn.flags(enabled=False): r = loss(t.to(D), a, b)",
    "ctc_loss that skips what does not align": f"{_CTC}l = loss(torch.tensor([1, 1, 1, 2, 1, 2]).to(D), torch.tensor([5, 4]), torch.tensor([3, 3]), zero_infinity=True); l.backward(); r = [l, x.grad]",
    "trace of a convolution": _TRACE.format(
        module="nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())", shape="1, 1, 5, 5"
    ),
    "trace of a cell": _TRACE.format(module="nn.LSTMCell(3, 2)", shape="1, 3"),
    "trace of a gated cell": _TRACE.format(module="nn.GRUCell(3, 2)", shape="1, 3"),
    "gradient of a trace": "m = nn.Conv2d(1, 2, 3).to(D); x = torch.ones(1, 1, 5, 5, device=D); torch.jit.trace(m, x)(x).sum().backward(); r = m.weight.grad",
    "lazy layers that move": "m = nn.Sequential(nn.LazyConv2d(2, 2), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)).to(D); y = m(torch.ones(2, 1, 3, 3, device=D)); r = [y.shape, all(p.device.type == D for p in m.parameters())]",
    "linear(out=) in one dimension": "r = torch.empty(2, device=D); torch.ops.aten.linear.out(d[0], d, out=r)",
    "matmul(out=) of another form": "r = torch.empty(2, device=D); torch.ops.aten.linear.out(d[:1], d, d[0, :2], out=r)",
    "batch_norm with empty results": "o = [torch.empty(0, device=D) for _ in range(3)]; m, v = torch.zeros(3, device=D), torch.ones(3, device=D); torch.ops.aten._native_batch_norm_legit.out(d, None, None, m, v, True, .1, 1e-5, out=o[0], save_mean=o[1], save_invstd=o[2]); r = [*o, m, v]",
    "addcmul with a 0-dim host operand": "r = torch.addcmul(d, d, H0)",
    "host put at device indices": "h[torch.tensor([0], device=D)] = 0.; r = h",
    "a scalar of the device put into the host": "h[torch.tensor([0])] = D0; r = h",
}

ENDS = {
    "cuDNN's ctc_loss, all on the device": f"{_CTC}l = loss(t.to(D), a.to(D), b.to(D)); l.backward(); y = x.detach().cpu().requires_grad_(); c = F.ctc_loss(y.log_softmax(2), t, a, b); c.backward(); assert torch.allclose(l.cpu(), c) and torch.allclose(x.grad.cpu(), y.grad, atol=1e-6)",
    "cuDNN's ctc_loss, summed, lengths on the host": f"{_CTC}l = loss(t, a, b, reduction='sum'); assert l.device.type == D",
    "cuDNN's ctc_loss, lengths as numbers": f"{_CTC}l = loss(t, [5, 5], [2, 2]); assert l.device.type == D and torch.allclose(l.cpu(), F.ctc_loss(x.detach().cpu().log_softmax(2), t, a, b))",
    "a constructor that no default device reaches": "torch.set_default_device(D)\ntry: assert torch.Tensor([1.]).device.type == 'cpu' and torch.tensor([1.]).device.type == torch.device(D).type\nfinally: torch.set_default_device(None)",
    "no hidden wait": "torch.cuda.set_sync_debug_mode('error')\ntry: (d * 2 + d[0]).sum(); h.pin_memory().to(D, non_blocking=True); torch.zeros(2, device=D); torch.cuda.synchronize()\nfinally: torch.cuda.set_sync_debug_mode(0)",
    "a hidden wait is warned of": "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always'); torch.cuda.set_sync_debug_mode('warn'); d.sum().item(); torch.cuda.set_sync_debug_mode(0)\nassert [str(x.message) for x in w if 'synchronizing' in str(x.message)]",
    "gradient of a recurrent network without cuDNN": "m = nn.GRU(3, 2).to(D).eval()\nwith torch.backends.cudnn.flags(enabled=False): y = m(d[None].requires_grad_())[0]\ny.sum().backward()",
    "half transforms": "assert torch.fft.rfft(d.half()[:, :2]).dtype == torch.complex32 and torch.fft.irfft(torch.fft.rfft(d.half()[:, :2]), 2).dtype == torch.float16",
    "histogram of integers": "assert torch.equal(torch.histc(d.long(), 3).cpu(), torch.tensor([2, 2, 2]))",
    "abs of booleans": "assert (d > 1).abs().dtype == torch.bool",
    "half pooling": "assert torch.equal(F.avg_pool3d(torch.ones(1, 2, 2, 2, device=D).half(), 2).cpu(), torch.ones(1, 1, 1, 1).half())",
    "sqrt of a half complex": "assert torch.sqrt(d.to(torch.complex32)).dtype == torch.complex32",
    "memory, counted": "import gc; gc.collect(); torch.cuda.reset_peak_memory_stats(); a = torch.cuda.memory_allocated(); x = torch.ones(1000, device=D); assert torch.cuda.memory_allocated() == a + 4096; y = x.view(10, 100); del x; assert torch.cuda.memory_allocated() == a + 4096; del y; assert torch.cuda.memory_allocated() == a and torch.cuda.max_memory_allocated() == a + 4096",
    "memory of parameters that move": "import gc; gc.collect(); a = torch.cuda.memory_allocated(); m = nn.Linear(32, 16).to(D); assert torch.cuda.memory_allocated() == a + 2048 + 512; m.cpu(); assert torch.cuda.memory_allocated() == a",
    "memory after an export": "m = nn.Linear(3, 2).to(D); e = torch.export.export(m, (d,)); assert torch.cuda.memory_allocated() > 0 and torch.equal(e.module()(d), m(d))",
    "memory wakes no proxies": "class Lazy:\n    __class__ = property(lambda self: 1 / 0)\nkept = [Lazy()]; x = torch.ones(3, device=D); assert torch.cuda.memory_allocated() >= 512",
    "memory is quick": "import time; x = [torch.ones(1, device=D) for _ in range(2000)]; t = time.perf_counter(); [torch.cuda.memory_allocated() for _ in range(50)]; assert time.perf_counter() - t < 2",
}

REFUSED = {
    "addcmul whose first factor is a 0-dim host operand": (
        "torch.addcmul(d, H0, d)",
        "RuntimeError: CPU Scalar support for tensor1 argument is not supported when calling addcmul on CUDA tensors",
    ),
    "a mean of cuDNN's ctc_loss, lengths on the host": (f"{_CTC}loss(t.to(D), a, b)", _TWO),
    "addcdiv with a 0-dim host operand": ("torch.addcdiv(d, d, H0)", _TWO),
    "too many host scalars": (
        "torch.addcmul(d, H0, H0)",
        "RuntimeError: Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    "dropout's mask on the host": (
        "torch.ops.aten.native_dropout_backward(d, h > 0, 2.)",
        _wrapper("mask", "wrapper_CUDA__native_dropout_backward"),
    ),
    "a reduction of sparse products": (
        "torch.sparse.mm(d.to_sparse_csr(), d.T.contiguous(), 'sum')",
        "NotImplementedError: Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCsrCUDA' backend.",
    ),
    "pooling of integers": (
        "F.max_pool2d(torch.ones(1, 1, 4, 4, device=D).long(), 2)",
        _lacks("max_pool2d_with_indices_out_cuda_frame", "Long"),
    ),
    "upsampling of bytes": (
        "F.interpolate(torch.ones(1, 1, 4, 4, device=D).byte(), scale_factor=2, mode='bilinear')",
        _lacks("upsample_bilinear2d_out_frame", "Byte"),
    ),
    "half transform of three numbers": (
        "torch.fft.fft(d.half())",
        "RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in half precision",
    ),
    "wrapper of a structured operation": ("d @ h.T", _wrapper("mat2", "wrapper_CUDA_mm")),
    "wrapper of another one": (
        "d.index_select(0, torch.tensor([0]))",
        _wrapper("index", "wrapper_CUDA__index_select"),
    ),
    "wrapper with an overload": (
        "d.scatter_(1, torch.zeros(2, 1, dtype=torch.long), d)",
        _wrapper("index", "wrapper_CUDA_scatter__src"),
    ),
    "wrapper of a sparse operation": (
        "d.to_sparse() @ h.T",
        _wrapper("mat2", "wrapper_SparseCUDA_mm"),
    ),
    "the result is looked at first": (
        "torch.mm(d, d.T, out=torch.empty(2, 2))",
        "RuntimeError: Expected all tensors to be on the same device, but got self is on cuda:0, different from other tensors on cpu (when checking argument in method wrapper_CUDA_mm_out_out)",
    ),
    "an operand that is no positional one": (
        "torch.segment_reduce(d, 'sum', lengths=torch.tensor([1, 1]))",
        "RuntimeError: ",
    ),
    "a hidden wait": (
        "torch.cuda.set_sync_debug_mode('error')\ntry: d.sum().item()\nfinally: torch.cuda.set_sync_debug_mode(0)",
        _WAITS,
    ),
    "a hidden wait for a size": (
        "torch.cuda.set_sync_debug_mode(2)\ntry: d[d > 0]\nfinally: torch.cuda.set_sync_debug_mode(0)",
        _WAITS,
    ),
    "a hidden wait for a copy": (
        "torch.cuda.set_sync_debug_mode(2)\ntry: h.to(D)\nfinally: torch.cuda.set_sync_debug_mode(0)",
        _WAITS,
    ),
    "no deterministic kernel": (
        "torch.use_deterministic_algorithms(True)\ntry: torch.histc(d)\nfinally: torch.use_deterministic_algorithms(False)",
        "RuntimeError: _histc_cuda does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'.",
    ),
    "no deterministic gradient": (
        "x = torch.ones(1, 1, 3, device=D, requires_grad=True); torch.use_deterministic_algorithms(True)\ntry: F.pad(x, (1, 1), mode='reflect').sum().backward()\nfinally: torch.use_deterministic_algorithms(False)",
        "RuntimeError: reflection_pad1d_backward_out_cuda does not have a deterministic implementation",
    ),
    "gradient of a recurrent network in evaluation": (
        "m = nn.LSTM(3, 2).to(D).eval(); m(d[None].requires_grad_())[0].sum().backward()",
        "RuntimeError: cudnn RNN backward can only be called in training mode",
    ),
    "more memory than a part of the device": (
        "torch.cuda.set_per_process_memory_fraction(1e-6)\ntry: torch.ones(1 << 22, device=D)\nfinally: torch.cuda.set_per_process_memory_fraction(1.)",
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacity of ",
    ),
}
