import shared
import torch
from accelerate import Accelerator

accelerator = Accelerator()
net = accelerator.prepare(shared.Net())
print(net(torch.ones(2, 3, device=accelerator.device)).shape)
