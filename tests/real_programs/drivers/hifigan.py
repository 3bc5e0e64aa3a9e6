"""A checkpoint of bshall/hifigan, saved and loaded again by the process of a rank."""

import logging
from pathlib import Path

import torch
from hifigan.utils import load_checkpoint, save_checkpoint

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
nets = [torch.nn.Linear(3, 3).to(device) for _ in range(2)]
optimizers = [torch.optim.AdamW(net.parameters()) for net in nets]
schedulers = [torch.optim.lr_scheduler.ExponentialLR(one, gamma=0.9) for one in optimizers]
logger = logging.getLogger("rank")
for step in range(2):
    loss = sum(net(torch.rand(2, 3).to(device)).mean() for net in nets)
    loss.backward()
    for one in optimizers:
        one.step()
    saved = (*nets, *optimizers, *schedulers)
    save_checkpoint(Path("out"), *saved, step, 0.5, True, logger)
    print(load_checkpoint(Path("out/model-best.pt"), *saved, 0, logger))
