import torch
from torch import nn


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0).mul_(100.0 / len(target)).item() for k in topk]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 5).to(device)
x, y = torch.ones(10, 4, device=device), torch.arange(10, device=device) % 5
print(accuracy(net(x), y, (1, 3)))
