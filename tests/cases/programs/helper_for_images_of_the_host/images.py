"""Images stay on the host here."""

import torch


def weights(count):
    steps = torch.linspace(1, count, count)
    return steps.view(count, 1).expand(count, 4) + torch.linspace(0, 3, 4)


def shrunk(image):
    found = weights(3)
    rows = torch.zeros(3, 4)
    rows.copy_(image)
    return torch.stack([rows[i].mul(found[i]).sum() for i in range(3)])
