import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)

    def forward(self, x, edge_index):
        row, col = edge_index
        out = x.new_zeros(x.shape)
        deg = x.new_zeros(x.size(0)).index_add(0, col, torch.ones_like(col, dtype=x.dtype))
        out.scatter_add_(0, col[:, None].expand(-1, x.size(1)), self.lin(x)[row])
        return out / deg.clamp_(min=1).unsqueeze(1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
conv = Conv(3).to(device)
edges = torch.combinations(torch.arange(4)).t().to(device)
print(f"{conv(torch.randn(4, 3, device=device), edges).sum().item():.4f}")
