import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


class Split(nn.DataParallel):
    """Gives each GPU its share."""

    def scatter(self, inputs, kwargs, device_ids):
        shares = inputs[0].chunk(len(device_ids))
        devices = [f"cuda:{i}" for i in range(len(shares))]
        return [(shares[i].to(f"cuda:{i}", non_blocking=True),) for i in range(len(devices))], [kwargs] * len(devices)


def main():
    model = Net()
    if torch.cuda.device_count() > 0:
        model = model.cuda()
        if torch.cuda.device_count() > 1:
            model = Split(model)
    x = torch.ones(4, 3)
    if torch.cuda.device_count() == 1:
        x = x.cuda()
    print(model(x).shape)


if __name__ == "__main__":
    main()
