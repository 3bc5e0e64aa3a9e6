import copy
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 5)).astype("float32")
cat = rng.integers(0, 3, size=(30, 2))
y = (X[:, 0] - 0.5 * X[:, 1] + cat[:, 0] + 0.1 * rng.normal(size=30)).astype("float32")


def kfold(n, k):
    idx = rng.permutation(n)
    for fold in np.array_split(idx, k):
        yield np.setdiff1d(idx, fold), fold


class TabNet(nn.Module):
    def __init__(self, n_cont, cards, emb=2):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(c, emb) for c in cards)
        self.bn = nn.BatchNorm1d(n_cont)
        self.net = nn.Sequential(nn.Linear(n_cont + emb * len(cards), 16), nn.SiLU(), nn.Dropout(0.1), nn.Linear(16, 1))

    def forward(self, x_cont, x_cat):
        e = torch.cat([emb(x_cat[:, i]) for i, emb in enumerate(self.embs)], 1)
        return self.net(torch.cat([self.bn(x_cont), e], 1)).squeeze(1)


class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, m in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.copy_(self.decay * e + (1.0 - self.decay) * m)


class Standardizer:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0) + 1e-6
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


oof = np.zeros(30)
for fold, (tr, va) in enumerate(kfold(30, 3)):
    torch.manual_seed(fold)
    xt, ct, yt = torch.from_numpy(X[tr]), torch.from_numpy(cat[tr]), torch.from_numpy(y[tr])
    xv, cv, yv = torch.from_numpy(X[va]), torch.from_numpy(cat[va]), torch.from_numpy(y[va])
    scale = Standardizer().fit(xt)
    ds = TensorDataset(scale(xt), ct, yt)
    model = TabNet(5, [3, 3])
    ema = EMA(model, 0.9)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    best, patience = np.inf, 0
    for epoch in range(4):
        model.train()
        for xb, cb, yb in DataLoader(ds, batch_size=8, shuffle=True):
            loss = nn.functional.huber_loss(model(xb, cb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            ema.update(model)
        with torch.no_grad():
            pred = ema.module(scale(xv), cv)
            rmse = ((pred - yv) ** 2).mean().sqrt().item()
        if rmse < best:
            best, patience = rmse, 0
            best_state = copy.deepcopy(ema.module.state_dict())
        else:
            patience += 1
            if patience > 1:
                break
    ema.module.load_state_dict(best_state)
    with torch.no_grad():
        oof[va] = ema.module(scale(xv), cv).numpy()
    print(fold, round(best, 3))
print("oof", round(float(np.sqrt(((oof - y) ** 2).mean())), 3))
