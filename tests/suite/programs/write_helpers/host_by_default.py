import io

import numpy as np
import torch
from torch import nn


def write(stream, *columns):
    rows = np.stack([c.detach().to("cpu", torch.float64).numpy() for c in columns], axis=1)
    np.savetxt(stream, rows, fmt="%.3f", delimiter=",")


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(2, 1).to(device)
x = torch.eye(2, device=device)
stream = io.StringIO()
write(stream, net(x).squeeze(1), x.sum(1), torch.zeros(2))
print(stream.getvalue().strip())
