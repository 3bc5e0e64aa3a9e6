import torch


def iou(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(2)
    area = lambda z: (z[:, 2] - z[:, 0]) * (z[:, 3] - z[:, 1])
    return inter / (area(a)[:, None] + area(b)[None] - inter)


def nms(boxes, scores, thr=0.5):
    order = scores.sort(descending=True)[1]
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        rest = order[1:]
        order = rest[iou(boxes[i][None], boxes[rest])[0] <= thr]
    return torch.LongTensor(keep).cuda()


def anchors(size, scales):
    c = (torch.arange(size).float() + 0.5) / size
    cy, cx = torch.meshgrid(c, c, indexing="ij")
    out = []
    for s in scales:
        out.append(torch.stack([cx - s, cy - s, cx + s, cy + s], -1).view(-1, 4))
    return torch.cat(out).cuda()
