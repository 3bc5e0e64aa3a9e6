import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Scorer:
    def __init__(self, device="cuda"):
        self.device = device
        self.model = nn.Linear(3, 2).to(device)

    def score(self, x):
        return self.model(x.to(self.device))


if __name__ == "__main__":
    scorer = Scorer()
    print(scorer.score(torch.ones(1, 3)).sum().item())
