import torch
from torch import nn
class Solver:
    def __init__(self):
        self.build()
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(self.device)
    def build(self):
        torch.manual_seed(0)
        self.model = nn.Linear(3, 3)
        if torch.cuda.is_available():
            self.model.cuda()
    def run(self, x):
        return self.model(x.to(self.device)).sum().item()
print(round(Solver().run(torch.ones(2, 3)), 3))
