import sys

import torch

from settings import read


class LogReg(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(d))
        self.b = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return torch.sigmoid(x @ self.w + self.b)


def main(argv):
    conf = read(argv[0] if argv else None)
    device = conf.get("train", "device")
    torch.manual_seed(0)
    n = conf.getint("data", "n")
    x = torch.randn(n, 3).to(device)
    y = (x[:, 0] > 0).float()
    model = LogReg(3).to(device)
    opt = torch.optim.SGD(model.parameters(), conf.getfloat("train", "lr"))
    for _ in range(conf.getint("train", "epochs")):
        loss = torch.nn.functional.binary_cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("%.3f" % loss.item())


main(sys.argv[1:])
