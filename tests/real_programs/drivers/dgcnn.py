"""Two steps of each network of WangYueFt/dgcnn on random points."""

from types import SimpleNamespace

import torch
from model import DGCNN, PointNet
from util import cal_loss

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
args = SimpleNamespace(k=4, emb_dims=32, dropout=0.0)
for kind in (PointNet, DGCNN):
    model = kind(args, 5).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        points, labels = torch.rand(4, 3, 16).to(device), torch.arange(4).to(device)
        optimizer.zero_grad()
        loss = cal_loss(model(points), labels)
        loss.backward()
        optimizer.step()
        print(loss.item())
