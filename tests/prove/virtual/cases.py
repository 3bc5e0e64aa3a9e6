"""What a GPU machine does with small pieces of code: goes on, or stops with these words.

A case is a name, code and an expectation. The code finds `torch`, `nn`, `F`, `np`, `D` (the
device), `d` (a float tensor of shape (2, 3) there), `h` (the same on the host), `D0` (a 0-dim tensor
there) and `H0` (one on the host). The expectations:

- SAME: it ends, and what it left in `r` is what it leaves with `D` on the CPU, to the last bit
- NEAR: the same, but rounded otherwise
- ENDS: it ends (its numbers are the device's own)
- "Type: words": it raises an exception of that type whose message begins so
"""

# ruff: noqa: E501 (one case, one line)

from __future__ import annotations

from typing import NamedTuple

import seen

SAME = "same"
NEAR = "near"
ENDS = "ends"


class Case(NamedTuple):
    """One piece of code and what becomes of it."""

    name: str
    code: str
    expected: str


_PLACES = "RuntimeError: Expected all tensors to be on the same device, but "
_TWO = _PLACES + "found at least two devices, cuda:0 and cpu!"


def _got(name: str, first: str = "cuda:0", other: str = "cpu") -> str:
    return _PLACES + f"got {name} is on {other}, different from other tensors on {first}"


# Elementwise: one 0-dim host tensor is a scalar, anything else is refused.
_ELEMENTWISE = {
    "add": "d + h",
    "add, host first": "h + d",
    "sub": "d - h",
    "mul": "d * h",
    "div": "d / h",
    "floor divide": "d // h",
    "remainder": "d % h",
    "pow": "d ** h",
    "equal to": "d == h",
    "less than": "d < h",
    "maximum": "torch.maximum(d, h)",
    "atan2": "torch.atan2(d, h)",
    "bitwise and": "d.bool() & h.bool()",
    "logical or": "torch.logical_or(d, h)",
    "where, condition on host": "torch.where(h > 0, d, d)",
    "where, other on host": "torch.where(d > 0, d, h)",
    "lerp": "torch.lerp(d, h, 0.5)",
    "addcmul": "torch.addcmul(d, d, h)",
    "addcdiv, the step of an optimizer": "d.addcdiv_(d, h)",
    "isclose": "torch.isclose(d, h)",
    "allclose": "torch.allclose(d, h)",
    "mse_loss": "F.mse_loss(d, h)",
    "l1_loss": "F.l1_loss(d, h)",
    "smooth_l1_loss": "F.smooth_l1_loss(d, h)",
    "binary_cross_entropy": "F.binary_cross_entropy(d.sigmoid(), h)",
    "bce with logits": "F.binary_cross_entropy_with_logits(d, h)",
    "kl_div": "F.kl_div(d, h, reduction='batchmean')",
    "in place, device": "d += h",
    "in place, host": "h += d",
    "in place, 0-dim host": "H0 += D0",
    "out on host": "torch.add(d, d, out=h)",
    "broadcast": "d * torch.ones(3)",
    "a mean and a deviation of a data set": "(d - torch.tensor([1., 2, 3])) / torch.tensor([1., 1, 1])",
    "index_put of host values": "d[torch.tensor([0])] = torch.ones(1, 3)",
    "masked put of host values": "d[d > 0] = torch.ones(6)",
    "host put of device values": "h[torch.tensor([0])] = torch.ones(1, 3, device=D)",
}

# Everything else: all operands on the device of the first one.
_COMMON = {
    "mm": ("torch.mm(d, h.T)", _got("mat2")),
    "mm, host first": ("torch.mm(h, d.T)", _got("mat2", "cpu", "cuda:0")),
    "matmul": ("d @ h.T", _got("mat2")),
    "bmm": ("torch.bmm(d[None], h.T[None])", _got("mat2")),
    "addmm": ("torch.addmm(d, d, torch.ones(3, 3))", _got("mat2")),
    "baddbmm": ("torch.baddbmm(d[None], d[None], torch.ones(1, 3, 3))", _got("batch2")),
    "mv": ("d @ torch.ones(3)", _got("mat", "cpu", "cuda:0")),
    "cosine similarity": ("F.cosine_similarity(d, h)", _PLACES),
    "grid_sample": (
        "F.grid_sample(torch.ones(1, 1, 2, 2, device=D), torch.ones(1, 2, 2, 2))",
        _got("grid"),
    ),
    "dot": ("torch.dot(d[0], h[0])", _got("tensor")),
    "einsum": ("torch.einsum('ij,kj->ik', d, h)", _PLACES),
    "linear": ("F.linear(d, torch.ones(4, 3))", _got("mat2")),
    "linear layer left on host": ("nn.Linear(3, 2)(d)", _got("mat1", "cpu", "cuda:0")),
    "linear layer, host input": ("nn.Linear(3, 2).to(D)(h)", _got("mat1")),
    "sequential, host input": ("nn.Sequential(nn.Linear(3, 2), nn.ReLU()).to(D)(h)", _got("mat1")),
    "cat": ("torch.cat([d, h])", _got("tensors")),
    "stack": ("torch.stack([d, h])", _got("tensors")),
    "stack of scalars": ("torch.stack([D0, H0])", _got("tensors")),
    "embedding, host index": ("nn.Embedding(4, 2).to(D)(torch.tensor([1]))", _got("index")),
    "embedding left on host": (
        "nn.Embedding(4, 2)(torch.tensor([1], device=D))",
        _got("index", "cpu", "cuda:0"),
    ),
    "cross_entropy": ("F.cross_entropy(d, torch.tensor([0, 1]))", _got("target")),
    "cross_entropy, host weight": (
        "F.cross_entropy(d, torch.tensor([0, 1], device=D), weight=torch.ones(3))",
        _got("weight"),
    ),
    "nll_loss": ("F.nll_loss(d, torch.tensor([0, 1]))", _got("target")),
    "layer_norm": ("F.layer_norm(d, (3,), torch.ones(3), torch.zeros(3))", _got("weight")),
    "gather": ("d.gather(1, torch.zeros(2, 1, dtype=torch.long))", _got("index")),
    "scatter": ("d.scatter(1, torch.zeros(2, 1, dtype=torch.long), d)", _got("index")),
    "scatter_add": (
        "d.scatter_add_(1, torch.zeros(2, 1, dtype=torch.long, device=D), h)",
        _got("src"),
    ),
    "index_select": ("d.index_select(0, torch.tensor([0]))", _got("index")),
    "index_add": ("d.index_add_(0, torch.tensor([0]), d[:1])", _got("index")),
    "index_copy": ("d.index_copy_(0, torch.tensor([0]), d[:1])", _got("index")),
    "take": ("d.take(torch.tensor([0]))", _got("index")),
    "masked_select": ("d.masked_select(h > 0)", _got("mask")),
    "equal": ("torch.equal(d, h)", _got("other")),
    "searchsorted": ("torch.searchsorted(h[0], d)", _PLACES),
    "bucketize": ("torch.bucketize(d, h[0])", _PLACES),
    "lstm cell, host input": ("nn.LSTMCell(3, 4).to(D)(h)", _got("mat1")),
    "multi-head attention, host input": (
        "nn.MultiheadAttention(4, 2).to(D)(*[torch.ones(2, 1, 4)] * 3)",
        _PLACES,
    ),
    "transformer layer, host mask": (
        "nn.TransformerEncoderLayer(4, 2, 8).to(D)(torch.ones(3, 1, 4, device=D), "
        "src_mask=torch.zeros(3, 3))",
        _PLACES,
    ),
    "solve": ("torch.linalg.solve(torch.eye(2, device=D), torch.ones(2, 1))", _PLACES),
}

_CONV = (
    "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) "
    "should be the same"
)
_CONV_BACK = (
    "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) "
    "should be the same"
)
_NUMPY = (
    "TypeError: can't convert cuda:0 device type tensor to numpy. "
    "Use Tensor.cpu() to copy the tensor to host memory first."
)
_INDEX = "RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)"
_GENERATOR = "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'"
_GENERATOR_BACK = "RuntimeError: Expected a 'cpu' "

_OTHER_REFUSALS = {
    "conv, host input": ("nn.Conv2d(1, 1, 2).to(D)(torch.ones(1, 1, 3, 3))", _CONV),
    "conv left on host": ("nn.Conv2d(1, 1, 2)(torch.ones(1, 1, 3, 3, device=D))", _CONV_BACK),
    "conv1d, host input": ("nn.Conv1d(1, 1, 2).to(D)(torch.ones(1, 1, 3))", _CONV),
    "transposed conv, host input": (
        "nn.ConvTranspose2d(1, 1, 2).to(D)(torch.ones(1, 1, 3, 3))",
        _CONV,
    ),
    "conv, half input": (
        "nn.Conv2d(1, 1, 2).to(D)(torch.ones(1, 1, 3, 3, device=D).half())",
        "RuntimeError: Input type (",
    ),
    "conv of integers": (
        "F.conv1d(torch.ones(1, 1, 3, device=D).long(), torch.ones(1, 1, 2, device=D).long())",
        "RuntimeError: ",
    ),
    "lstm, host input": (
        "nn.LSTM(3, 4).to(D)(torch.ones(5, 2, 3))",
        "RuntimeError: Input and parameter tensors are not at the same device, "
        "found input tensor at cpu and parameter tensor at cuda:0",
    ),
    "lstm, host state": (
        "nn.LSTM(3, 4).to(D)(torch.ones(5, 2, 3, device=D), (torch.zeros(1, 2, 4),) * 2)",
        "RuntimeError: Input and hidden tensors are not at the same device, "
        "found input tensor at cuda:0 and hidden tensor at cpu",
    ),
    "gru, host state": (
        "nn.GRU(3, 4).to(D)(torch.ones(5, 2, 3, device=D), torch.zeros(1, 2, 4))",
        "RuntimeError: Input and hidden tensors are not at the same device, "
        "found input tensor at cuda:0 and hidden tensor at cpu",
    ),
    "lengths on the device": (
        "nn.utils.rnn.pack_padded_sequence(torch.ones(5, 2, 3, device=D), torch.tensor([5, 3], device=D))",
        "RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
    "masked_fill, host mask": (
        "d.masked_fill(h > 0, 0.)",
        "RuntimeError: expected self and mask to be on the same device, "
        "but got mask on cpu and self on cuda:0",
    ),
    "masked_fill of the host, device mask": (
        "h.masked_fill_(d > 0, 0.)",
        "RuntimeError: expected self and mask to be on the same device, "
        "but got mask on cuda:0 and self on cpu",
    ),
    "host indexed by device": ("h[torch.tensor([0], device=D)]", _INDEX),
    "host indexed by device mask": ("h[d > 0]", _INDEX),
    "labels on host indexed by argmax": ("torch.arange(3)[d.argmax(1)]", _INDEX),
    "numpy": ("d.numpy()", _NUMPY),
    "np.asarray": ("np.asarray(d)", _NUMPY),
    "np.array of a list": ("np.array([d, d])", _NUMPY),
    "np.sqrt": ("np.sqrt(d)", _NUMPY),
    "np.concatenate": ("np.concatenate([d, d])", _NUMPY),
    "numpy after detach": ("(d.requires_grad_() * 2).detach().numpy()", _NUMPY),
    "array indexed by device tensor": ("np.arange(3)[torch.tensor([0, 1], device=D)]", _NUMPY),
    "numpy of what requires grad": ("d.requires_grad_().numpy()", _NUMPY),
    "pin what is not on the host": (
        "d.pin_memory()",
        "RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ),
    "generator of the host": ("torch.randn(2, device=D, generator=torch.Generator())", _GENERATOR),
    "randperm, generator of the host": (
        "torch.randperm(3, device=D, generator=torch.Generator())",
        _GENERATOR,
    ),
    "normal_, generator of the host": ("d.normal_(generator=torch.Generator())", _GENERATOR),
    "multinomial, generator of the host": (
        "torch.multinomial(d, 1, generator=torch.Generator())",
        _GENERATOR,
    ),
    "host draws with the device's generator": (
        "torch.randn(2, generator=torch.Generator(D))",
        _GENERATOR_BACK,
    ),
    "host randperm, device's generator": (
        "torch.randperm(3, generator=torch.Generator(D))",
        _GENERATOR_BACK,
    ),
    "shuffling loader under a default device": (
        "torch.set_default_device(D)\n"
        "try: next(iter(torch.utils.data.DataLoader([1, 2], shuffle=True, generator=torch.Generator('cpu'))))\n"
        "finally: torch.set_default_device(None)",
        _GENERATOR,
    ),
    "grad on another device": (
        "w = torch.ones(2, device=D, requires_grad=True); w.grad = torch.ones(2)",
        "RuntimeError: attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'",
    ),
    "backward with a host gradient": (
        "(d.requires_grad_() * 2).backward(torch.ones(2, 3))",
        "RuntimeError: ",
    ),
    "set_ across devices": (
        "torch.empty(0, device=D).set_(h)",
        "RuntimeError: Attempted to set the storage of a tensor on device",
    ),
    "attention, host key": (
        "q = torch.ones(1, 1, 2, 4); F.scaled_dot_product_attention(q.to(D), q, q.to(D))",
        "RuntimeError: Expected query, key, and value to have the same device type",
    ),
    "mm of integers": (
        "d.long() @ d.long().T",
        "RuntimeError: \"addmm_cuda\" not implemented for 'Long'",
    ),
    "sparse, host factor": ("d.to_sparse() @ h.T", _PLACES),
    "sparse by rows, host factor": ("d.to_sparse_csr() @ h.T", _PLACES),
    "sparse on host": ("h.to_sparse() @ d.T", _PLACES),
    "bmm of integers": (
        "torch.bmm(d.int()[None], d.int().T[None])",
        "RuntimeError: \"baddbmm_cuda\" not implemented for 'Int'",
    ),
    "histogram": (
        "torch.histogram(d, 3)",
        "NotImplementedError: Could not run 'aten::histogram.bin_ct'",
    ),
    "no such device": (
        "torch.zeros(1, device='cuda:63')",
        "RuntimeError: CUDA error: invalid device ordinal",
    ),
    "move to no such device": (
        "h.to('cuda:63')",
        "RuntimeError: CUDA error: invalid device ordinal",
    ),
    "set no such device": (
        "torch.cuda.set_device(63)",
        "RuntimeError: CUDA error: invalid device ordinal",
    ),
    "module to no such device": (
        "nn.Linear(1, 1).cuda(63)",
        "RuntimeError: CUDA error: invalid device ordinal",
    ),
    "load to no such device": (
        "b = io.BytesIO(); torch.save(h, b); b.seek(0); torch.load(b, map_location='cuda:63')",
        "RuntimeError: Attempting to deserialize object on CUDA device 63 but torch.cuda.device_count() is",
    ),
    "data parallel module moved back": (
        "m = nn.DataParallel(nn.Linear(3, 2), device_ids=[0]); m.cpu(); m(d)",
        "RuntimeError: module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one of them on device: cpu",
    ),
    "a plain attribute is no buffer": (
        "class M(nn.Module):\n"
        "    def __init__(self):\n        super().__init__(); self.scale = torch.ones(3)\n"
        "    def forward(self, x): return x * self.scale\n"
        "M().to(D)(d)",
        _TWO,
    ),
    "a list is no ModuleList": (
        "class M(nn.Module):\n"
        "    def __init__(self):\n        super().__init__(); self.layers = [nn.Linear(3, 2)]\n"
        "    def forward(self, x): return self.layers[0](x)\n"
        "M().to(D)(d)",
        _got("mat1", "cpu", "cuda:0"),
    ),
    "a mask made in forward": (
        "d.masked_fill(torch.triu(torch.ones(2, 3)).bool(), 0.)",
        "RuntimeError: expected self and mask",
    ),
    "positions made in forward": ("nn.Embedding(4, 2).to(D)(torch.arange(3))", _got("index")),
    "optimizer state on host": (
        "w = nn.Parameter(torch.ones(2)); o = torch.optim.SGD([w], 0.1, momentum=0.9)\n"
        "w.grad = torch.ones(2); o.step(); w.data = w.data.to(D); w.grad = torch.ones(2, device=D); o.step()",
        _PLACES,
    ),
    "parameters_to_vector": (
        "nn.utils.parameters_to_vector([nn.Parameter(d), nn.Parameter(h)])",
        "TypeError: Found two parameters on different devices, this is currently not supported.",
    ),
    "type of a legacy constructor": ("torch.cuda.FloatTensor(2).numpy()", _NUMPY),
    "quantile": (
        "torch.quantile(d, torch.tensor([0.5]))",
        "RuntimeError: quantile() q tensor must be on the same device as the input tensor",
    ),
}

# What a GPU machine accepts, so that stopping there would be a false alarm.
_SAME = {
    "0-dim host scalar": "r = d * H0",
    "0-dim host scalar first": "r = H0 - d",
    "0-dim host bound": "r = d < torch.tensor(0.5)",
    "0-dim device tensor with a 0-dim host one": "r = D0 + H0",
    "where with two host scalars": "r = torch.where(d > 0, torch.tensor(1.), torch.tensor(0.))",
    "masked_fill with a 0-dim host value": "r = d.masked_fill(d > 0, torch.tensor(7.))",
    "add_ of a 0-dim host": "r = d.add_(H0)",
    "host indices": "r = d[torch.tensor([1, 0])]",
    "host mask": "r = d[h > 0]",
    "put at host indices": "d[torch.tensor([1])] = torch.ones(1, 3, device=D); r = d",
    "put a 0-dim host value": "d[torch.tensor([1])] = torch.tensor(5.); r = d",
    "put a number at a mask": "d[d > 0] = 5.; r = d",
    "slice assignment crosses": "d[0] = torch.full((3,), 4.); r = d",
    "slice assignment to the host crosses": "h[0] = d[1]; r = h",
    "copy_ crosses": "r = torch.zeros(2, 3, device=D).copy_(h)",
    "copy_ to the host crosses": "r = torch.zeros(2, 3).copy_(d)",
    "fill_ with a 0-dim host tensor": "r = d.fill_(torch.tensor(2.))",
    "host fill_ with a 0-dim device tensor": "r = h.fill_(D0)",
    "item": "r = d.sum().item()",
    "float": "r = float(D0) + int(D0)",
    "tolist": "r = d.tolist()",
    "list index": "r = [7, 8, 9][torch.tensor(1, device=D)]",
    "range": "r = list(range(torch.tensor(3, device=D)))",
    "array at a 0-dim device index": "r = float(np.arange(3)[torch.tensor(1, device=D)])",
    "truth": "r = bool(d.sum() > 0)",
    "format": "r = f'{d.sum():.3f}'",
    "numpy after cpu": "r = d.cpu().numpy().tolist()",
    "numpy by force": "r = d.requires_grad_().numpy(force=True).tolist()",
    "from_numpy and to": "r = torch.from_numpy(np.ones(3)).to(D)",
    "as_tensor": "r = torch.as_tensor(np.arange(3.), device=D)",
    "tensor of a list": "r = torch.tensor([[1, 2], [3, 4]], device=D)",
    "tensor of device scalars": "r = torch.tensor([d.sum(), d.mean()])",
    "new_zeros": "r = d.new_zeros(2) + d.new_tensor([1., 2.])",
    "new_full on host": "r = d.new_full((2,), 3., device='cpu') + torch.ones(2)",
    "like": "r = torch.zeros_like(d) + torch.ones_like(d) + torch.full_like(d, 3)",
    "like on host": "r = torch.ones_like(d, device='cpu') + h",
    "factories": "r = [torch.arange(4, device=D), torch.linspace(0, 1, 5, device=D), torch.eye(3, device=D), torch.full((2,), 1.5, device=D), torch.logspace(0, 1, 3, device=D), torch.tril_indices(3, 3, device=D)]",
    "windows": "r = torch.hann_window(8, device=D)",
    "with torch.device": "with torch.device(D): r = torch.ones(2) + torch.arange(2)",
    "set_default_device": "torch.set_default_device(D)\ntry: r = nn.Linear(2, 2)(torch.ones(2)).shape\nfinally: torch.set_default_device(None)",
    "to is the identity": "r = d.to(D) is d and d.to(torch.device(D)) is d",
    "to another's place": "r = h.to(d) + d",
    "to a type": "r = d.to(torch.float64)",
    "to with all": "r = h.to(D, torch.float64, non_blocking=True)",
    "type as": "r = h.type_as(d) + d",
    "views": "r = [d.view(3, 2), d.reshape(-1), d.T, d[0], d[:, 1:], d[..., None], d.unsqueeze(0).expand(4, 2, 3), d.permute(1, 0), d.flatten(), d.unfold(1, 2, 1), d.diagonal()]",
    "a view writes through": "d.view(-1)[0] = 9.; d.T[2, 1] = 8.; d[0].mul_(2); r = d",
    "split and chunk": "r = [*d.split(1), *d.chunk(3, 1), *d.unbind()]",
    "contiguous": "r = d.T.contiguous() + d.T",
    "strides": "r = [d.T.stride(), torch.empty(1, 3, device=D).stride(), d[:, 1:2].stride(), d.T.contiguous().stride()]",
    "channels last": "x = torch.ones(1, 2, 3, 4, device=D).to(memory_format=torch.channels_last); r = [x.stride(), (x * 2).stride(), nn.Conv2d(2, 2, 1).to(D)(x).stride()]",
    "complex": "z = torch.complex(d, d); r = [z.conj() * z, z.real, torch.view_as_real(z), z.abs(), z.conj().resolve_conj(), torch.view_as_complex(torch.view_as_real(z))]",
    "conjugates cross": "z = torch.complex(d, d); r = [z.conj().cpu(), z.conj().clone(), z.conj().imag.clone()]",
    "data": "w = nn.Parameter(d); w.data = w.data * 2; w.data.clamp_(0, 3); r = w.detach()",
    "set_": "x = torch.empty(0, device=D); x.set_(d); r = x",
    "resize_": "x = torch.ones(2, device=D).resize_(3); r = x.shape",
    "out": "x = torch.empty(2, 3, device=D); torch.add(d, d, out=x); r = x",
    "out, empty": "x = torch.empty(0, device=D); torch.mul(d, 2, out=x); r = x",
    "out of two": "v, i = torch.empty(0, device=D), torch.empty(0, dtype=torch.long, device=D); torch.max(d, 1, out=(v, i)); r = [v, i]",
    "sums": "r = [d.sum(), d.mean(0), d.std(), d.var(1), d.prod(), d.cumsum(1), d.norm(), d.max(), d.min(1), d.argmax(), d.topk(2), d.sort(1, descending=True), d.median(), torch.logsumexp(d, 1)]",
    "searching": "r = [torch.nonzero(d > 1), torch.unique(d), torch.where(d > 1), torch.bincount(d.long().flatten()), (d > 1).any(), torch.isnan(d)]",
    "one_hot": "r = F.one_hot(torch.tensor([0, 2], device=D), 3)",
    "products": "r = [d @ d.T, torch.einsum('ij,kj->ik', d, d), torch.outer(d[0], d[1]), torch.cross(d, d + 1, dim=1), torch.cdist(d, d)]",
    "linalg": "a = d @ d.T + torch.eye(2, device=D); r = [torch.linalg.inv(a), torch.linalg.det(a), torch.linalg.solve(a, d), torch.linalg.cholesky(a), torch.linalg.norm(d)]",
    "fft": "r = [torch.fft.rfft(d), torch.fft.fft2(d).abs()]",
    "activations": "r = [F.relu(d), F.gelu(d), F.silu(d), F.softmax(d, 1), F.log_softmax(d, 1), F.leaky_relu(d), torch.sigmoid(d), torch.tanh(d), F.elu(d), F.softplus(d), F.hardtanh(d), F.glu(torch.ones(2, 4, device=D))]",
    "half softmax": "r = F.softmax(d.half(), 1, dtype=torch.float32)",
    "padding and interpolation": "x = d[None, None]; r = [F.pad(d, (1, 1)), F.interpolate(x, scale_factor=2), F.interpolate(x, (4, 4), mode='bilinear'), F.pixel_shuffle(torch.ones(1, 4, 2, 2, device=D), 2), F.unfold(x, 2)]",
    "grid_sample on one device": "r = F.grid_sample(d[None, None], torch.zeros(1, 2, 2, 2, device=D), align_corners=False)",
    "pooling": "x = torch.arange(16., device=D).view(1, 1, 4, 4); r = [F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1), F.max_pool2d(x, 2, return_indices=True)]",
    "normalization": "x = torch.arange(24., device=D).view(2, 3, 4); r = [F.layer_norm(x, (4,)), F.group_norm(x, 3), F.instance_norm(x), F.normalize(d), nn.BatchNorm1d(3).to(D)(x)]",
    "random numbers": "torch.manual_seed(0); r = [torch.rand(3, device=D), torch.randn(3, device=D), torch.randint(9, (3,), device=D), torch.randperm(5, device=D), torch.bernoulli(torch.full((4,), .5, device=D)), torch.multinomial(torch.ones(4, device=D), 2), torch.empty(3, device=D).uniform_(), torch.normal(d, 1.), torch.rand_like(d)]",
    "seeded generator": "r = torch.randn(3, device=D, generator=torch.Generator(D).manual_seed(4))",
    "generator state": "g = torch.Generator(D); s = g.get_state(); a = torch.rand(3, device=D, generator=g); g.set_state(s); r = torch.equal(a, torch.rand(3, device=D, generator=g))",
    "dropout": "torch.manual_seed(0); x = torch.ones(50, device=D, requires_grad=True); y = F.dropout(x, 0.3); y.sum().backward(); r = [y, x.grad]",
    "distributions": "torch.manual_seed(0); N = torch.distributions.Normal(d, torch.ones_like(d)); r = [N.rsample(), N.log_prob(d), torch.distributions.Categorical(logits=d).sample(), torch.distributions.kl_divergence(N, N)]",
    "backward": "d.requires_grad_(); (d ** 2).sum().backward(); r = d.grad",
    "gradients cross": "w = h.requires_grad_(); (w.to(D) * 2).sum().backward(); r = w.grad",
    "gradients come back": "w = d.requires_grad_(); (w.cpu() * 2).sum().backward(); r = w.grad",
    "double backward": "d.requires_grad_(); g, = torch.autograd.grad((d ** 3).sum(), d, create_graph=True); g.sum().backward(); r = d.grad",
    "gradient penalty through conv": "torch.manual_seed(0); m = nn.Conv2d(1, 2, 2).to(D); x = torch.ones(1, 1, 4, 4, device=D, requires_grad=True); g, = torch.autograd.grad(m(x).pow(2).sum(), x, create_graph=True); g.norm().backward(); r = m.weight.grad",
    "hooks": "d.requires_grad_(); seen = []; d.register_hook(lambda g: seen.append(g.device.type) or g * 2); (d * 3).sum().backward(); r = [d.grad, seen == [torch.device(D).type]]",
    "module hooks": "m = nn.Linear(3, 2).to(D); seen = []; m.register_forward_hook(lambda m, i, o: seen.append(o.device.type)); m.register_full_backward_hook(lambda m, i, o: seen.append(o[0].device.type)); m(d).sum().backward(); r = seen == [torch.device(D).type] * 2",
    "no_grad and inference": "with torch.no_grad(): a = d * 2\nwith torch.inference_mode(): b = d * 3\nr = [a, b.clone()]",
    "custom function": "class T(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): ctx.save_for_backward(x); return x * 2\n    @staticmethod\n    def backward(ctx, g): return g * ctx.saved_tensors[0]\nd.requires_grad_(); T.apply(d).sum().backward(); r = d.grad",
    "checkpoint": "from torch.utils.checkpoint import checkpoint\nd.requires_grad_(); checkpoint(lambda x: (x * 2).relu(), d, use_reentrant=False).sum().backward(); r = d.grad",
    "func": "r = [torch.func.grad(lambda x: (x ** 2).sum())(d), torch.func.vmap(lambda x: x * 2)(d), torch.func.jacrev(lambda x: x ** 2)(d[0])]",
    "forward mode": "import torch.autograd.forward_ad as fwAD\nwith fwAD.dual_level(): r = fwAD.unpack_dual(fwAD.make_dual(d, torch.ones_like(d)).sin() * 2).tangent",
    "clip gradients": "w = nn.Parameter(d); (w ** 2).sum().backward(); n = nn.utils.clip_grad_norm_([w], 1.); nn.utils.clip_grad_value_([w], .5); r = [n, w.grad]",
    "weights to vector": "r = nn.utils.parameters_to_vector(nn.Linear(2, 2).to(D).parameters()).shape",
    "parameter keeps its identity": "m = nn.Linear(2, 2); w = m.weight; m.to(D); r = m.weight is w and type(w) is nn.Parameter and w.is_leaf",
    "optimizer built before the move": "torch.manual_seed(0); m = nn.Linear(3, 1); o = torch.optim.SGD(m.parameters(), .1); m.to(D); m(d).sum().backward(); o.step(); r = m.weight.detach()",
    "buffers move": "class M(nn.Module):\n    def __init__(self):\n        super().__init__(); self.register_buffer('b', torch.ones(3), persistent=False)\nr = M().to(D).b + d",
    "module copies": "m = nn.Linear(2, 2).to(D); import copy; n = copy.deepcopy(m); n.weight.data.zero_(); r = [bool((m.weight != 0).all()), n.weight.detach()]",
    "state_dict crosses": "torch.manual_seed(0); m, n = nn.Linear(2, 2), nn.Linear(2, 2).to(D); n.load_state_dict(m.state_dict()); r = n.weight.detach()",
    "optimizer state crosses": "torch.manual_seed(0); m = nn.Linear(3, 1); o = torch.optim.Adam(m.parameters()); m(h).sum().backward(); o.step(); s = o.state_dict(); m.to(D); p = torch.optim.Adam(m.parameters()); p.load_state_dict(s); m.zero_grad(); m(d).sum().backward(); p.step(); r = m.weight.detach()",
    "save and load": "b = io.BytesIO(); torch.save({'x': d}, b); b.seek(0); x = torch.load(b)['x']; r = [x, x.device.type == torch.device(D).type]",
    "load on the host": "b = io.BytesIO(); torch.save(d, b); b.seek(0); x = torch.load(b, map_location='cpu'); r = [x, x.device.type]",
    "load to the device": "b = io.BytesIO(); torch.save(h, b); b.seek(0); r = torch.load(b, map_location=D) + d",
    "load with a function": "b = io.BytesIO(); torch.save(d, b); b.seek(0); r = torch.load(b, map_location=lambda storage, location: storage).device.type",
    "pickle": "x = pickle.loads(pickle.dumps(d)); r = [x, x.device == d.device]",
    "deepcopy": "import copy; x = copy.deepcopy(d); x[0] = 0; r = [x, d]",
    "shared storage is saved once": "b = io.BytesIO(); torch.save([d, d[0]], b); b.seek(0); x, y = torch.load(b); y.zero_(); r = x",
    "storages": "s = d.untyped_storage(); r = [s.device.type == torch.device(D).type, s.nbytes(), s.cpu().tolist() == h.untyped_storage().tolist(), d.data_ptr() == s.data_ptr()]",
    "printing": "r = repr(d).replace(f\", device='{d.device}'\", '')",
    "iteration": "r = [x.sum() for x in d]",
    "packed sequences": "torch.manual_seed(0); p = nn.utils.rnn.pack_padded_sequence(torch.ones(4, 2, 3, device=D), torch.tensor([4, 2])); y, _ = nn.LSTM(3, 5).to(D)(p); r = nn.utils.rnn.pad_packed_sequence(y)",
    "pad_sequence": "r = nn.utils.rnn.pad_sequence([d[0], d[1, :2]])",
    "attention": "torch.manual_seed(0); q = torch.randn(1, 2, 4, 8, device=D, requires_grad=True); y = F.scaled_dot_product_attention(q, q, q, is_causal=True); y.sum().backward(); r = [y, q.grad]",
    "transformer": "torch.manual_seed(0); m = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0., batch_first=True), 2).to(D); x = torch.randn(2, 5, 8, device=D); y = m(x, src_key_padding_mask=torch.tensor([[False] * 5, [False] * 3 + [True] * 2], device=D)); y[0].sum().backward(); r = [y[0], m.layers[0].linear1.weight.grad]",
    "transformer in eval": "torch.manual_seed(0); m = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).to(D).eval()\nwith torch.no_grad(): r = m(torch.ones(2, 5, 8, device=D))",
    "data parallel on one device": "torch.manual_seed(0); m = nn.Linear(3, 2).to(D); r = (nn.DataParallel(m, device_ids=[0]) if D != 'cpu' else m)(d)",
    "lists of tensors": "r = [*torch._foreach_add([d, d[0]], 1.), *torch._foreach_mul([d], [d])]",
    "foreach and fused options": "torch.manual_seed(0); w = nn.Parameter(d); o = torch.optim.AdamW([w], foreach=True); (w ** 2).sum().backward(); o.step(); r = w.detach()",
    "scheduler": "w = nn.Parameter(d); o = torch.optim.SGD([w], 1.); s = torch.optim.lr_scheduler.StepLR(o, 1, .1); (w ** 2).sum().backward(); o.step(); s.step(); o.step(); r = w.detach()",
    "averaged model": "torch.manual_seed(0); m = nn.Linear(3, 1).to(D); a = torch.optim.swa_utils.AveragedModel(m); a.update_parameters(m); m.weight.data.add_(1); a.update_parameters(m); r = a.module.weight.detach()",
    "sparse gradients are refused or work": "m = nn.Embedding(4, 2).to(D); m(torch.tensor([1, 1], device=D)).sum().backward(); r = m.weight.grad",
    "sparse": "x = d.to_sparse(); r = [x.to_dense(), x @ d.T, torch.sparse.mm(x, d.T), (x * 2).coalesce().values(), x.cpu().to_dense()]",
    "sparse by rows": "x = d.to_sparse_csr(); y = h.to_sparse_csr().to(D); z = torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), device=D); r = [x.to_dense(), x.crow_indices(), y.values(), y @ d.T, z @ torch.ones(2, device=D), y.cpu().to_dense(), x.to_sparse_coo().to_dense()]",
    "gradient through a product by rows": "w = torch.ones(3, 2, device=D, requires_grad=True); (d.to_sparse_csr() @ w).sum().backward(); r = w.grad",
    "sparse by columns": "x = d.to_sparse_csc(); r = [x.to_dense(), x.ccol_indices()]",
    "jagged": "x = torch.nested.nested_tensor([d, d[:1]], layout=torch.jagged, device=D); r = [(x * 2).values(), x.offsets()]",
    "embedding bag": "torch.manual_seed(0); m = nn.EmbeddingBag(5, 3).to(D); m(torch.tensor([[1, 2], [3, 4]], device=D)).sum().backward(); r = m.weight.grad",
    "tensor dataset": "from torch.utils.data import DataLoader, TensorDataset; r = [x.to(D) * 2 for x, in DataLoader(TensorDataset(h), 1)]",
    "weight norm": "torch.manual_seed(0); m = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).to(D); m(d).sum().backward(); r = [m(d), [p.grad for p in m.parameters()]]",
    "spectral norm": "torch.manual_seed(0); m = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2)).to(D); r = m(d)",
    "scripted": "r = torch.jit.script(nn.Sequential(nn.Linear(3, 2), nn.ReLU())).to(D)(d).shape",
    "traced": "torch.manual_seed(0); m = nn.Linear(3, 2).to(D); r = torch.jit.trace(m, d)(d)",
    "host lists of sizes": "r = d.new_empty(d.shape).fill_(2).repeat(2, 1)",
    "stft": "r = torch.stft(torch.arange(32., device=D), 8, return_complex=True, window=torch.ones(8, device=D))",
    "meshgrid": "r = torch.meshgrid(torch.arange(2, device=D), torch.arange(3, device=D), indexing='ij')",
    "triangles": "r = [torch.tril(d), torch.triu(d, 1), torch.ones(3, 3, device=D).tril().bool()]",
    "scatters": "i = torch.tensor([[0], [1]], device=D); r = [d.gather(1, i), d.scatter(1, i, 5.), d.scatter_add(1, i, d), d.index_add(0, i[:, 0], d), torch.scatter_reduce(d, 1, i, d, 'amax')]",
    "losses": "t = torch.tensor([0, 2], device=D); r = [F.cross_entropy(d, t), F.nll_loss(d, t), F.mse_loss(d, d * 2), F.multi_margin_loss(d, t), F.triplet_margin_loss(d, d + 1, d - 1), F.ctc_loss(torch.ones(4, 1, 3, device=D).log_softmax(2), torch.tensor([[1, 2]], device=D), [4], [2]), F.huber_loss(d, d * 3), F.cosine_embedding_loss(d, d, torch.ones(2, device=D))]",
}

_NEAR = {
    "gradient penalty through gru": "torch.manual_seed(0); m = nn.GRU(3, 4).to(D); x = torch.ones(2, 1, 3, device=D, requires_grad=True); g, = torch.autograd.grad(m(x)[0].pow(2).sum(), x, create_graph=True); g.norm().backward(); r = m.weight_ih_l0.grad",
}

_ENDS = {
    "queries": "assert torch.cuda.is_available() and torch.cuda.device_count() >= 1 and torch.cuda.current_device() == 0 and torch.cuda.get_device_name() and len(torch.cuda.get_device_capability()) == 2 and torch.cuda.get_device_properties(0).total_memory > 0",
    "attributes": "assert d.is_cuda and not d.is_cpu and d.get_device() == 0 and d.device == torch.device('cuda:0') and d.type() == 'torch.cuda.FloatTensor' and type(d) is torch.Tensor",
    "cuda and cpu": "assert h.cuda().is_cuda and h.cuda(0).device.index == 0 and not d.cpu().is_cuda and nn.Linear(1, 1).cuda().weight.is_cuda",
    "string devices": "assert torch.zeros(1, device='cuda').device == torch.device('cuda', 0) == torch.zeros(1, device=0).device and torch.device('cuda') != torch.device('cuda:0')",
    "accelerator": "a = torch.accelerator.current_accelerator(); assert a.type == 'cuda' and torch.accelerator.is_available() and torch.accelerator.device_count() >= 1; torch.accelerator.synchronize(); torch.accelerator.set_device_index(0)",
    "current device": "with torch.cuda.device(0): assert torch.cuda.current_device() == 0 and torch.ones(1, device='cuda').device.index == 0",
    "memory": "torch.cuda.reset_peak_memory_stats(); x = torch.ones(1024, 1024, device=D); assert torch.cuda.memory_allocated() >= 2 ** 22 and torch.cuda.max_memory_allocated() >= 2 ** 22 and torch.cuda.memory_reserved() > 0; torch.cuda.empty_cache(); torch.cuda.memory_summary(); assert torch.cuda.mem_get_info()[1] > 0",
    "streams": "s = torch.cuda.Stream()\nwith torch.cuda.stream(s): x = d * 2\ntorch.cuda.current_stream().wait_stream(s); s.synchronize(); x.record_stream(s); assert torch.cuda.current_stream() == torch.cuda.default_stream()",
    "events": "a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True); a.record(); d @ d.T; b.record(); torch.cuda.synchronize(); assert a.elapsed_time(b) >= 0 and b.query()",
    "seeds": "torch.cuda.manual_seed(3); a = torch.rand(3, device=D); torch.cuda.manual_seed_all(3); assert torch.equal(a, torch.rand(3, device=D)); s = torch.cuda.get_rng_state(); a = torch.rand(3, device=D); torch.cuda.set_rng_state(s); assert torch.equal(a, torch.rand(3, device=D)); assert torch.cuda.initial_seed() == 3",
    "manual_seed seeds the device": "torch.manual_seed(3); a = torch.rand(3, device=D); torch.manual_seed(3); assert torch.equal(a, torch.rand(3, device=D))",
    "fork_rng": "torch.manual_seed(3)\nwith torch.random.fork_rng(): a = torch.rand(3, device=D)\nassert torch.equal(a, torch.rand(3, device=D))",
    "legacy types": "x = torch.cuda.FloatTensor([1, 2]); assert x.is_cuda and isinstance(x, torch.cuda.FloatTensor) and not isinstance(h, torch.cuda.FloatTensor) and torch.cuda.LongTensor(3).dtype == torch.int64 and h.type(torch.cuda.FloatTensor).is_cuda and h.type('torch.cuda.DoubleTensor').dtype == torch.float64",
    "default tensor type": "torch.set_default_tensor_type('torch.cuda.FloatTensor')\ntry: assert torch.zeros(2).is_cuda and torch.tensor([1.]).is_cuda\nfinally: torch.set_default_tensor_type('torch.FloatTensor')\nassert not torch.zeros(2).is_cuda",
    "legacy constructor under a default tensor type": "torch.set_default_tensor_type(torch.cuda.FloatTensor)\ntry: a = [torch.Tensor(3), torch.Tensor([1, 2]), torch.Tensor(2, 2), nn.Parameter(torch.Tensor(2))]; b = torch.FloatTensor(3)\nfinally: torch.set_default_tensor_type(torch.FloatTensor)\nassert all(x.is_cuda for x in a) and not b.is_cuda and not torch.Tensor(3).is_cuda and type(nn.Parameter(torch.Tensor(2))) is nn.Parameter",
    "pinned memory": "x = h.pin_memory(); assert x.is_pinned() and x.pin_memory() is x and not h.is_pinned() and not d.is_pinned() and torch.equal(x.to(D, non_blocking=True).cpu(), h)",
    "pinned factories": "assert all(x.is_pinned() for x in (torch.empty(2, pin_memory=True), torch.zeros(2, pin_memory=True)[1:], torch.tensor([1.], pin_memory=True), torch.rand(2, pin_memory=True), torch.empty_like(h, pin_memory=True), h.new_empty(2, pin_memory=True))) and not torch.empty(2).is_pinned() and not torch.empty(2, pin_memory=True).clone().is_pinned()",
    "pinning loader": "from torch.utils.data import DataLoader, TensorDataset; assert all(x.is_pinned() and x.to(D).is_cuda for x, in DataLoader(TensorDataset(h), 1, pin_memory=True))",
    "autocast": "m = nn.Linear(3, 2).to(D)\nwith torch.autocast('cuda'): y = m(d); assert y.dtype == torch.float16 and F.softmax(y, 1).dtype == torch.float32\nwith torch.autocast('cuda', dtype=torch.bfloat16): assert (d @ d.T).dtype == torch.bfloat16\nwith torch.cuda.amp.autocast(): assert m(d).dtype == torch.float16",
    "autocast conv": "with torch.autocast('cuda'): y = nn.Sequential(nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2)).to(D)(torch.ones(2, 1, 4, 4, device=D)); y.float().sum().backward()",
    "grad scaler": "m = nn.Linear(3, 1).to(D); o = torch.optim.SGD(m.parameters(), .1); s = torch.amp.GradScaler('cuda', init_scale=1.); w = m.weight.detach().clone()\nwith torch.autocast('cuda'): l = m(d).pow(2).mean()\ns.scale(l).backward(); s.unscale_(o); nn.utils.clip_grad_norm_(m.parameters(), 1.); s.step(o); s.update(); assert not torch.equal(w, m.weight) and s.get_scale() > 0",
    "grad scaler skips infinities": "w = nn.Parameter(d.clone()); o = torch.optim.SGD([w], .1); s = torch.cuda.amp.GradScaler(); s.scale((w * float('inf')).sum()).backward(); s.step(o); s.update(); assert torch.equal(w, d) and s.get_scale() == 32768.0",
    "cudnn flags": "assert torch.backends.cudnn.is_available() and torch.backends.cudnn.version() > 0; torch.backends.cudnn.benchmark = True; torch.backends.cudnn.deterministic = True; torch.backends.cuda.matmul.allow_tf32 = True; torch.set_float32_matmul_precision('high'); torch.backends.cudnn.benchmark = False; torch.set_float32_matmul_precision('highest'); torch.backends.cuda.matmul.allow_tf32 = False",
    "compile is passed through": "f = torch.compile(lambda x: x * 2, backend='eager'); assert torch.equal(f(d), d * 2)",
    "no warning that a GPU machine would not give": "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error'); nn.LSTM(3, 4).to(D)(d[None]); nn.DataParallel(nn.Linear(3, 2), [0])(d); torch.zeros(2, device=D).cpu(); torch.optim.Adam(nn.Linear(2, 2).to(D).parameters()).step()",
    "threads": "import threading; out = []; t = threading.Thread(target=lambda: out.append((torch.ones(2, device=D) * 2).sum().item())); t.start(); t.join(); assert out == [4.0]",
    "backward from a thread": "import threading; w = d.requires_grad_(); t = threading.Thread(target=lambda: (w * 2).sum().backward()); t.start(); t.join(); assert w.grad.is_cuda",
    "is_initialized": "assert torch.cuda.is_initialized()",
    "device of an untyped module": "assert next(nn.Linear(1, 1).to('cuda').parameters()).device == torch.device('cuda:0')",
    "get_device_module": "assert torch.get_device_module('cuda') is torch.cuda",
    "bf16": "assert torch.cuda.is_bf16_supported() in (True, False); (d.bfloat16() @ d.bfloat16().T).float().sum().item()",
    "half products": "assert (d.half() @ d.half().T).dtype == torch.float16",
    "fused optimizer": "w = nn.Parameter(d); o = torch.optim.Adam([w], fused=True); (w ** 2).sum().backward(); o.step()",
    "profiler": "with torch.profiler.profile() as p: d * 2\nassert len(p.events())",
    "dlpack": "x = torch.from_dlpack(d * 2); assert x.is_cuda",
    "profiler of the device": "P = torch.profiler\nwith P.profile(activities=[P.ProfilerActivity.CPU, P.ProfilerActivity.CUDA]) as p: d * 2\nassert p.key_averages().table(row_limit=1)",
    "profiling ranges": "torch.cuda.nvtx.range_push('a'); torch.cuda.nvtx.range_pop()\nwith torch.autograd.profiler.emit_nvtx(): d * 2",
    "generic streams": "s = torch.Stream('cuda'); assert s.query() and s.device.type == 'cuda'; s.synchronize()",
    "choice of attention": "from torch.nn.attention import SDPBackend, sdpa_kernel\nq = torch.ones(1, 1, 2, 8, device=D)\nwith sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION]): F.scaled_dot_product_attention(q, q, q)",
}

CASES = [
    *(Case(f"elementwise: {name}", code, _TWO) for name, code in _ELEMENTWISE.items()),
    *(Case(f"common: {name}", code, expected) for name, (code, expected) in _COMMON.items()),
    *(
        Case(f"refused: {name}", code, expected)
        for name, (code, expected) in _OTHER_REFUSALS.items()
    ),
    *(Case(f"same: {name}", code, SAME) for name, code in _SAME.items()),
    *(Case(f"near: {name}", code, NEAR) for name, code in _NEAR.items()),
    *(Case(f"ends: {name}", code, ENDS) for name, code in _ENDS.items()),
    *(Case(f"seen: {name}", code, SAME) for name, code in seen.SAME.items()),
    *(Case(f"seen: {name}", code, ENDS) for name, code in seen.ENDS.items()),
    *(Case(f"seen: {name}", code, expected) for name, (code, expected) in seen.REFUSED.items()),
]

# A training step each: the module or loss, and its input's shape.
MODULES = {
    "Linear": "nn.Linear(6, 4)",
    "Bilinear": "lambda m=nn.Bilinear(6, 6, 3): (m, lambda x: m(x, x))",
    "Conv1d": "nn.Conv1d(6, 4, 3, padding=1) | 2,6,5",
    "Conv2d": "nn.Conv2d(2, 4, 3, stride=2) | 2,2,7,7",
    "Conv2d grouped, dilated": "nn.Conv2d(4, 4, 3, groups=2, dilation=2) | 2,4,9,9",
    "depthwise Conv2d": "nn.Conv2d(4, 4, 3, groups=4) | 2,4,6,6",
    "Conv3d": "nn.Conv3d(1, 2, 2) | 1,1,4,4,4",
    "ConvTranspose1d": "nn.ConvTranspose1d(3, 2, 3) | 2,3,5",
    "ConvTranspose2d": "nn.ConvTranspose2d(3, 2, 4, 2, 1) | 2,3,5,5",
    "BatchNorm1d": "nn.BatchNorm1d(6) | 4,6",
    "BatchNorm2d": "nn.BatchNorm2d(3) | 4,3,5,5",
    "LayerNorm": "nn.LayerNorm(6) | 4,6",
    "RMSNorm": "nn.RMSNorm(6) | 4,6",
    "GroupNorm": "nn.GroupNorm(2, 4) | 3,4,5",
    "InstanceNorm2d": "nn.InstanceNorm2d(3, affine=True) | 2,3,4,4",
    "PReLU": "nn.Sequential(nn.Linear(6, 4), nn.PReLU())",
    "activations": "nn.Sequential(nn.Linear(6, 4), nn.GELU(), nn.Mish(), nn.Hardswish(), nn.CELU(), nn.SELU(), nn.Softsign(), nn.LogSigmoid())",
    "Dropout": "nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 2))",
    "Dropout2d": "nn.Sequential(nn.Conv2d(1, 4, 1), nn.Dropout2d(0.5)) | 2,1,4,4",
    "AlphaDropout": "nn.Sequential(nn.Linear(6, 8), nn.AlphaDropout(0.5))",
    "MaxPool2d": "nn.Sequential(nn.Conv2d(1, 2, 1), nn.MaxPool2d(2)) | 1,1,4,4",
    "adaptive pools": "nn.Sequential(nn.Conv2d(1, 2, 1), nn.AdaptiveMaxPool2d(3), nn.AdaptiveAvgPool2d(1)) | 1,1,6,6",
    "Upsample": "nn.Sequential(nn.Conv2d(1, 2, 1), nn.Upsample(scale_factor=2, mode='bicubic')) | 1,1,4,4",
    "RNN": "nn.RNN(6, 4) | 5,2,6",
    "LSTM": "nn.LSTM(6, 4, num_layers=2, bidirectional=True, dropout=0.2) | 5,2,6",
    "LSTM with projections": "nn.LSTM(6, 4, proj_size=2, batch_first=True) | 2,5,6",
    "GRU": "nn.GRU(6, 4, batch_first=True) | 2,5,6",
    "RNNCell": "nn.RNNCell(6, 4)",
    "LSTMCell": "nn.LSTMCell(6, 4)",
    "GRUCell": "nn.GRUCell(6, 4)",
    "MultiheadAttention": "lambda m=nn.MultiheadAttention(6, 2): (m, lambda x: m(x, x, x)[0]) | 5,2,6",
    "TransformerEncoderLayer": "nn.TransformerEncoderLayer(6, 2, 8) | 5,2,6",
    "TransformerDecoderLayer": "lambda m=nn.TransformerDecoderLayer(6, 2, 8): (m, lambda x: m(x, x)) | 5,2,6",
    "Transformer": "lambda m=nn.Transformer(6, 2, 1, 1, 8): (m, lambda x: m(x, x)) | 5,2,6",
    "Embedding": "lambda m=nn.Embedding(9, 4, padding_idx=0): (m, lambda x: m(x.abs().long() % 9))",
    "EmbeddingBag": "lambda m=nn.EmbeddingBag(9, 4, mode='sum'): (m, lambda x: m(x.abs().long() % 9))",
    "Softmax": "nn.Sequential(nn.Linear(6, 4), nn.LogSoftmax(1))",
    "PixelShuffle": "nn.Sequential(nn.Conv2d(1, 4, 1), nn.PixelShuffle(2)) | 1,1,3,3",
    "Fold": "nn.Sequential(nn.Conv2d(1, 2, 1), nn.Unfold(2), nn.Fold((4, 4), 2)) | 1,1,4,4",
    "padding": "nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(1, 2, 3), nn.ReplicationPad2d(1), nn.ZeroPad2d(1)) | 1,1,4,4",
    "MSELoss": "loss: nn.MSELoss()(y, torch.ones_like(y))",
    "L1Loss": "loss: nn.L1Loss()(y, torch.ones_like(y))",
    "SmoothL1Loss": "loss: nn.SmoothL1Loss()(y, torch.ones_like(y))",
    "CrossEntropyLoss": "loss: nn.CrossEntropyLoss(label_smoothing=0.1)(y, torch.arange(4, device=D) % 4)",
    "CrossEntropyLoss, weighted": "loss: nn.CrossEntropyLoss(torch.arange(1., 5, device=D), ignore_index=1)(y, torch.arange(4, device=D) % 4)",
    "NLLLoss": "loss: nn.NLLLoss()(y.log_softmax(1), torch.arange(4, device=D) % 4)",
    "BCELoss": "loss: nn.BCELoss()(y.sigmoid(), torch.ones_like(y))",
    "BCEWithLogitsLoss": "loss: nn.BCEWithLogitsLoss(pos_weight=torch.ones(4, device=D) * 2)(y, torch.ones_like(y))",
    "KLDivLoss": "loss: nn.KLDivLoss(reduction='batchmean')(y.log_softmax(1), y.softmax(1))",
    "HingeEmbeddingLoss": "loss: nn.HingeEmbeddingLoss()(y, torch.ones_like(y))",
    "TripletMarginLoss": "loss: nn.TripletMarginLoss()(y, y * 2, y + 1)",
    "CTCLoss": "loss: nn.CTCLoss()(y.view(4, 1, 4).log_softmax(2), torch.tensor([[1, 2]], device=D), torch.tensor([4]), torch.tensor([2]))",
    "GaussianNLLLoss": "loss: nn.GaussianNLLLoss()(y, torch.ones_like(y), y.exp())",
    "SoftMarginLoss": "loss: nn.SoftMarginLoss()(y, torch.ones_like(y))",
    "MultiMarginLoss": "loss: nn.MultiMarginLoss()(y, torch.arange(4, device=D) % 4)",
    "PoissonNLLLoss": "loss: nn.PoissonNLLLoss()(y, torch.ones_like(y))",
    "CosineEmbeddingLoss": "loss: nn.CosineEmbeddingLoss()(y, y * 2, torch.ones(4, device=D))",
    "MarginRankingLoss": "loss: nn.MarginRankingLoss()(y[:, 0], y[:, 1], torch.ones(4, device=D))",
    "MultiLabelSoftMarginLoss": "loss: nn.MultiLabelSoftMarginLoss()(y, torch.ones_like(y))",
}

OPTIMIZERS = {
    "SGD": "lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01",
    "Adam": "lr=0.1, amsgrad=True",
    "AdamW": "lr=0.1",
    "Adamax": "lr=0.1",
    "NAdam": "lr=0.1",
    "RAdam": "lr=0.1",
    "Adagrad": "lr=0.1",
    "Adadelta": "lr=1.0",
    "Adafactor": "lr=0.1",
    "RMSprop": "lr=0.1, momentum=0.9, centered=True",
    "Rprop": "lr=0.1",
    "ASGD": "lr=0.1",
    "LBFGS": "lr=0.1",
    "Muon": "lr=0.1",
}


def module(name: str) -> str:
    """Return code that trains one of MODULES for two steps."""
    return _training(MODULES[name], "torch.optim.SGD(m.parameters(), 0.1)", 2)


def learning(name: str) -> str:
    """Return code that trains with one of OPTIMIZERS for three steps."""
    bias = ", bias=False" if name == "Muon" else ""
    made = f"nn.Sequential(nn.Linear(6, 4{bias}), nn.Tanh(), nn.Linear(4, 2{bias}))"
    return _training(made, f"torch.optim.{name}(m.parameters(), {OPTIMIZERS[name]})", 3)


def _training(module: str, optimizer: str, steps: int) -> str:
    if module.startswith("loss: "):
        loss, shape, module = module.removeprefix("loss: "), "4,6", "nn.Linear(6, 4)"
    else:
        module, _, shape = module.partition(" | ")
        loss, shape = "y.pow(2).mean()", shape or "4,6"
    made = f"m, f = ({module})()" if module.startswith("lambda") else f"m = f = {module}"
    return f"""
torch.manual_seed(0)
{made}
m.to(D)
x = torch.randn({shape}).to(D)
o = {optimizer}
def closure():
    o.zero_grad()
    y = f(x)
    y = y[0] if isinstance(y, tuple) else y
    loss = {loss}
    loss.backward()
    return loss
r = [o.step(closure) for _ in range({steps})]
r += [*m.parameters(), *m.buffers()]
assert all(p.device.type == D and p.grad.device.type == D for p in m.parameters())
"""
