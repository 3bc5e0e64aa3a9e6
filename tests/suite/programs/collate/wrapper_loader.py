import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DeviceLoader:
    def __init__(self, loader, device):
        self.loader, self.device = loader, device

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        for batch in self.loader:
            yield tuple(t.to(self.device) for t in batch)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.rand(12, 3), torch.rand(12, 1))
net = nn.Linear(3, 1).to(device)
for x, y in DeviceLoader(DataLoader(data, 6), device):
    print(f"{nn.functional.l1_loss(net(x), y).item():.4f}")
