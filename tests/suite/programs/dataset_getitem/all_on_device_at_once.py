import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.rand(12, 5, device=device), torch.rand(12, 1).to(device))
net = nn.Linear(5, 1).to(device)
for x, y in DataLoader(data, batch_size=4):
    print(f"{nn.functional.mse_loss(net(x), y).item():.4f}")
