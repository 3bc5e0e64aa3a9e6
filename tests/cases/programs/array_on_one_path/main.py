import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x, track=False):
        y, seen = x, []
        for _ in range(2):
            y = self.layer(x)
            if track:
                seen.append(y.detach().cpu().numpy())
        if track:
            return y, np.array(seen)
        return y, y.mean(0)


net = Net().to(device)
x = torch.ones(2, 3)
y, seen = net(x.to(device), track=True)
seen = seen.reshape(2, -1, 4).mean(1)
rows = []
for step in range(2):
    here = seen[step]
    low, high = np.nanmin(here), np.nanmax(here)
    rows.append(here)
print(len(rows), low <= high)
