import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def loader(data, seed=None):
    order = None if seed is None else torch.Generator(device="cpu").manual_seed(seed)
    return DataLoader(data, batch_size=2, shuffle=True, generator=order)


torch.manual_seed(0)
net = nn.Linear(3, 1).to(device)
for (x,) in loader(TensorDataset(torch.arange(12.0).view(4, 3)), 3):
    print(net(x.to(device)).shape)
