"""Two steps of yhenon/pytorch-retinanet, and a detection."""

import torch
from retinanet import model

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = model.resnet18(num_classes=3, pretrained=False).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-5)
net.train()
net.freeze_bn()
boxes = torch.tensor([[[4.0, 4.0, 40.0, 40.0, 1.0]], [[8.0, 2.0, 50.0, 30.0, 2.0]]])
boxes = boxes.to(device)
for _ in range(2):
    optimizer.zero_grad()
    one, two = net([torch.rand(2, 3, 64, 64).to(device), boxes])
    loss = one.mean() + two.mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
net.eval()
with torch.no_grad():
    print([len(part) for part in net(torch.rand(1, 3, 64, 64).to(device))])
