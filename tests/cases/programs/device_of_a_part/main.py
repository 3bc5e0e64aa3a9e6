import torch
from torch import nn
class Wrapper(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.head = nn.Linear(3, 2)
        device = next(net.parameters()).device
        self.to(device)
        self.forward(torch.randn(2, 3, device=device))
    def forward(self, x):
        return self.head(self.net(x))
torch.manual_seed(0)
net = nn.Linear(3, 3)
w = Wrapper(net)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
w.to(device)
print(w(torch.ones(1, 3, device=device)).shape)
