import torch
from torch import nn
from torch.func import functional_call, grad

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
params = {k: v.detach() for k, v in net.named_parameters()}
x, y = torch.randn(8, 3, device=device), torch.randn(8, 1, device=device)


def loss_fn(p):
    return nn.functional.mse_loss(functional_call(net, p, (x,)), y)


for _ in range(3):
    grads = grad(loss_fn)(params)
    params = {k: v - 0.1 * grads[k] for k, v in params.items()}
print(f"{loss_fn(params).item():.4f}")
