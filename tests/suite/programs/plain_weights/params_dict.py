import torch


def init(sizes):
    return {
        f"layer{i}": {"w": torch.randn(m, n) * 0.3, "b": torch.zeros(n)}
        for i, (m, n) in enumerate(zip(sizes, sizes[1:]))
    }


def apply(params, x):
    for name, p in params.items():
        x = x @ p["w"] + p["b"]
        if name != "layer1":
            x = x.tanh()
    return x


torch.manual_seed(0)
params = init([2, 16, 1])
leaves = [t.requires_grad_() for p in params.values() for t in p.values()]
opt = torch.optim.Adam(leaves, lr=0.02)
x = torch.rand(50, 2)
y = x[:, :1] * x[:, 1:]
for _ in range(40):
    loss = (apply(params, x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.5f}")
