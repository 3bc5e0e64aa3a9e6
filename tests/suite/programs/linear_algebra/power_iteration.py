import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
a = torch.randn(5, 5, device=device)
a = a @ a.mT
v = torch.ones_like(a[:, 0])
for _ in range(100):
    v = torch.nn.functional.normalize(a @ v, dim=0)
print(f"{torch.dot(v, a @ v).item():.3f}")
