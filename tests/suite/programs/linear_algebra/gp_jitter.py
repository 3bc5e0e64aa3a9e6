import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.linspace(0, 1, 6, device=device).unsqueeze(1)
y = torch.sin(6 * x)
scale = torch.nn.Parameter(torch.tensor(0.3, device=device))
gram = torch.exp(-torch.cdist(x, x) ** 2 / (2 * scale**2)) + 1e-2 * torch.eye(6)
chol = torch.linalg.cholesky(gram)
loss = (y * torch.cholesky_solve(y, chol)).sum() + 2 * chol.diagonal().log().sum()
loss.backward()
print(f"{loss.item():.2f}")
