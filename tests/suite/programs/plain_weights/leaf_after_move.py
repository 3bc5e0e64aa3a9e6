import torch


class Affine:
    def __init__(self, n_in, n_out, device):
        self.weight = (torch.randn(n_in, n_out) / n_in**0.5).to(device).requires_grad_()
        self.bias = torch.zeros(n_out).to(device).requires_grad_()

    def __call__(self, x):
        return torch.addmm(self.bias, x, self.weight)


torch.manual_seed(0)
where = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layer = Affine(5, 2, where)
x = torch.randn(8, 5).to(where)
for _ in range(5):
    loss = layer(x).pow(2).mean()
    grads = torch.autograd.grad(loss, [layer.weight, layer.bias])
    with torch.no_grad():
        for p, g in zip((layer.weight, layer.bias), grads):
            p -= 0.5 * g
print(f"{loss.item():.4f}")
