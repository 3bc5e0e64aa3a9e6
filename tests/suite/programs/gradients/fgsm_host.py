import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(16, 10), nn.ReLU(), nn.Linear(10, 3))
image = torch.rand(1, 1, 4, 4)
image.requires_grad = True
label = torch.tensor([2])
loss = nn.functional.cross_entropy(model(image), label)
model.zero_grad()
loss.backward()
adversarial = torch.clamp(image + 0.1 * image.grad.data.sign(), 0, 1)
print(model(adversarial).max(1)[1].item(), adversarial.detach().squeeze().numpy().sum().round(3))
