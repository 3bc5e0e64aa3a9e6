import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 3)
        self.register_buffer("start", torch.ones(3))
    def forward(self, n, labels=None):
        x = torch.zeros(n, 3).cuda() + self.start
        if labels is not None:
            x = x + self.emb(labels)
        return x + torch.ones(n, 3).cuda()
torch.manual_seed(0)
net = Net().cuda()
print(net(2).sum().item())
print(round(net(2, torch.tensor([0, 1]).cuda()).sum().item(), 3))
