import torch


class Perceptron:
    def __init__(self, n_in, n_out):
        self.w = torch.randn(n_in, n_out, requires_grad=True)
        self.b = torch.zeros(n_out, requires_grad=True)

    def __call__(self, x):
        return torch.sigmoid(x @ self.w + self.b)

    def parameters(self):
        return [self.w, self.b]


torch.manual_seed(0)
net = Perceptron(3, 1)
x = torch.randn(100, 3)
y = (x.sum(1, keepdim=True) > 0).float()
opt = torch.optim.SGD(net.parameters(), lr=1.0)
for epoch in range(30):
    loss = torch.nn.functional.binary_cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
