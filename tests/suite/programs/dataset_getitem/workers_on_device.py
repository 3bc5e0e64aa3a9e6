import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Waves(Dataset):
    def __init__(self):
        self.x = torch.linspace(0, 6, 60).view(12, 5)

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return torch.sin(self.x[i]).to(device), i


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Linear(5, 1).to(device)
    for x, i in DataLoader(Waves(), batch_size=6, num_workers=1):
        print(i.tolist(), f"{net(x).sum().item():.4f}")
