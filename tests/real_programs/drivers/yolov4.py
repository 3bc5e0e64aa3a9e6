"""Two steps of the loss of bubbliiiing/yolov4-pytorch, and the boxes that it decodes."""

import numpy as np
import torch
from nets.yolo_training import YOLOLoss
from utils.utils_bbox import DecodeBox

anchors = np.arange(12, 12 + 18 * 4, 4, dtype=float).reshape(9, 2)
on_gpu = torch.cuda.is_available()
device = torch.device("cuda" if on_gpu else "cpu")
heads = torch.nn.ModuleList(torch.nn.Conv2d(3, 3 * 7, 1) for _ in range(3)).to(device)
optimizer = torch.optim.Adam(heads.parameters())
loss_of = YOLOLoss(anchors, 2, (64, 64), on_gpu)
decode = DecodeBox(anchors, 2, (64, 64))
image = torch.rand(2, 3, 8, 8).to(device)
targets = [torch.tensor([[0.5, 0.5, 0.4, 0.4, 1.0]]).to(device) for _ in range(2)]
for _ in range(2):
    optimizer.zero_grad()
    outputs = [
        head(torch.nn.functional.interpolate(image, size=(size, size)))
        for head, size in zip(heads, (2, 4, 8), strict=True)
    ]
    loss = sum(loss_of(level, out, targets) for level, out in enumerate(outputs))
    loss.backward()
    optimizer.step()
    print(loss.item())
with torch.no_grad():
    print([tuple(boxes.shape) for boxes in decode.decode_box([out.detach() for out in outputs])])
