import io

import numpy as np
import torch
from torch import nn


def save_rows(stream, rows):
    np.savetxt(stream, rows, fmt="%.4f")


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 2).to(device).eval()
with torch.no_grad():
    out = net(torch.ones(2, 3).to(device))
stream = io.StringIO()
save_rows(stream, out)
print(stream.getvalue())
