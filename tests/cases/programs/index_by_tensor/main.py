import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def ranks(points, mask):
    order = torch.arange(points.size(0))
    found = -torch.ones(points.size(0), dtype=torch.long)
    kept = order[mask]
    found[kept] = torch.arange(kept.size(0))
    return found
points = torch.linspace(0, 1, 12, device=device).view(4, 3)
print(ranks(points, points[:, 0] > 0.3).tolist())
