import torch
from torch import nn


class Trainer:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model_class = nn.Linear

    def __init__(self, *sizes):
        self.model = self.model_class(*sizes).to(self.device)

    def score(self, rows):
        return self.model(torch.tensor(rows, device=self.device)).mean().item()


class Deep(Trainer):
    model_class = staticmethod(lambda i, o: nn.Sequential(nn.Linear(i, 4), nn.Linear(4, o)))


torch.manual_seed(0)
print(f"{Trainer(2, 1).score([[1.0, 2.0]]):.4f} {Deep(2, 1).score([[1.0, 2.0]]):.4f}")
