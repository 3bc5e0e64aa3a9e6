import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Mel(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("basis", torch.rand(4, 3))
        self.register_buffer("filters", torch.rand(3, 1, 2))

    def run(self, y):
        parts = F.conv1d(y.cuda(), self.filters.cuda()).cpu()
        return torch.matmul(self.basis, parts)


def main():
    mel = Mel()
    wav = np.ones((2, 1, 8), dtype="float32")
    out = mel.run(torch.from_numpy(wav))
    torch.save(out, "mel.pt")
    print(torch.load("mel.pt").sum().item())


if __name__ == "__main__":
    main()
