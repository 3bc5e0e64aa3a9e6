import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)
swa = AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 4, device=device)
for _ in range(6):
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    swa.update_parameters(model)
print(int(swa.n_averaged), f"{swa(x).sum().item():.4f}")
