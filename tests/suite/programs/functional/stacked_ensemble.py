import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).to(device) for _ in range(3)]
params, buffers = stack_module_state(models)
with torch.device("meta"):
    base = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def call(p, b, x):
    return functional_call(base, (p, b), (x,))


x = torch.randn(5, 3).to(device)
out = vmap(call, in_dims=(0, 0, None))(params, buffers, x)
alone = torch.stack([m(x) for m in models])
print(out.shape, torch.allclose(out, alone, atol=1e-5))
