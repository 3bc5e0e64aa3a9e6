import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.rand(12, 3), torch.rand(12, 1)), batch_size=4)
net = nn.Linear(3, 1).to(device)
images, targets = next(iter(loader))
print(f"{nn.functional.l1_loss(net(images), targets).item():.4f}")
