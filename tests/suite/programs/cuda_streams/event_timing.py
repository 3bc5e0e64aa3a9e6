import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1).to("cuda")
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
y = net(torch.ones(2, 3, device="cuda"))
end.record()
torch.cuda.synchronize()
elapsed = start.elapsed_time(end)
print(elapsed >= 0, f"{y.sum().item():.4f}")
