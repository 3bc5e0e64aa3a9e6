import torch
from torch import nn


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(tags))
        self.move = nn.Parameter(torch.randn(tags, tags) * 0.1)

    def forward(self, emissions, tags, mask):
        steps, batch, _ = emissions.shape
        rows = torch.arange(batch, device=emissions.device)
        gold = self.start[tags[0]] + emissions[0, rows, tags[0]]
        alpha = self.start + emissions[0]
        for t in range(1, steps):
            gold = gold + (self.move[tags[t - 1], tags[t]] + emissions[t, rows, tags[t]]) * mask[t]
            new = torch.logsumexp(alpha.unsqueeze(2) + self.move + emissions[t].unsqueeze(1), 1)
            alpha = torch.where(mask[t].bool().unsqueeze(1), new, alpha)
        return (alpha.logsumexp(1) - gold).mean()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
crf = CRF(4).to(device)
emissions = torch.randn(5, 3, 4, device=device)
tags = torch.randint(4, (5, 3)).to(emissions.device)
mask = emissions.new_ones(5, 3)
mask[3:, 1] = 0
print(f"{crf(emissions, tags, mask).item():.4f}")
