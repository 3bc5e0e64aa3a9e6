import torch
from torch import nn


def to_cuda(obj):
    if isinstance(obj, dict):
        return {k: to_cuda(v) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(to_cuda(v) for v in obj)
    if torch.is_tensor(obj):
        return obj.cuda()
    return obj


class Pairs(torch.utils.data.Dataset):
    def __init__(self, n):
        self.q = torch.randint(1, 15, (n, 4))
        self.d = torch.randint(1, 15, (n, 6))

    def __len__(self):
        return len(self.q)

    def __getitem__(self, i):
        return {"query": {"ids": self.q[i], "len": torch.tensor(4)}, "doc": {"ids": self.d[i]}, "id": f"q{i}"}


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(15, 8)

    def forward(self, ids):
        return nn.functional.normalize(self.emb(ids), dim=-1)


class DPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.d = Tower(), Tower()
        self.temp = nn.Parameter(torch.ones([]) * 2.0)

    def forward(self, batch):
        s = self.temp.exp() * self.q(batch["query"]["ids"]) @ self.d(batch["doc"]["ids"]).t()
        gold = torch.arange(s.size(0)).cuda()
        return nn.functional.cross_entropy(s, gold), s


torch.manual_seed(0)
model = DPR()
model.cuda()
opt = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for batch in torch.utils.data.DataLoader(Pairs(16), 4):
        batch = to_cuda(batch)
        loss, s = model(batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
print("%.2f" % loss.item(), batch["id"][0])
index = torch.cat([model.d(to_cuda(ids)) for ids in Pairs(8).d.split(4)]).detach()
print(index.shape, index.is_cuda or not torch.cuda.is_available())
