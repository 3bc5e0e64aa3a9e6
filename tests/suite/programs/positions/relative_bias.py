import torch
from torch import nn


class RelativeBias(nn.Module):
    def __init__(self, span, heads):
        super().__init__()
        self.span = span
        self.bias = nn.Embedding(2 * span + 1, heads)

    def forward(self, scores):
        n = scores.size(-1)
        place = scores.new_ones(n, dtype=torch.long).cumsum(0)
        distance = (place[None] - place[:, None]).clamp(-self.span, self.span) + self.span
        return scores + self.bias(distance).permute(2, 0, 1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layer = RelativeBias(3, 2).to(device)
print(f"{layer(torch.zeros(1, 2, 6, 6, device=device)).sum().item():.4f}")
