import torch
import torch.nn as nn
import torch.nn.functional as F


class Spectrum(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("basis", torch.ones(3, 1, 2))

    def transform(self, y):
        parts = F.conv1d(y.cuda(), self.basis.cuda(), stride=1).cpu()
        return parts.abs()


def shown(spectrum, y):
    return spectrum.transform(y)


def main():
    print(shown(Spectrum(), torch.ones(2, 1, 8)).shape)
    model = nn.Conv1d(1, 1, 1).cuda()
    print(shown(Spectrum(), model(torch.ones(2, 1, 8).cuda())).shape)


if __name__ == "__main__":
    main()
