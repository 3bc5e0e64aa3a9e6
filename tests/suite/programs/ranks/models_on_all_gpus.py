import copy

import torch
from torch import nn

torch.manual_seed(0)
devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())] or [torch.device("cpu")]
base = nn.Linear(4, 2)
replicas = [copy.deepcopy(base).to(d) for d in devices]
x = torch.arange(8.0).view(2, 4)
outs = [replica(x.to(d)).cpu() for replica, d in zip(replicas, devices)]
print(f"{torch.stack(outs).mean(0).sum().item():.4f}")
