import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
G = nn.Linear(3 + 4, 2).to(device)
codes = torch.eye(4, device=device)
z = torch.empty(4, 3, device=device).uniform_(-1, 1)
for k in range(2):
    c = codes[k].expand(4, -1)
    print(tuple(G(torch.cat((z, c), 1)).shape))
