import torch

torch.manual_seed(0)
ratings = torch.randint(1, 6, (8, 6)).float()
known = torch.rand(8, 6) > 0.3
users = torch.randn(8, 2, requires_grad=True)
items = torch.randn(6, 2, requires_grad=True)
optimizer = torch.optim.Adam([users, items], lr=0.1)
for _ in range(30):
    error = (users @ items.t() - ratings)[known]
    loss = error.pow(2).mean() + 0.01 * (users.norm() + items.norm())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f}")
