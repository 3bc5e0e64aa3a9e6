import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device)
z = nn.functional.normalize(net(torch.randn(6, 3, device=device)), dim=1)
labels = torch.arange(6, device=device) // 2
same = labels.unsqueeze(0).eq(labels.unsqueeze(1))
distance = torch.cdist(z, z).masked_fill(same, float("inf"))
hardest = distance.argmin(1)
loss = nn.functional.triplet_margin_loss(z, z[labels * 2], z[hardest])
print(hardest.shape[0], tuple(loss.shape))
