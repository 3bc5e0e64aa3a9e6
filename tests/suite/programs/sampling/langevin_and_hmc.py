import math
import torch
from torch.optim import Optimizer
from torch import nn


class SGLD(Optimizer):
    def __init__(self, params, lr=1e-2, temperature=1.0):
        super().__init__(params, dict(lr=lr, temperature=temperature))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["v"] = torch.zeros(p.shape)
                state["step"] += 1
                state["v"].mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
                precond = 1.0 / (state["v"].sqrt() + 1e-2)
                noise = torch.normal(mean=torch.zeros(p.size()), std=torch.ones(p.size()))
                p.add_(-0.5 * group["lr"] * precond * p.grad + math.sqrt(group["lr"]) * group["temperature"] * 0.01 * noise)


def hmc_step(log_prob, x, eps=0.1, L=5):
    p = torch.randn(x.shape)
    x_new, p_new = x.clone(), p.clone()

    def grad_u(q):
        q = q.detach().requires_grad_(True)
        return torch.autograd.grad(-log_prob(q).sum(), q)[0]

    p_new = p_new - 0.5 * eps * grad_u(x_new)
    for i in range(L):
        x_new = x_new + eps * p_new
        if i != L - 1:
            p_new = p_new - eps * grad_u(x_new)
    p_new = p_new - 0.5 * eps * grad_u(x_new)
    log_alpha = log_prob(x_new) - 0.5 * p_new.pow(2).sum(-1) - log_prob(x) + 0.5 * p.pow(2).sum(-1)
    accept = torch.rand(x.shape[0]).log() < log_alpha
    return torch.where(accept.unsqueeze(-1), x_new, x), accept.float().mean()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def nll(self, x, y):
        d = torch.distributions.Normal(self.body(x), self.log_noise.exp())
        return -d.log_prob(y).mean()


torch.manual_seed(0)
x = torch.linspace(-2, 2, 20).view(-1, 1)
y = torch.sin(2 * x) + 0.1 * torch.randn(20, 1)
model = Regressor()
sampler = SGLD(model.parameters(), lr=5e-3)
samples = []
for it in range(12):
    sampler.zero_grad()
    loss = model.nll(x, y)
    loss.backward()
    sampler.step()
    if it >= 8:
        samples.append({k: v.clone() for k, v in model.state_dict().items()})
print("%.4f" % loss.item())
grid = torch.linspace(-3, 3, 7).unsqueeze(1)
preds = []
for s in samples:
    model.load_state_dict(s)
    preds.append(model.body(grid).detach())
preds = torch.stack(preds)
print("%.3f %.4f" % (preds.mean().item(), preds.std(0).mean().item()))

mean = torch.tensor([1.0, -1.0])
prec = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
target = lambda q: -0.5 * ((q - mean) @ prec * (q - mean)).sum(-1)
chain = torch.zeros(6, 2)
rates = []
for _ in range(4):
    chain, rate = hmc_step(target, chain)
    rates.append(rate)
print("%.3f %.2f" % (chain.mean().item(), torch.stack(rates).mean()))
