import torch
from torch import nn


def one_hot(labels, classes, device="cpu"):
    return torch.zeros(len(labels), classes, device=device).scatter_(1, labels[:, None], 1.0)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 3).to(device)
labels = torch.randint(3, (6,), device=device)
target = one_hot(labels, 3)
loss = (net(torch.randn(6, 4, device=device)).softmax(-1) - target).abs().mean()
print(f"{loss.item():.4f}")
