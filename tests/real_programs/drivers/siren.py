"""Two steps of networks of vsitzmann/siren with its loss functions."""

import loss_functions
import modules
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for mode in ("sine", "relu"):
    net = modules.SingleBVPNet(
        type=mode, in_features=2, out_features=1, hidden_features=8, num_hidden_layers=1
    ).to(device)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        out = net({"coords": torch.rand(1, 16, 2).to(device)})
        losses = loss_functions.image_mse(None, out, {"img": torch.rand(1, 16, 1).to(device)})
        loss = losses["img_loss"]
        loss.backward()
        optimizer.step()
        print(loss.item())
