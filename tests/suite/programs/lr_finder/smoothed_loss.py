import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
smooth = torch.zeros(2)
for step in range(1, 4):
    per_output = model(torch.ones(4, 3, device=device) * step).pow(2).mean(0)
    smooth = 0.9 * smooth + 0.1 * per_output.detach()
    corrected = smooth / (1 - 0.9**step)
print([round(v, 4) for v in corrected.tolist()])
