import os

import torch
from torch import nn

if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    other = nn.Linear(3, 2).cuda()
    print(other(torch.ones(2, 3).cuda()).shape)
