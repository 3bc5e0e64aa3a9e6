import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(6, 4), nn.ReLU())
        self.dec = nn.Linear(4, 6)

    def forward(self, x):
        return self.dec(self.enc(x))


class Finetune(nn.Module):
    def __init__(self, enc, n):
        super().__init__()
        self.enc = enc
        self.head = nn.Linear(4, n)
        self.prior = torch.log(torch.tensor([0.7, 0.3]))

    def forward(self, x):
        return self.head(self.enc(x)) + self.prior


def batches(n):
    g = torch.Generator().manual_seed(n)
    for _ in range(n):
        x = torch.randn(5, 6, generator=g)
        yield x, (x.sum(1) > 0).long()


torch.manual_seed(0)
ae = AutoEncoder()
opt = torch.optim.Adam(ae.parameters(), 1e-2)
for x, _ in batches(3):
    x = x.to(device)
    loss = nn.functional.mse_loss(ae(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.4f" % loss.item())
clf = Finetune(ae.enc, 2).to(device)
opt = torch.optim.Adam(clf.parameters(), 1e-2)
for x, y in batches(3):
    loss = nn.functional.cross_entropy(clf(x.to(device)), y.to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.4f" % loss.item())
