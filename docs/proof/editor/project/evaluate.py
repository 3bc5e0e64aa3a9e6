"""How often the trained model is right."""

import torch
from data import rings
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3)).cuda()
model.load_state_dict(torch.load("model.pt"))
points, labels = rings(200)
with torch.no_grad():
    answers = model(points.cuda()).argmax(dim=1)
print(f"right: {(answers.cpu() == labels).float().mean().item():.0%}")
