import torch
from torch import nn


def spectrogram(wave, n=16):
    spec = torch.stft(wave, n, hop_length=8, window=torch.hann_window(n), return_complex=True)
    return spec.abs().transpose(1, 2)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(9, 2).to(device)
print(f"{net(spectrogram(torch.ones(2, 64, device=device))).sum().item():.3f}")
