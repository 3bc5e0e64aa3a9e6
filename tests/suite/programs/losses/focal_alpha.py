import torch
from torch import nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = torch.tensor(alpha), gamma

    def forward(self, logits, target):
        logp = F.log_softmax(logits, -1).gather(1, target[:, None]).squeeze(1)
        return -(self.alpha[target] * (1 - logp.exp()) ** self.gamma * logp).mean()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net, loss_fn = nn.Linear(4, 3).to(device), FocalLoss([0.2, 0.3, 0.5]).to(device)
y = torch.tensor([0, 2, 1], device=device)
print(f"{loss_fn(net(torch.ones(3, 4, device=device)), y).item():.4f}")
