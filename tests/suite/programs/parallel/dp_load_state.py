import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2)
state = {f"module.{k}": v for k, v in net.state_dict().items()}
model = nn.DataParallel(nn.Linear(4, 2)).to(device)
model.load_state_dict(state)
labels = torch.tensor([0, 1, 1])
out = model(torch.ones(3, 4, device=device))
print(f"{nn.functional.cross_entropy(out, labels).item():.4f}")
