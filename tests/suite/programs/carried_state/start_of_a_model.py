import torch
from torch import nn


class RNNLM(nn.Module):
    def __init__(self, v, h):
        super().__init__()
        self.v, self.h = v, h
        self.emb, self.cell, self.out = nn.Embedding(v, h), nn.GRUCell(h, h), nn.Linear(h, v)

    def start(self, n):
        return torch.zeros(n, self.h)

    def forward(self, ids, state):
        logits = []
        for t in range(ids.size(1)):
            state = self.cell(self.emb(ids[:, t]), state)
            logits.append(self.out(state))
        return torch.stack(logits, 1), state


def batchify(stream, n):
    keep = len(stream) // n * n
    return stream[:keep].view(n, -1)


torch.manual_seed(0)
corpus = torch.arange(200).remainder(11)
data = batchify(corpus, 4)
model = RNNLM(11, 12)
opt = torch.optim.Adagrad(model.parameters(), 0.1)
state = model.start(4)
nll = torch.zeros(1)
for i in range(0, data.size(1) - 1, 8):
    x = data[:, i:i + 8]
    y = data[:, i + 1:i + 9]
    x = x[:, :y.size(1)]
    logits, state = model(x, state.detach())
    loss = nn.functional.cross_entropy(logits.reshape(-1, 11), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    nll += loss.detach() * y.numel()
state = model.start(1)
token, out = torch.tensor([[3]]), []
for _ in range(5):
    logits, state = model(token, state)
    token = torch.multinomial(logits[:, -1].softmax(-1), 1)
    out.append(int(token))
print(len(out), (nll / data.numel()).item() > 0)
