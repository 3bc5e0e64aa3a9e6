import io
from copy import deepcopy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-1, 1, 40).unsqueeze(1)
y = x.pow(3) + 0.05 * torch.randn(40, 1)


def network():
    return nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))


net = network()
opt = torch.optim.SGD(net.parameters(), 0.1)
cycle = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 5)
snapshots, blobs = [], []
for step in range(15):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    cycle.step()
    if step % 5 == 4:
        snapshots.append(deepcopy(net).eval())
        blob = io.BytesIO()
        torch.save(net.state_dict(), blob)
        blobs.append(blob)

members = torch.stack([s(x) for s in snapshots])
mean, spread = members.mean(0), members.std(0)
merged = network()
merged.load_state_dict({
    k: sum(s.state_dict()[k] for s in snapshots) / len(snapshots) for k in net.state_dict()
})
blobs[-1].seek(0)
again = network()
again.load_state_dict(torch.load(blobs[-1]))
print(mean.shape, spread.detach().numpy().max() >= 0)
print(torch.allclose(again(x), snapshots[-1](x)), merged(x).shape)
