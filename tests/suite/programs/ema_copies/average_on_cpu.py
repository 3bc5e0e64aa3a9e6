import copy
import torch
from torch import nn
from torch.utils.data import DataLoader


class ModelEMA:
    """Keep a moving average of everything in the model state_dict."""

    def __init__(self, model, decay=0.9):
        self.shadow = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
        self.decay = decay

    def update(self, model):
        for k, v in model.state_dict().items():
            if v.dtype.is_floating_point:
                self.shadow[k].mul_(self.decay).add_(v.detach(), alpha=1 - self.decay)
            else:
                self.shadow[k].copy_(v)

    def apply_to(self, model):
        m = copy.deepcopy(model)
        m.load_state_dict(self.shadow)
        return m


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2)).to(device)
    ema = ModelEMA(model)
    xs = torch.randn(64, 6)
    ys = (xs.sum(1) > 0).long()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in DataLoader(list(zip(xs, ys)), batch_size=16):
            x, y = x.to(device), y.to(device)
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            ema.update(model)
    avg = ema.apply_to(model).eval()
    print("%.4f" % nn.functional.cross_entropy(avg(xs.to(device)), ys.to(device)).item())


main()
