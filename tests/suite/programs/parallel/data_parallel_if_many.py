import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
model.to(device)
core = model.module if hasattr(model, "module") else model
print(f"{model(torch.ones(6, 4).to(device)).sum().item():.4f}", core.out_features)
