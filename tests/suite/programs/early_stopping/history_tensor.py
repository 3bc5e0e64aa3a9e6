import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
history = torch.zeros(4)
for epoch in range(4):
    with torch.no_grad():
        history[epoch] = model(torch.ones(1, 3, device=device) * epoch).abs().sum()
print(f"{history.min().item():.4f}", int(history.numpy().argmin()))
