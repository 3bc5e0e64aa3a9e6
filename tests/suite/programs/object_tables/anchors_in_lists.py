import itertools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class AnchorGenerator:
    def __init__(self, strides, scales=(1.0, 1.5), ratios=(0.5, 1.0)):
        self.strides = strides
        self.base = [self._base(s, scales, ratios) for s in strides]

    def _base(self, stride, scales, ratios):
        out = []
        for s, r in itertools.product(scales, ratios):
            w, h = stride * s * math.sqrt(1 / r), stride * s * math.sqrt(r)
            out.append([-w / 2, -h / 2, w / 2, h / 2])
        return torch.tensor(out)

    def grid(self, feature_maps):
        anchors = []
        for fm, stride, base in zip(feature_maps, self.strides, self.base):
            h, w = fm.shape[-2:]
            sx = (torch.arange(w) + 0.5) * stride
            sy = (torch.arange(h) + 0.5) * stride
            yy, xx = torch.meshgrid(sy, sx, indexing="ij")
            shifts = torch.stack([xx, yy, xx, yy], -1).reshape(-1, 1, 4)
            anchors.append((shifts + base).reshape(-1, 4))
        return torch.cat(anchors)


class RetinaNet(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.c1 = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.c2 = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.anchors = AnchorGenerator([4, 8])
        self.cls = nn.Conv2d(8, 4 * classes, 1)
        self.reg = nn.Conv2d(8, 16, 1)
        self.classes = classes

    def forward(self, x):
        p1 = F.relu(self.c1(x))
        p2 = F.relu(self.c2(p1))
        feats = [p1, p2]
        B = x.size(0)
        cls = torch.cat([self.cls(f).permute(0, 2, 3, 1).reshape(B, -1, self.classes) for f in feats], 1)
        reg = torch.cat([self.reg(f).permute(0, 2, 3, 1).reshape(B, -1, 4) for f in feats], 1)
        return cls, reg, self.anchors.grid(feats)


def box_iou(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b - inter)


def detection_loss(cls, reg, anchors, boxes, labels):
    total = 0
    for c, r, b, l in zip(cls, reg, boxes, labels):
        iou, idx = box_iou(anchors, b).max(1)
        pos = iou > 0.3
        target = torch.zeros(c.shape)
        target[pos, l[idx[pos]]] = 1
        total = total + F.binary_cross_entropy_with_logits(c, target)
        if pos.any():
            delta = b[idx[pos]] - anchors[pos]
            total = total + F.smooth_l1_loss(r[pos], delta / 8)
    return total


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = RetinaNet().to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
images = torch.randn(2, 3, 16, 16)
boxes = [torch.tensor([[1.0, 1.0, 7.0, 7.0]]), torch.tensor([[4.0, 4.0, 12.0, 12.0], [0.0, 0.0, 5.0, 5.0]])]
labels = [torch.tensor([0]), torch.tensor([1, 0])]
for i in range(3):
    images = images.to(device)
    boxes = [b.to(device) for b in boxes]
    labels = [l.to(device) for l in labels]
    loss = detection_loss(*net(images), boxes, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("%.4f" % loss.item())
