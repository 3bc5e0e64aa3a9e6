import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def placed(x):
    if x.device != device:
        x = x.to(device)
    return x


torch.manual_seed(0)
model = nn.Linear(2, 1).to(device)
print(model(placed(torch.ones(3, 2, device=device))).shape)
