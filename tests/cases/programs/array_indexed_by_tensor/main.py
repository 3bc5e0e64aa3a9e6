import numpy as np
import torch
from torch import nn


def target(x):
    y = np.zeros_like(x)
    mask = x < 0.5
    y[mask] = np.sin(20 * np.pi * x[mask]) + x[mask] ** 2
    mask = x >= 0.5
    y[mask] = np.log(x[mask] + 1) / np.log(2) - np.cos(2 * np.pi * x[mask])
    return y


x_train = torch.linspace(0, 1, steps=50)
y_train = torch.tensor(target(x_train))
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x_train.unsqueeze(1)).squeeze(1), y_train)
    loss.backward()
    optimizer.step()
    print(loss.item())
