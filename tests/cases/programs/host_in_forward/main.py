import torch
from torch.utils.data import DataLoader
from torch import nn

class Stft(nn.Module):
    def forward(self, x):
        return x.cpu()

def evaluate(net, loader):
    for x, y in loader:
        print(nn.functional.mse_loss(net(x.cuda()), y.cuda()).item(), nn.functional.l1_loss(net(x.cuda()), y.cuda()).item())

torch.manual_seed(0)
net = nn.Linear(2, 2).cuda()
evaluate(net, DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 2), torch.ones(4, 2)), 2))
