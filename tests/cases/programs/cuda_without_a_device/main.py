import torch
from torch import nn

from scaling import Norm


def main():
    torch.manual_seed(0)
    x = torch.rand(8, 2)
    norm = Norm(x)
    norm.cuda()
    net = nn.Linear(2, 1).cuda()
    print(f"{net(norm.encode(x.cuda())).sum().item():.4f}")


if __name__ == "__main__":
    main()
