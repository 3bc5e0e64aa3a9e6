import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.rand(8, 3), torch.randint(0, 2, (8, 1)))
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
right = 0
for x, y in DataLoader(data, batch_size=4):
    out = torch.sigmoid(model(x))
    optimizer.zero_grad()
    out.mean().backward()
    optimizer.step()
    said = torch.where(out > 0.5, 1, 0)
    right += torch.sum(y.view(said.shape).to(said.dtype) == said)
print(int(right))
