"""Two steps of the physics loss of Toni0704/Physics-Informed-Flow-Matching, on a small net."""

import importlib.util
import sys

import torch

place = importlib.util.spec_from_file_location("losses", "src/losses.py")
losses = importlib.util.module_from_spec(place)
sys.modules["losses"] = losses
place.loader.exec_module(losses)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Linear(6, 6)

    def forward(self, x, t, ic, bc):
        return self.scale(x) + t.view(-1, 1, 1) + ic.mean() + bc.mean()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
fields = torch.rand(4, 5, 6)
net = Net().to(device)
optimizer = torch.optim.Adam(net.parameters())
for steps in (1, 2):
    optimizer.zero_grad()
    data, physics = losses.pbfm_loss(
        net,
        fields.to(device),
        fields[:, :, 0].to(device),
        fields[:, :1, 0].to(device),
        fields[:, :1, 0].to(device),
        lambda u, bc: u.flatten(1) * bc.double(),
        n_steps=steps,
        use_dignorm=True,
        U_MIN=fields.min(),
        U_MAX=fields.max(),
        device=device,
    )
    (data + physics).backward()
    optimizer.step()
    print(tuple(data.shape))
