import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        kept = []
        for layer in self.layers:
            x = layer(x)
            kept.append(x)
        return kept


net = Net().to(device)
kept = net(torch.ones(2, 3, device=device))
for i in range(len(kept)):
    kept[i] = kept[i].detach().cpu().numpy()
    kept[i] = np.mean(kept[i][0], axis=0)
    print(kept[i])
