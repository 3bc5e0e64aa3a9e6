import torch
from torch import nn

with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
    torch.manual_seed(0)
    net = nn.LSTM(2, 3)
    h = (torch.zeros(1, 4, 3), torch.zeros(1, 4, 3))
    x = torch.ones(5, 4, 2)
    targets = torch.arange(3.0)
out, _ = net(x, h)
loss = (out[-1] - targets).pow(2).mean()
loss.backward()
print(out.shape)
