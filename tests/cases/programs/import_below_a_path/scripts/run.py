import sys
from pathlib import Path

import torch
import torch.nn as nn

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from config.config import size


def main():
    model = nn.Linear(size, 1).cuda()
    x = torch.ones(2, 3).cuda()
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        print(model(x).shape)


if __name__ == "__main__":
    main()
