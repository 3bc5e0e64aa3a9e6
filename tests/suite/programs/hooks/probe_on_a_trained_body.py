from collections import defaultdict
from functools import partial

import torch
import torch.nn as nn


class ActivationStats:
    def __init__(self, model, layers):
        self.acts = {}
        self.means = defaultdict(lambda: torch.zeros(1))
        self.count = 0
        self.handles = []
        for name, module in model.named_modules():
            if name in layers:
                self.handles.append(module.register_forward_hook(partial(self._hook, name)))

    def _hook(self, name, module, inputs, output):
        self.acts[name] = output.detach()
        self.means[name] = 0.9 * self.means[name] + 0.1 * output.detach().mean()

    def close(self):
        for h in self.handles:
            h.remove()


def grad_cam(model, layer, x, target):
    store = {}
    h1 = layer.register_forward_hook(lambda m, i, o: store.update(act=o))
    h2 = layer.register_full_backward_hook(lambda m, gi, go: store.update(grad=go[0]))
    logits = model(x)
    one_hot = torch.zeros(logits.shape)
    one_hot[range(len(target)), target] = 1
    model.zero_grad()
    logits.backward(gradient=one_hot)
    weights = store["grad"].mean((2, 3), keepdim=True)
    cam = torch.relu((weights * store["act"]).sum(1))
    h1.remove()
    h2.remove()
    return cam / cam.amax((1, 2), keepdim=True).clamp_min(1e-6)


class LinearProbe(nn.Module):
    def __init__(self, backbone, stats, key, dim, n):
        super().__init__()
        self.backbone, self.stats, self.key = backbone, stats, key
        self.head = nn.Linear(dim, n)

    def forward(self, x):
        with torch.no_grad():
            self.backbone(x)
        return self.head(self.stats.acts[self.key].flatten(1))


torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 9, 3))
x = torch.randn(12, 1, 8, 8)
y = torch.arange(12) % 3
stats = ActivationStats(backbone, ["1", "3"])
opt = torch.optim.Adam(backbone.parameters(), lr=1e-2)
for i in range(3):
    loss = nn.functional.cross_entropy(backbone(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.4f" % loss.item(), {k: "%.4f" % v.item() for k, v in sorted(stats.means.items())})
probe = LinearProbe(backbone, stats, "3", 36, 3)
opt = torch.optim.Adam(probe.head.parameters(), lr=1e-2)
for i in range(3):
    loss = nn.functional.cross_entropy(probe(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
stats.close()
print("%.4f" % loss.item())
cam = grad_cam(backbone, backbone[2], x[:4], y[:4])
print(tuple(cam.shape), "%.3f" % cam.mean().item())
