import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
array = net(torch.ones(3, 4, device=device)).numpy(force=True)
print(array.shape, np.round(array.sum(), 4))
