import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
used = [str(p.device) for p in model.parameters()]
x = torch.rand(2, 3).to(device)
if x.device != torch.device(used[0]):
    print("on another one")
print(model(x).sum().item())
