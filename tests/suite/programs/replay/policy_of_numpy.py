import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def act(self, obs):
        with torch.no_grad():
            logits = self.net(torch.from_numpy(obs).to(device))
        p = logits.softmax(-1).cpu().numpy().astype(np.float64)
        return int(np.random.choice(2, p=p / p.sum()))


np.random.seed(0)
torch.manual_seed(0)
policy = Policy().to(device)
trail = [policy.act(np.random.randn(4).astype(np.float32)) for _ in range(4)]
returns = torch.tensor(np.cumsum(np.ones(4))[::-1].copy())
print(len(trail), returns.tolist())
