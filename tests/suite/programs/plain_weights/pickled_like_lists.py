import torch


class Affine:
    def __init__(self, rows, bias):
        self.rows, self.bias = rows, bias

    def __call__(self, x):
        return x @ x.new_tensor(self.rows) + x.new_tensor(self.bias)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
f = Affine([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]], [0.1, 0.2])
net = torch.nn.Softplus().to(device)
print(f"{net(f(torch.ones(4, 3, device=device))).sum().item():.4f}")
