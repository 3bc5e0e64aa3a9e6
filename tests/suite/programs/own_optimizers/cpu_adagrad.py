import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 1)
history = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
x = torch.randn(40, 5)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0]).unsqueeze(1)
for step in range(30):
    loss = (model(x) - y).pow(2).mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for name, p in model.named_parameters():
            history[name] += p.grad**2
            p -= 0.5 * p.grad / (history[name].sqrt() + 1e-8)
print(f"{loss.item():.4f}")
