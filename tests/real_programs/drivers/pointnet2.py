"""Two steps of networks of yanx27/Pointnet_Pointnet2_pytorch on random points."""

import importlib
import sys

import torch

sys.path.append("models")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for name in ("pointnet_cls", "pointnet2_cls_ssg"):
    module = importlib.import_module(name)
    model = module.get_model(5, False).to(device)
    criterion = module.get_loss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        points, labels = torch.rand(4, 3, 600).to(device), torch.arange(4).to(device)
        optimizer.zero_grad()
        output, features = model(points)
        loss = criterion(output, labels, features)
        loss.backward()
        optimizer.step()
        print(loss.item())
