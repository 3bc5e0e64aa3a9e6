import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def mel_bank(n_mels, n_fft, sr):
    def to_mel(f):
        return 2595 * math.log10(1 + f / 700)

    pts = torch.linspace(to_mel(0), to_mel(sr / 2), n_mels + 2)
    hz = 700 * (10 ** (pts / 2595) - 1)
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    up = (freqs[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - freqs[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.minimum(up, down).clamp(min=0)


class LogMel:
    def __init__(self, sr=800, n_fft=64, hop=32, n_mels=10):
        self.n_fft, self.hop = n_fft, hop
        self.window = torch.hann_window(n_fft)
        self.bank = mel_bank(n_mels, n_fft, sr)

    def __call__(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        return torch.log(self.bank @ spec.abs() ** 2 + 1e-6)


class SpecAugment(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.width = width

    def forward(self, x):
        if not self.training:
            return x
        start = torch.randint(0, x.size(-2) - self.width, (x.size(0), 1, 1))
        rows = torch.arange(x.size(-2))[None, :, None]
        mask = (rows >= start) & (rows < start + self.width)
        return x.masked_fill(mask, 0.0)


class Tones(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(n)
        self.label = torch.randint(0, 3, (n,), generator=g)
        t = torch.arange(400) / 800
        self.wav = torch.stack([torch.sin(2 * math.pi * (60 + 80 * l) * t) for l in self.label.tolist()])
        self.wav += 0.1 * torch.randn(self.wav.shape, generator=g)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.wav[i], self.label[i]


torch.manual_seed(0)
frontend = LogMel()
augment = SpecAugment()
net = nn.Sequential(nn.Conv1d(10, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), 5e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=20)
mean, std = None, None
for epoch in range(4):
    for wav, y in DataLoader(Tones(40), 8):
        feats = frontend(wav)
        if mean is None:
            mean, std = feats.mean(), feats.std()
        feats = augment((feats - mean) / std)
        loss = F.cross_entropy(net(feats), y, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
print("%.3f" % loss.item())
augment.eval()
with torch.no_grad():
    test = Tones(15)
    pred = net((frontend(test.wav) - mean) / std).argmax(1)
    print((pred == test.label).sum().item() >= 5)
