"""Two steps of networks of LeeJunHyun/Image_Segmentation, and its measures."""

import evaluation
import torch
from network import AttU_Net, R2U_Net, U_Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for kind in (U_Net, R2U_Net, AttU_Net):
    net = kind().to(device) if kind is R2U_Net else kind(3, 1).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(2):
        image, mask = torch.rand(1, 3, 32, 32).to(device), torch.rand(1, 1, 32, 32).to(device)
        optimizer.zero_grad()
        out = torch.sigmoid(net(image))
        loss = torch.nn.functional.binary_cross_entropy(out, mask.round())
        loss.backward()
        optimizer.step()
        print(loss.item(), evaluation.get_accuracy(out, mask))
