import torch
from torch import nn

STORES = ["cuda:1"]  # where episodes are kept
COMPUTE = "cuda:1"

torch.manual_seed(0)
model = nn.Linear(2, 2).to(COMPUTE)
memory = [torch.zeros(2, 2, device=each) for each in STORES]
print(model(memory[0].to(COMPUTE)).shape)
