import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu_ids", type=str, default="0")
opt = parser.parse_args([])
opt.gpu_ids = [int(i) for i in opt.gpu_ids.split(",") if int(i) >= 0]


class Model:
    def __init__(self, opt):
        self.device = torch.device(f"cuda:{opt.gpu_ids[0]}") if opt.gpu_ids else torch.device("cpu")
        self.net = nn.Linear(3, 1).to(self.device)

    def set_input(self, data):
        self.x = data["A"]

    def forward(self):
        return self.net(self.x)


torch.manual_seed(0)
model = Model(opt)
model.set_input({"A": torch.ones(2, 3)})
print(f"{model.forward().sum().item():.4f}")
