import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self):
        self.x = torch.linspace(0, 6, 60).view(12, 5)

    def __len__(self):
        return 12

    def __getitem__(self, i):
        x = self.x[i].cuda()
        return x, torch.sin(x).mean()


torch.manual_seed(0)
net = nn.Linear(5, 1).cuda()
for x, y in DataLoader(Waves(), batch_size=4):
    print(f"{(net(x).squeeze(1) - y).abs().mean().item():.4f}")
