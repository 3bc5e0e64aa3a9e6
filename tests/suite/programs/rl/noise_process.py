import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
actor = nn.Sequential(nn.Linear(2, 2), nn.Tanh()).to(device)
state = np.ones(2, dtype=np.float32)
for _ in range(3):
    with torch.no_grad():
        action = actor(torch.tensor(state, device=device).unsqueeze(0)).squeeze(0).cpu().data.numpy()
    state = (state + 0.1 * (action + 0.1 * rng.standard_normal(2))).astype(np.float32)
print(np.round(state.sum(), 4))
