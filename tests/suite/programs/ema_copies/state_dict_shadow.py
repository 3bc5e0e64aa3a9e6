import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 3)
average = {k: v.clone() for k, v in model.state_dict().items()}
model = model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
data = torch.eye(3, device=device)
for n in range(1, 6):
    loss = (model(data) - data).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for k, v in model.state_dict().items():
        average[k] = average[k] + (v - average[k]) / (n + 1)
model.load_state_dict(average)
print(f"{(model(data) - data).pow(2).sum().item():.4f}")
