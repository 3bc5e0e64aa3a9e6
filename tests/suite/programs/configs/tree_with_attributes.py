import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Cfg(dict):
    __getattr__ = dict.__getitem__

    @classmethod
    def of(cls, tree):
        return cls({k: cls.of(v) if isinstance(v, dict) else v for k, v in tree.items()})

    def override(self, *pairs):
        for pair in pairs:
            path, value = pair.split("=")
            node = self
            *parents, last = path.split(".")
            for name in parents:
                node = node[name]
            node[last] = type(node[last])(value)
        return self


cfg = Cfg.of({
    "seed": 5,
    "model": {"hidden": 8, "dropout": 0.0},
    "train": {"epochs": 2, "batch": 16, "lr": 0.05},
}).override("train.epochs=3", "model.hidden=12")


def make_model(c):
    return nn.Sequential(nn.Linear(4, c.hidden), nn.Dropout(c.dropout), nn.GELU(), nn.Linear(c.hidden, 2))


def main(c):
    torch.manual_seed(c.seed)
    features = torch.randn(64, 4)
    labels = (features.sum(1) > 0).long()
    loader = DataLoader(TensorDataset(features, labels), batch_size=c.train.batch)
    model = make_model(c.model)
    optimizer = torch.optim.SGD(model.parameters(), lr=c.train.lr)
    for epoch in range(c.train.epochs):
        correct = torch.zeros(())
        for inputs, targets in loader:
            out = model(inputs)
            loss = nn.functional.cross_entropy(out, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (out.argmax(1) == targets).sum()
        print(epoch, int(correct) > 20)


main(cfg)
