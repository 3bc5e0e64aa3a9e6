import torch
from torch import nn


class Pointer(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.emb = nn.Linear(2, d)
        self.cell = nn.LSTMCell(d, d)
        self.att = nn.Linear(d, d, bias=False)
        self.start = nn.Parameter(torch.zeros(d))

    def forward(self, cities, sample=True):
        b, n, _ = cities.shape
        e = self.emb(cities)
        h = c = torch.zeros(b, e.size(-1)).to(cities)
        inp = self.start.expand(b, -1)
        visited = torch.zeros(b, n, dtype=torch.bool)
        tour, logp = [], 0
        for _ in range(n):
            h, c = self.cell(inp, (h, c))
            score = torch.einsum("bnd,bd->bn", self.att(e), h).masked_fill(visited, -1e9)
            p = score.softmax(-1)
            i = torch.multinomial(p, 1).squeeze(1) if sample else p.argmax(-1)
            logp = logp + p.gather(1, i[:, None]).log().squeeze(1)
            visited = visited.scatter(1, i[:, None], True)
            inp = e[torch.arange(b), i]
            tour.append(i)
        return torch.stack(tour, 1), logp


def length(cities, tour):
    ordered = cities.gather(1, tour.unsqueeze(-1).expand(-1, -1, 2))
    return (ordered - ordered.roll(-1, 1)).norm(dim=-1).sum(1)


if __name__ == "__main__":
    device = torch.device("cuda:0") if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    net = Pointer().to(device)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    baseline = torch.zeros(1)
    for it in range(4):
        cities = torch.rand(8, 5, 2, device=device)
        tour, logp = net(cities)
        cost = length(cities, tour)
        baseline = 0.9 * baseline + 0.1 * cost.mean().detach() if it else cost.mean().detach()
        loss = ((cost - baseline) * logp).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    tour, _ = net(torch.rand(2, 5, 2).to(device), sample=False)
    print(sorted(tour[0].tolist()))
