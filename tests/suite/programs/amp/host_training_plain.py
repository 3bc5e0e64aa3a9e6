import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for i in range(5):
    inputs = torch.randn(12, 5)
    optimizer.zero_grad()
    loss = (model(inputs) - inputs.prod(1, keepdim=True)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"{loss.item():.4f}")
