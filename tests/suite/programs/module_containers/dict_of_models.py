import torch
from torch import nn

torch.manual_seed(0)
models = {
    "linear": nn.Linear(4, 1),
    "mlp": nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)),
}
x = torch.randn(64, 4)
y = x.pow(2).sum(1, keepdim=True)
for name, model in models.items():
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(20):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(name, f"{loss.item():.4f}")
