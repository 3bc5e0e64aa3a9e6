import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
pretrained = {"0.weight": torch.randn(4, 3), "0.bias": torch.zeros(4), "old.head": torch.ones(1)}
model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).to(device)
with torch.no_grad():
    for name, parameter in model.named_parameters():
        if name in pretrained:
            parameter.copy_(pretrained[name])
print(f"{model[0](torch.ones(1, 3, device=device)).sum().item():.4f}")
