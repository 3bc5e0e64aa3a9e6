import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1).cuda()
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    x = torch.ones(2, 3).cuda(non_blocking=True)
torch.cuda.current_stream().wait_stream(stream)
print(f"{net(x).sum().item():.4f}")
