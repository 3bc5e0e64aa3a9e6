import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
cuda = torch.cuda.is_available()
device = torch.device("cuda" if cuda else "cpu")
loader = DataLoader(TensorDataset(torch.rand(8, 3)), batch_size=4, pin_memory=cuda)
net = nn.Linear(3, 1).to(device)
for (x,) in loader:
    print(f"{net(x.to(device, non_blocking=cuda)).sum().item():.4f}")
