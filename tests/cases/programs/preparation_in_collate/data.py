import torch
from torch import nn


class Spectrum(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("window", torch.hann_window(size))

    def forward(self, wave):
        return torch.fft.rfft(wave * self.window).abs()


prepare = nn.Sequential(Spectrum(8), nn.ReLU())


def collate(rows, kind="train"):
    waves = torch.stack([prepare(wave) for wave, _ in rows])
    return waves, torch.tensor([label for _, label in rows])
