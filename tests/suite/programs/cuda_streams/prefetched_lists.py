import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            self.batch = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        with torch.cuda.stream(self.stream):
            self.batch = [t.cuda(non_blocking=True) for t in self.batch]

    def __iter__(self):
        while self.batch is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.batch
            self.preload()
            yield batch


torch.manual_seed(0)
data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
model = nn.Linear(3, 1).cuda()
opt = torch.optim.SGD(model.parameters(), 0.1)
for x, y in Prefetcher(DataLoader(data, 4, pin_memory=True)):
    loss = (model(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(bool(loss > 0))
