import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.read(path)

    def read(self, path):
        self.load_state_dict(torch.load(path))

    def forward(self, x):
        return self.fc(x)


def main():
    torch.save(nn.ModuleDict({"fc": nn.Linear(3, 1).cuda()}).state_dict(), "net.pt")
    net = Net("net.pt").cuda()
    print(net(torch.ones(2, 3).cuda()).shape)


if __name__ == "__main__":
    main()
