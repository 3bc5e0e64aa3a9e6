import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, ts):
        self.ts = ts

    def __call__(self, x):
        for t in self.ts:
            x = t(x)
        return x


class Normalize:
    def __init__(self, mean, std):
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)

    def __call__(self, x):
        return (x - self.mean) / self.std


class Cutout:
    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        y0 = random.randint(0, x.size(1) - self.size)
        mask = torch.ones(x.shape[1:])
        mask[y0:y0 + self.size] = 0
        return x * mask


class Images(Dataset):
    def __init__(self, n, transform):
        self.data = torch.rand(n, 3, 6, 6, generator=torch.Generator().manual_seed(0))
        self.transform = transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.transform(self.data[i]), i % 2


def mixup(x, y, alpha, n_classes):
    lam = torch.distributions.Beta(alpha, alpha).sample()
    index = torch.randperm(x.size(0))
    onehot = torch.nn.functional.one_hot(y, n_classes).float()
    return lam * x + (1 - lam) * x[index], lam * onehot + (1 - lam) * onehot[index]


class LabelSmoothing(nn.Module):
    def __init__(self, classes, smoothing=0.1):
        super().__init__()
        self.classes, self.smoothing = classes, smoothing
        self.prior = torch.full((classes,), 1.0 / classes)

    def forward(self, logits, target):
        target = (1 - self.smoothing) * target + self.smoothing * self.prior
        return -(target * logits.log_softmax(-1)).sum(-1).mean()


random.seed(0)
torch.manual_seed(0)
ds = Images(12, Compose([Normalize([0.5] * 3, [0.2] * 3), Cutout(2)]))
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
criterion = LabelSmoothing(2)
opt = torch.optim.SGD(model.parameters(), 0.05)
for epoch in range(2):
    for x, y in DataLoader(ds, batch_size=4):
        x, y = mixup(x, y, 0.4, 2)
        loss = criterion(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, "%.4f" % loss.item())
val = Normalize([0.5] * 3, [0.2] * 3)
with torch.no_grad():
    print(model(torch.stack([val(ds.data[i]) for i in range(3)])).argmax(1).tolist())
