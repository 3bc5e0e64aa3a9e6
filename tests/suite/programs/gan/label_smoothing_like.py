import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
D, G = nn.Linear(4, 1).to(device), nn.Linear(3, 4).to(device)
bce = nn.BCEWithLogitsLoss()
real = D(torch.randn(5, 4, device=device))
fake = D(G(torch.randn(5, 3, device=device)))
loss = bce(real, real.new_full(real.shape, 0.9)) + bce(fake, torch.zeros_like(fake))
loss.backward()
print(G.weight.grad is not None, tuple(loss.shape))
