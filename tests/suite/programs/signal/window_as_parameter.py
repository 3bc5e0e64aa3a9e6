import torch
from torch import nn


class Spectrogram(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.n = n
        self.window = nn.Parameter(torch.hann_window(n), requires_grad=False)

    def forward(self, wave):
        spec = torch.stft(wave, self.n, hop_length=8, window=self.window, return_complex=True)
        return spec.abs().transpose(1, 2)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(Spectrogram(), nn.Linear(9, 2)).to(device)
print(f"{net(torch.ones(2, 64, device=device)).sum().item():.3f}")
