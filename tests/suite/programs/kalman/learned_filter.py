import torch
import torch.nn as nn


class DeepKalman(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.n, self.m = n, m
        self.F = nn.Parameter(torch.eye(n) + 0.01 * torch.randn(n, n))
        self.H = nn.Parameter(torch.randn(m, n))
        self.log_q = nn.Parameter(torch.zeros(n))
        self.log_r = nn.Parameter(torch.zeros(m))

    def init_state(self, batch):
        self.x = torch.zeros(batch, self.n, 1)
        self.P = torch.eye(self.n).repeat(batch, 1, 1)

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.t() + torch.diag(self.log_q.exp())

    def update(self, y):
        S = self.H @ self.P @ self.H.t() + torch.diag(self.log_r.exp())
        K = self.P @ self.H.t() @ torch.linalg.inv(S)
        innovation = y.unsqueeze(-1) - self.H @ self.x
        self.x = self.x + K @ innovation
        I = torch.eye(self.n)
        self.P = (I - K @ self.H) @ self.P
        nll = innovation.transpose(1, 2) @ torch.linalg.solve(S, innovation) + torch.logdet(S).view(-1, 1, 1)
        return nll.mean()

    def forward(self, ys):
        self.init_state(ys.shape[0])
        loss = torch.zeros(1)
        states = []
        for t in range(ys.shape[1]):
            self.predict()
            loss = loss + self.update(ys[:, t])
            states.append(self.x.squeeze(-1))
        return torch.stack(states, 1), loss / ys.shape[1]


def simulate(batch, T, m, seed):
    gen = torch.Generator()
    gen.manual_seed(seed)
    t = torch.linspace(0, 3, T)
    phase = torch.rand(batch, 1, m, generator=gen)
    return torch.sin(t.view(1, -1, 1) + phase) + 0.05 * torch.randn(batch, T, m, generator=gen)


torch.manual_seed(2)
ys = simulate(6, 8, 2, seed=11)
train_ys, test_ys = ys[:4], ys[4:]
model = DeepKalman(3, 2)
opt = torch.optim.Adam(model.parameters(), lr=0.05)
for it in range(5):
    opt.zero_grad()
    _, loss = model(train_ys)
    loss.backward()
    opt.step()
with torch.no_grad():
    states, test_loss = model(test_ys)
print("train %.4f test %.4f" % (loss.item(), test_loss.item()))
print(states.shape, model.P.diagonal(dim1=1, dim2=2).min().item() > 0)
