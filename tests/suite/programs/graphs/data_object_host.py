from types import SimpleNamespace

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
n = 12
data = SimpleNamespace(
    x=torch.randn(n, 5),
    y=torch.arange(n) % 3,
    adj=(torch.rand(n, n) > 0.6).float() + torch.eye(n),
    train_mask=torch.arange(n) < 8,
    test_mask=torch.arange(n) >= 8,
)
model = nn.Linear(5, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
for epoch in range(8):
    optimizer.zero_grad()
    out = F.log_softmax(data.adj @ model(data.x), dim=1)
    loss = F.nll_loss(out[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
pred = out.argmax(dim=1)
correct = (pred[data.test_mask] == data.y[data.test_mask]).sum()
print(f"{loss.item():.4f} {int(correct)}/{int(data.test_mask.sum())}")
