import torch
from torch import nn
import torch.nn.functional as F


def effective_weights(counts, beta=0.99):
    counts = torch.as_tensor(counts, dtype=torch.float32)
    w = (1 - beta) / (1 - beta ** counts)
    return w / w.sum() * len(counts)


class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.alpha = alpha
        self.gamma = gamma

    def forward(self, logits, target):
        logp = F.log_softmax(logits, dim=1)
        picked = logp.gather(1, target[:, None]).squeeze(1)
        return -(self.alpha[target] * (1 - picked.exp()) ** self.gamma * picked).mean()


class Margin(nn.Module):
    def __init__(self, counts, s=4.0):
        super().__init__()
        self.margins = torch.tensor(counts).float().pow(-0.25)
        self.s = s

    def forward(self, logits, target):
        onehot = F.one_hot(target, logits.size(1)).float()
        return F.cross_entropy(self.s * (logits - onehot * self.margins), target)


counts = [50, 10, 5]
torch.manual_seed(0)
x = torch.randn(65, 6)
y = torch.tensor([0] * 50 + [1] * 10 + [2] * 5)
for build in (lambda: FocalLoss(effective_weights(counts)), lambda: Margin(counts),
              lambda: nn.CrossEntropyLoss(weight=effective_weights(counts))):
    net = nn.Linear(6, 3)
    criterion = build()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(type(criterion).__name__, bool(loss > 0))
