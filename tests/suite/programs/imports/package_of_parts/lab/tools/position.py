import torch


def sinusoid(n, d):
    pos = torch.arange(n).unsqueeze(1)
    freq = torch.exp(torch.arange(0, d, 2) * (-4.0 / d))
    out = torch.zeros(n, d)
    out[:, 0::2] = torch.sin(pos * freq)
    out[:, 1::2] = torch.cos(pos * freq)
    return out
