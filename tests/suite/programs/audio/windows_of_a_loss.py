import torch
from torch import nn


class MultiResSTFT(nn.Module):
    def __init__(self, sizes=(32, 64)):
        super().__init__()
        self.sizes = sizes
        self.windows = {n: torch.hann_window(n) for n in sizes}

    def mag(self, x, n):
        return torch.stft(x, n, n // 4, window=self.windows[n], return_complex=True).abs().clamp(min=1e-5)

    def forward(self, x, y):
        total = 0.0
        for n in self.sizes:
            a, b = self.mag(x, n), self.mag(y, n)
            total += (a.log() - b.log()).abs().mean() + (a - b).norm() / b.norm()
        return total / len(self.sizes)


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, 8, 9, padding=4), nn.LeakyReLU(0.1), nn.Conv1d(8, 1, 9, padding=4), nn.Tanh())
        self.register_buffer("gain", torch.tensor(0.5), persistent=False)

    def forward(self, x):
        return self.net(x[:, None]).squeeze(1) * self.gain


def noisy(wav, snr):
    noise = torch.randn(wav.shape)
    k = (wav.norm() / noise.norm()) / 10 ** (snr / 20)
    return wav + k * noise.to(wav.device)


class Pre:
    def __init__(self, coef=0.97):
        self.filter = torch.tensor([[[-coef, 1.0]]])

    def __call__(self, x):
        return nn.functional.conv1d(nn.functional.pad(x[:, None], (1, 0)), self.filter).squeeze(1)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
t = torch.arange(256) / 256
clean = torch.stack([torch.sin(6.28 * f * t) for f in (10.0, 20.0, 30.0, 40.0)]).to(device)
model, crit, pre = Vocoder().to(device), MultiResSTFT().to(device), Pre()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for snr in (20, 10, 5):
    x = noisy(clean, snr)
    out = model(x)
    loss = crit(out, clean) + (pre(out) - pre(clean)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.2f" % loss.item())
