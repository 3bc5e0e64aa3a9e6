import torch, torch.nn as nn
torch.manual_seed(0)
model, other = nn.Linear(2, 1), nn.Linear(2, 1)
opt = torch.optim.Adam(model.parameters())
print(model(torch.ones(1, 2)).sum().item())
for p, q in zip(model.parameters(), other.parameters()):
    if p.grad is None:
        p.grad = torch.zeros(p.size())
    p.grad.data.add_(p.data - q.data)
opt.step()
print(model.weight.sum().item())
