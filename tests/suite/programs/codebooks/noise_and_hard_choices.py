import torch
from torch import nn


class Gumbel(nn.Module):
    def __init__(self, d, k, groups=2):
        super().__init__()
        self.k, self.groups = k, groups
        self.score = nn.Linear(d, k * groups)
        self.vectors = nn.Parameter(torch.rand(groups, k, d // groups))
        self.register_buffer("usage", torch.zeros(groups, k))
        self.tau = 2.0

    def forward(self, x):
        logits = self.score(x).view(len(x), self.groups, self.k)
        u = torch.rand(logits.shape).clamp(1e-6, 1 - 1e-6)
        soft = ((logits - (-u.log()).log()) / self.tau).softmax(-1)
        hard = torch.zeros(soft.shape).scatter_(-1, soft.argmax(-1, keepdim=True), 1.0)
        onehot = hard - soft.detach() + soft
        self.usage += hard.sum(0)
        probs = logits.softmax(-1).mean(0)
        entropy = -(probs * (probs + 1e-7).log()).sum(-1)
        return torch.einsum("bgk,gkd->bgd", onehot, self.vectors).flatten(1), entropy.exp().sum()


torch.manual_seed(0)
net = nn.ModuleDict({"in": nn.Linear(6, 8), "q": Gumbel(8, 5), "out": nn.Linear(8, 6)})
opt = torch.optim.Adam(net.parameters(), 0.01)
for step in range(6):
    x = torch.randn(16, 6)
    z, perplexity = net["q"](net["in"](x))
    loss = (net["out"](z) - x).pow(2).mean() + 0.1 * (10 - perplexity)
    opt.zero_grad()
    loss.backward()
    opt.step()
    net["q"].tau = max(0.5, net["q"].tau * 0.9)
print(net["q"].usage.sum().item(), perplexity.item() > 1)
