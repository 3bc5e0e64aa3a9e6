import torch


class Scaler:
    def __init__(self):
        self.mean = torch.ones(3)

    def cuda(self, device=None):
        self.mean = self.mean.float().cuda(device)
        return self

    def cpu(self):
        self.mean = self.mean.cpu()
        return self


if __name__ == "__main__":
    print(Scaler().mean)
