import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class PoleEnvs:
    """A few toy environments that step together."""

    def __init__(self, n, seed=0):
        self.rng = np.random.RandomState(seed)
        self.n = n
        self.s = self.rng.randn(n, 4).astype(np.float32)

    def reset(self):
        self.s = self.rng.randn(self.n, 4).astype(np.float32)
        return self.s

    def step(self, a):
        self.s = self.s * 0.9 + (a[:, None] * 2 - 1) * np.array([0.1, 0, -0.1, 0], np.float32)
        r = -np.abs(self.s[:, 0])
        done = self.rng.rand(self.n) < 0.1
        self.s[done] = self.rng.randn(int(done.sum()), 4)
        return self.s.astype(np.float32), r.astype(np.float32), done, {}


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))

    def value(self, x):
        return self.critic(x)

    def act(self, x, action=None):
        d = Categorical(logits=self.actor(x))
        if action is None:
            action = d.sample()
        return action, d.log_prob(action), d.entropy(), self.critic(x)


num_steps, num_envs, gamma, lam, clip = 16, 4, 0.99, 0.95, 0.2
torch.manual_seed(0)
envs = PoleEnvs(num_envs)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
obs = torch.zeros((num_steps, num_envs, 4))
actions = torch.zeros((num_steps, num_envs))
logprobs = torch.zeros((num_steps, num_envs))
rewards = torch.zeros((num_steps, num_envs))
dones = torch.zeros((num_steps, num_envs))
values = torch.zeros((num_steps, num_envs))
next_obs = torch.Tensor(envs.reset())
next_done = torch.zeros(num_envs)
for update in range(2):
    for step in range(num_steps):
        obs[step] = next_obs
        dones[step] = next_done
        with torch.no_grad():
            action, logprob, _, value = agent.act(next_obs)
            values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        next_obs, reward, done, info = envs.step(action.numpy())
        rewards[step] = torch.tensor(reward).view(-1)
        next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(done)
    with torch.no_grad():
        next_value = agent.value(next_obs).reshape(1, -1)
        adv = torch.zeros_like(rewards)
        last = 0
        for t in reversed(range(num_steps)):
            alive = 1.0 - (next_done if t == num_steps - 1 else dones[t + 1])
            nv = next_value if t == num_steps - 1 else values[t + 1]
            delta = rewards[t] + gamma * nv * alive - values[t]
            adv[t] = last = delta + gamma * lam * alive * last
        returns = adv + values
    b = [x.reshape(num_steps * num_envs, *x.shape[2:]) for x in (obs, actions, logprobs, adv, returns)]
    inds = np.arange(num_steps * num_envs)
    for epoch in range(2):
        np.random.RandomState(epoch).shuffle(inds)
        for start in range(0, len(inds), 32):
            mb = inds[start:start + 32]
            _, newlog, ent, newval = agent.act(b[0][mb], b[1].long()[mb])
            ratio = (newlog - b[2][mb]).exp()
            a = b[3][mb]
            a = (a - a.mean()) / (a.std() + 1e-8)
            pg = torch.max(-a * ratio, -a * torch.clamp(ratio, 1 - clip, 1 + clip)).mean()
            v = 0.5 * ((newval.view(-1) - b[4][mb]) ** 2).mean()
            loss = pg - 0.01 * ent.mean() + 0.5 * v
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    y_pred, y_true = b[4].numpy(), values.reshape(-1).numpy()
    print(update, "return %.2f" % np.mean(y_pred), "values", y_true.shape)
