"""The training of clovaai/CutMix-PyTorch without its accuracy: today's torch refuses its `view`."""

import torch
import train

train.accuracy = lambda output, target, topk: (torch.zeros(1), torch.zeros(1))
train.main()
