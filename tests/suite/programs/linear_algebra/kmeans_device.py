import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
points = torch.cat([torch.randn(20, 2) - 3, torch.randn(20, 2) + 3]).to(device)
centers = points[[0, -1]]
for _ in range(5):
    owner = torch.cdist(points, centers).argmin(1)
    centers = torch.stack([points[owner == k].mean(0) for k in range(len(centers))])
print(torch.bincount(owner).tolist())
