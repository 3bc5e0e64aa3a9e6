import torch
from torch import nn

class LoRALinear(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear, self.up = nn.Linear(n, n), nn.Linear(n, n)
    def forward(self, x): return self.linear(x) + self.up(x)

def inject(model):
    for _child_module in model.children():
        weight, bias = _child_module.weight, _child_module.bias
        _tmp = LoRALinear(2)
        _tmp.to(_child_module.weight.device).to(_child_module.weight.dtype)
        if bias is not None: _tmp.to(_child_module.bias.device).to(_child_module.bias.dtype)

net = nn.Sequential(nn.Linear(2, 2)).cuda()
inject(net)
print(net(torch.ones(1, 2).cuda()).shape)
