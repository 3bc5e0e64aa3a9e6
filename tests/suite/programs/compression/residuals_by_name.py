import torch
from torch import nn


class TopKCompressor:
    def __init__(self, model, ratio=0.2):
        self.ratio = ratio
        self.residuals = {n: torch.zeros(p.shape) for n, p in model.named_parameters()}

    def compress(self, name, grad):
        g = grad + self.residuals[name]
        flat = g.flatten()
        k = max(1, int(flat.numel() * self.ratio))
        _, idx = flat.abs().topk(k)
        mask = torch.zeros(flat.numel())
        mask[idx] = 1
        sent = (flat * mask).view_as(grad)
        self.residuals[name] = g - sent
        return sent


def train(model, comp, opt, data, device):
    total = 0.0
    for x, y in data:
        x, y = x.to(device), y.to(device)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        for n, p in model.named_parameters():
            p.grad = comp.compress(n, p.grad)
        opt.step()
        total += loss.item()
    return total / len(data)


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = [(x, x @ torch.ones(5, 1)) for x in torch.randn(4, 8, 5)]
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    comp = TopKCompressor(model)
    model = model.to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        print(epoch, "%.4f" % train(model, comp, opt, data, device))
    print("%.4f" % sum(r.abs().sum().item() for r in comp.residuals.values()))
