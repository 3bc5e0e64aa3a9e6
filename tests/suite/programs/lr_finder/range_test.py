import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
start = {k: v.detach().clone() for k, v in model.state_dict().items()}
x = torch.linspace(-1, 1, 30, device=device).view(10, 3)
found = []
for lr in torch.logspace(-3, 0, 4).tolist():
    model.load_state_dict(start)
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(3):
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    found.append((lr, loss.item()))
print(min(found, key=lambda pair: pair[1])[0])
