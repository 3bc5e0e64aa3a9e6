import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
models = [nn.Linear(3, 1).to(device) for _ in range(4)]
params, buffers = stack_module_state(models)
base = models[0]


def call(p, b, x):
    return functional_call(base, (p, b), (x,))


out = vmap(call, (0, 0, None))(params, buffers, torch.ones(5, 3, device=device))
print(tuple(out.shape), f"{out.mean().item():.4f}")
