import torch
from torch import nn


class Average:
    """Lives on the CPU on purpose; the weights come to it."""

    def __init__(self, net):
        self.state = {k: v.detach().cpu().clone() for k, v in net.state_dict().items()}

    def update(self, net, d=0.9):
        for k, v in net.state_dict().items():
            self.state[k].mul_(d).add_(v.detach().cpu(), alpha=1 - d)

    def load_into(self, net):
        net.load_state_dict(self.state)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
avg = Average(net)
opt = torch.optim.SGD(net.parameters(), 0.1)
seen = torch.zeros(3)
for _ in range(4):
    x = torch.randn(8, 3)
    seen += x.sum(0)
    loss = net(x.to(device)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    avg.update(net)
avg.load_into(net)
print(f"{net(torch.ones(1, 3, device=device)).item():.4f} {seen.sum().item():.4f}")
