import torch
from torch import nn


class Controller(nn.Module):
    def __init__(self, size=6):
        super().__init__()
        self.size = size
        self.cell = nn.LSTMCell(3, size)
        self.act = nn.Linear(size, 2)
        self.reset()

    def reset(self, batch=1):
        self.h = torch.zeros(batch, self.size)
        self.c = torch.zeros(batch, self.size)

    def forward(self, obs):
        self.h, self.c = self.cell(obs, (self.h, self.c))
        return self.act(self.h).argmax(-1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
agent = Controller().to(device).eval()
for episode in range(2):
    agent.reset(4)
    with torch.no_grad():
        actions = [agent(torch.randn(4, 3, device=device)).sum().item() for _ in range(5)]
    print(actions)
