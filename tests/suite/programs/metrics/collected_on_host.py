import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 1).to(device).eval()
targets, outputs = torch.tensor([]), torch.tensor([])
with torch.no_grad():
    for k in range(3):
        out = net(torch.full((2, 4), float(k)).to(device))
        outputs = torch.cat([outputs, out.to(outputs.device)])
        targets = torch.cat([targets, torch.full((2,), float(k))])
print(outputs.shape[0], f"{(outputs.squeeze(1) - targets).abs().mean().item():.4f}")
