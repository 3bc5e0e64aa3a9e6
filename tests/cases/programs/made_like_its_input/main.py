import torch
from torch import nn


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 1)

    def forward(self, image, sigma):
        return self.inner(image + sigma * torch.randn_like(image).cuda())


model = Noisy().cuda()
print(model(torch.rand(2, 3).cuda(), 0.5).shape)
