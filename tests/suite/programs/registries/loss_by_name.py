import torch
from torch import nn

LOSSES = {"ce": nn.CrossEntropyLoss, "nll": nn.NLLLoss}
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
criterion = LOSSES["ce"](weight=torch.tensor([1.0, 2.0, 0.5]))
net = nn.Linear(4, 3).to(device)
x = torch.randn(6, 4, device=device)
y = torch.randint(3, (6,), device=device)
print(f"{criterion(net(x), y).item():.4f}")
