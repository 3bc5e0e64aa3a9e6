import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
model.cuda(1)
for _ in range(2):
    x = torch.randn(4, 3).to("cuda:1")
    y = torch.zeros(4, dtype=torch.long, device="cuda:1")
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
print(loss.item() > 0)
