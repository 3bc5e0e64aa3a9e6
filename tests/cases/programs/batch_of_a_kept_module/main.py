import numpy as np
import torch
from torch import nn


class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.x, self.y = np.ones((8, 3), dtype=np.int64), np.ones((8, 2), dtype=np.int64)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index], len(self.y[index]) - 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(4, 3)
        self.convs = [nn.Linear(3, 3) for _ in range(2)]
        self.opt = torch.optim.Adam(self.parameters())

    def encode(self, x):
        x = self.words(x)
        return torch.cat([conv(x) for conv in self.convs], dim=1)

    def step(self, x, y):
        self.opt.zero_grad()
        loss = self.encode(x).pow(2).mean() + self.words(y[:, :-1]).mean()
        loss.backward()
        self.opt.step()
        return loss.detach().numpy()


def train():
    loader = torch.utils.data.DataLoader(Data(), batch_size=4)
    model = Net()
    for index, batch in enumerate(loader):
        bx, by, length = batch
        loss = model.step(bx, by)
        print(loss, by[0, 1:].data.numpy())


if __name__ == "__main__":
    train()
