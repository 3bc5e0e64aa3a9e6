import torch
import torch.multiprocessing as mp
from torch import nn


class Ratings(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.users = nn.Embedding(count, 4)

    def forward(self, users):
        return self.users(users).sum(dim=1)


class Pipeline:
    def __init__(self, model=Ratings):
        torch.manual_seed(0)
        self.loader = torch.utils.data.DataLoader(torch.arange(8), batch_size=4)
        self.model = model(8)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.1)

    def fit(self, hogwild):
        if not hogwild:
            return self.epoch()
        self.model.share_memory()
        workers = [mp.Process(target=self.epoch) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return sum(worker.exitcode for worker in workers)

    def epoch(self):
        for users in self.loader:
            self.optimizer.zero_grad()
            loss = self.model(users).pow(2).sum()
            loss.backward()
            self.optimizer.step()
        return round(loss.item(), 4)


if __name__ == "__main__":
    print(Pipeline().fit(hogwild=False))
    print(Pipeline().fit(hogwild=True))
