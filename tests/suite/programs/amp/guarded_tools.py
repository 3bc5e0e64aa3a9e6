import contextlib
import time

import torch
from torch import nn

CUDA = torch.cuda.is_available()


def sync():
    if CUDA:
        torch.cuda.synchronize()


@contextlib.contextmanager
def timed(name):
    sync()
    t = time.perf_counter()
    yield
    sync()
    assert time.perf_counter() >= t


def memory():
    return torch.cuda.max_memory_allocated() if CUDA else 0


amp = torch.autocast("cuda", dtype=torch.float16, enabled=False) if CUDA else contextlib.nullcontext()
scaler = torch.amp.GradScaler(enabled=False)
device = torch.device("cuda") if CUDA else torch.device("cpu")
torch.manual_seed(0)
if CUDA:
    torch.cuda.manual_seed_all(0)
    torch.backends.cudnn.benchmark = True
model = nn.Linear(4, 1).to(device)
opt = torch.optim.SGD(model.parameters(), 0.1)
for i in range(3):
    with timed("step"), amp:
        x = torch.randn(5, 4).to(device)
        loss = model(x).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
    print(i, "%.4f" % loss.item())
assert memory() >= 0
