import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
np.random.seed(0)
x = torch.randn(80, 3)
y = (x[:, 0] > 0.8).long()
weights = (1.0 / torch.bincount(y).float())[y]
loader = DataLoader(TensorDataset(x, y), batch_size=20, sampler=WeightedRandomSampler(weights, 40))


def mixup(x, y, alpha=0.4):
    lam = np.random.beta(alpha, alpha)
    perm = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[perm], y, y[perm], lam


net = nn.Sequential(nn.Linear(3, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, 2))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.2, total_steps=6)
ce = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(3):
    for bx, by in loader:
        mixed, a, b, lam = mixup(bx, by)
        out = net(mixed)
        loss = lam * ce(out, a) + (1 - lam) * ce(out, b)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
net.eval()
with torch.inference_mode():
    recall = (net(x).argmax(1) == y)[y == 1].float().mean()
print(0.0 <= recall.item() <= 1.0)
