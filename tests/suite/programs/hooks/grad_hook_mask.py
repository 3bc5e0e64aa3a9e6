import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)


def keep_half(grad):
    mask = torch.zeros_like(grad)
    mask[:, :2] = 1
    return grad * mask


net.weight.register_hook(keep_half)
net(torch.ones(2, 4, device=device)).sum().backward()
print(net.weight.grad.count_nonzero().item(), f"{net.weight.grad.sum().item():.2f}")
