import torch
from torch import nn


def select_device():
    try:
        torch.zeros(1).cuda()
        return torch.device("cuda")
    except (RuntimeError, AssertionError):
        return torch.device("cpu")


def evaluate(net, xs, device):
    net.eval()
    with torch.inference_mode():
        return torch.cat([net(x.to(device)).softmax(-1).cpu() for x in xs.split(4)]).numpy()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = select_device()
    net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 3)).to(device)
    xs = torch.randn(10, 3)
    p = evaluate(net, xs, device)
    print(p.sum().round(3), p.shape)
