import torch
from torch import nn


class Mean:
    def __init__(self):
        self.total, self.count = torch.tensor(0.0), 0

    def update(self, value, n=1):
        self.total = self.total + value * n
        self.count += n

    def compute(self):
        return (self.total / self.count).item()


class ConfusionMatrix:
    def __init__(self, classes):
        self.classes = classes
        self.matrix = torch.zeros(classes, classes, dtype=torch.long)

    def update(self, pred, target):
        flat = torch.bincount(target * self.classes + pred, minlength=self.classes ** 2)
        self.matrix += flat.view(self.classes, self.classes)

    def iou(self):
        inter = self.matrix.diag()
        union = self.matrix.sum(0) + self.matrix.sum(1) - inter
        return (inter / union.clamp(min=1)).tolist()


class TopK:
    def __init__(self, ks=(1, 2)):
        self.hits = {k: [] for k in ks}

    def update(self, scores, target):
        for k, hits in self.hits.items():
            hits.append((scores.topk(k).indices == target[:, None]).any(1))

    def compute(self):
        return {k: torch.cat(h).float().mean().item() for k, h in self.hits.items()}


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), 0.02)
w = torch.randn(5, 4)
for epoch in range(2):
    mean, matrix, top = Mean(), ConfusionMatrix(4), TopK()
    for step in range(5):
        x = torch.randn(16, 5)
        y = (x @ w).argmax(1)
        scores = net(x)
        loss = nn.functional.cross_entropy(scores, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean.update(loss.detach(), len(x))
        matrix.update(scores.argmax(1), y)
        top.update(scores, y)
    print(mean.compute() > 0, len(matrix.iou()), top.compute()[2] >= top.compute()[1])
