import torch
from torch import nn
import numpy as np


class CAM:
    def __init__(self, model, layer):
        self.model = model
        layer.register_forward_hook(self.forward_hook)

    def forward_hook(self, module, args, out):
        self.feature = out
        out.register_hook(self.grad_hook)

    def grad_hook(self, grad):
        self.grad = grad

    def __call__(self, image, cls):
        self.model.zero_grad()
        self.model(image)[0, cls].backward()
        weight = self.grad.mean((2, 3), keepdim=True)
        return (weight * self.feature).sum(1).relu().detach()[0].numpy()


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(100, 3))
heat = CAM(model, model[0])(torch.rand(1, 1, 5, 5), 1)
print(heat.shape, np.round(heat.sum(), 4))
