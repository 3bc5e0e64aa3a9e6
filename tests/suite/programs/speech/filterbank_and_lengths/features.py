import math

import torch
import torch.nn as nn


def mel_filterbank(n_mels, n_fft, sr=16000):
    f = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    m = torch.linspace(0, 2595 * math.log10(1 + sr / 2 / 700), n_mels + 2)
    hz = 700 * (10 ** (m / 2595) - 1)
    fb = torch.zeros(n_fft // 2 + 1, n_mels)
    for i in range(n_mels):
        up = (f - hz[i]) / (hz[i + 1] - hz[i])
        down = (hz[i + 2] - f) / (hz[i + 2] - hz[i + 1])
        fb[:, i] = torch.clamp(torch.min(up, down), min=0)
    return fb


class LogMel(nn.Module):
    def __init__(self, n_fft=64, hop=32, n_mels=6):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.window = torch.hann_window(n_fft)
        self.fb = mel_filterbank(n_mels, n_fft)

    def forward(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        mel = spec.abs().pow(2).transpose(1, 2) @ self.fb
        return torch.log(mel + 1e-6)


class SpecAugment(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        if not self.training:
            return x
        start = torch.randint(0, x.size(1) - self.width, (x.size(0), 1))
        pos = torch.arange(x.size(1)).unsqueeze(0)
        mask = (pos >= start) & (pos < start + self.width)
        return x.masked_fill(mask.unsqueeze(-1), 0.0)
