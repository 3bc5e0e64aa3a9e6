import numpy as np
import torch
from torch import nn

torch.set_default_device(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
torch.manual_seed(0)
net = nn.Linear(3, 1)
x = torch.tensor(np.ones((2, 3), dtype=np.float32))
scores = net(x).detach().cpu().numpy()
print(scores.shape, np.round(scores.sum(), 4))
