import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from moco import MoCo


class TwoViews(Dataset):
    def __init__(self, base):
        self.base = base

    def __len__(self):
        return len(self.base)

    def jitter(self, x):
        return x + 0.1 * torch.randn(x.shape)

    def __getitem__(self, i):
        x = self.base[i]
        return [self.jitter(x), self.jitter(x)], i


def main(epochs=2):
    torch.manual_seed(3)
    enc = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 8))
    model = MoCo(enc)
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.q.parameters(), 0.1, momentum=0.9)
    loader = DataLoader(TwoViews(torch.randn(60, 12)), 10, shuffle=True, drop_last=True)
    for epoch in range(epochs):
        total = 0.0
        for views, _ in loader:
            logits, target = model(im_q=views[0], im_k=views[1])
            loss = crit(logits, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(target)
        acc = (logits.argmax(1) == target).float().mean().item()
        print("epoch %d loss %.3f acc %.2f" % (epoch, total / 60, acc))
    print(model.queue.ptr)


main()
