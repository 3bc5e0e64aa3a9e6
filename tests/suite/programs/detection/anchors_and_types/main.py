import torch
import torch.nn as nn
import torch.nn.functional as F

from boxes import anchors, iou, nms

FT = torch.cuda.FloatTensor


class Head(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.body = nn.Conv2d(3, 8, 3, 2, 1)
        self.cls = nn.Conv2d(8, 2 * classes, 1)
        self.reg = nn.Conv2d(8, 2 * 4, 1)
        self.classes = classes

    def forward(self, x):
        f = F.relu(self.body(x))
        b = x.size(0)
        return self.cls(f).view(b, -1, self.classes), self.reg(f).view(b, -1, 4)


class BoxLoss(nn.Module):
    def __init__(self, anchors):
        super().__init__()
        self.anchors = anchors
        self.variances = FT([0.1, 0.2])

    def forward(self, cls, reg, targets):
        losses = FT([0])
        for c, r, t in zip(cls, reg, targets):
            match = iou(self.anchors, t[:, :4])
            best, idx = match.max(1)
            pos = best > 0.2
            labels = torch.where(pos, t[idx, 4].long(), torch.zeros_like(idx))
            off = (t[idx, :2] - self.anchors[:, :2]) / self.variances[0]
            losses = losses + F.cross_entropy(c, labels)
            if pos.any():
                losses = losses + F.smooth_l1_loss(r[pos][:, :2], off[pos])
        return losses / len(targets)


torch.manual_seed(0)
net = Head().cuda()
prior = anchors(8, [0.1, 0.2])
crit = BoxLoss(prior)
opt = torch.optim.SGD(net.parameters(), 1e-2)
x = torch.rand(2, 3, 16, 16)
targets = [torch.tensor([[0.1, 0.1, 0.4, 0.4, 1.0]]), torch.tensor([[0.5, 0.5, 0.8, 0.9, 1.0], [0.0, 0.0, 0.3, 0.3, 1.0]])]
for _ in range(3):
    cls, reg = net(x.cuda())
    loss = crit(cls, reg, [t.cuda() for t in targets])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.2f" % loss.item())
with torch.no_grad():
    cls, reg = net(x.cuda())
    scores = cls[0].softmax(-1)[:, 1]
    keep = nms(prior, scores)
    print(prior[keep].cpu().numpy().shape[1])
