import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
rng = torch.Generator().manual_seed(1)
data = TensorDataset(torch.arange(24.0).view(8, 3))
sampler = WeightedRandomSampler(torch.ones(8), 6, generator=rng)
net = nn.Linear(3, 1).to(device)
for (x,) in DataLoader(data, batch_size=3, sampler=sampler, generator=torch.Generator()):
    x = x.to(device)
    print(f"{net(x).sum().item():.3f}")
