import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
path = os.path.join(tempfile.mkdtemp(), "last.pth")


def train(model, optimizer, steps):
    for _ in range(steps):
        loss = model(torch.ones(2, 3, device=device)).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


model = nn.Linear(3, 1).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
train(model, optimizer, 3)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
ckpt = torch.load(path, map_location=device)
model = nn.Linear(3, 1)
model.load_state_dict(ckpt["model"])
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
optimizer.load_state_dict(ckpt["optimizer"])
print(f"{train(model, optimizer, 3):.5f}")
