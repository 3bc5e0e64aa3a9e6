import contextlib

import torch
from torch import nn


class Prefetcher:
    def __init__(self, batches, device):
        self.batches, self.device = batches, device
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def __iter__(self):
        for x in self.batches:
            context = torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext()
            with context:
                x = x.to(self.device, non_blocking=True)
            if self.stream:
                torch.cuda.current_stream(self.device).wait_stream(self.stream)
            yield x


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
for x in Prefetcher([torch.ones(2, 3), torch.zeros(2, 3)], device):
    print(f"{net(x).sum().item():.4f}")
