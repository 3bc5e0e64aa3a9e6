import json

import torch
from torch import nn

CONFIG = """
{
  "device": "cuda",
  "model": {"hidden": 8, "act": "tanh"},
  "optim": {"name": "SGD", "lr": 0.1}
}
"""
ACTS = {"tanh": nn.Tanh, "relu": nn.ReLU}


def build(cfg):
    h = cfg["model"]["hidden"]
    return nn.Sequential(nn.Linear(3, h), ACTS[cfg["model"]["act"]](), nn.Linear(h, 1))


def main():
    cfg = json.loads(CONFIG)
    torch.manual_seed(0)
    device = torch.device(cfg["device"])
    model = build(cfg).to(device)
    opt = getattr(torch.optim, cfg["optim"]["name"])(model.parameters(), lr=cfg["optim"]["lr"])
    x = torch.randn(20, 3).to(device)
    y = x.prod(1, keepdim=True)
    for _ in range(4):
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("%.2f" % loss.item())


main()
