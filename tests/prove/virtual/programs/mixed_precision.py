"""Mixed precision with gradient accumulation; on the CPU both are switched off."""

import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
enabled = device == "cuda"
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 3)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler(device, enabled=enabled)
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2)) if enabled else (None, None)
if enabled:
    torch.cuda.reset_peak_memory_stats()
    start.record()
x, y = torch.randn(64, 1, 8, 8), torch.randint(3, (64,))
losses = []
for step in range(8):
    inputs, targets = x[step * 8 : step * 8 + 8].to(device), y[step * 8 : step * 8 + 8].to(device)
    with torch.autocast(
        device_type=device, dtype=torch.float16 if enabled else torch.bfloat16, enabled=enabled
    ):
        output = model(inputs)
        loss = nn.functional.cross_entropy(output, targets)
    if enabled:
        assert output.dtype is torch.float16 and loss.dtype is torch.float32
    scaler.scale(loss / 2).backward()
    if step % 2:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    losses.append(loss.item())
if enabled:
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0 and torch.cuda.max_memory_allocated() > 0
print([round(loss, 2) for loss in losses])
