from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Normal

Rollout = namedtuple("Rollout", "z a z_next")


@dataclass
class Config:
    z_dim: int = 4
    a_dim: int = 2
    hidden: int = 16
    n_gaussians: int = 3
    seq_len: int = 6
    epochs: int = 3
    lr: float = 1e-2


class MDNRNN(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.lstm = nn.LSTM(cfg.z_dim + cfg.a_dim, cfg.hidden, batch_first=True)
        self.fc_pi = nn.Linear(cfg.hidden, cfg.n_gaussians * cfg.z_dim)
        self.fc_mu = nn.Linear(cfg.hidden, cfg.n_gaussians * cfg.z_dim)
        self.fc_sigma = nn.Linear(cfg.hidden, cfg.n_gaussians * cfg.z_dim)

    def init_hidden(self, bsz):
        return torch.zeros(1, bsz, self.cfg.hidden), torch.zeros(1, bsz, self.cfg.hidden)

    def forward(self, z, a, h):
        y, h = self.lstm(torch.cat([z, a], -1), h)
        shape = (*y.shape[:2], self.cfg.n_gaussians, self.cfg.z_dim)
        pi = self.fc_pi(y).view(shape).softmax(2)
        mu = self.fc_mu(y).view(shape)
        sigma = self.fc_sigma(y).view(shape).exp()
        return (pi, mu, sigma), h


def mdn_loss(params, target):
    pi, mu, sigma = params
    prob = torch.exp(Normal(mu, sigma).log_prob(target.unsqueeze(2))) * pi
    return -torch.log(prob.sum(2) + 1e-8).mean()


def collect(cfg, n, generator):
    z = torch.zeros(n, cfg.seq_len + 1, cfg.z_dim)
    a = torch.randn(n, cfg.seq_len, cfg.a_dim, generator=generator)
    for t in range(cfg.seq_len):
        z[:, t + 1] = 0.8 * z[:, t] + 0.1 * a[:, t].sum(-1, keepdim=True)
    return Rollout(z[:, :-1], a, z[:, 1:])


@torch.no_grad()
def dream(model, z0, steps):
    h = model.init_hidden(1)
    z = z0
    total = 0.0
    for _ in range(steps):
        a = torch.randn(1, 1, model.cfg.a_dim)
        (pi, mu, sigma), h = model(z, a, h)
        k = torch.distributions.Categorical(pi[0, 0].t()).sample()
        z = mu[0, 0][k, torch.arange(model.cfg.z_dim)].view(1, 1, -1)
        total += z.abs().mean().item()
    return total


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(0)
    rollout = collect(cfg, 8, torch.Generator().manual_seed(5))
    model = MDNRNN(cfg)
    opt = torch.optim.RMSprop(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        h = model.init_hidden(8)
        params, h = model(rollout.z, rollout.a, h)
        loss = mdn_loss(params, rollout.z_next)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"{epoch}: {loss.item():.4f}")
    print(f"dream {dream(model, torch.zeros(1, 1, cfg.z_dim), 4):.4f}")
