import torch


def signals(count):
    gen = torch.Generator().manual_seed(4)
    for _ in range(count):
        x = torch.randn(4, 1, 16, generator=gen)
        yield x, (x > 0.3).float()


class Runner:
    def __init__(self, model, loss, hooks):
        torch.manual_seed(0)
        self.model, self.loss, self.hooks = model, loss, hooks
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.best = None
        self.epoch = 0

    def run(self, epochs):
        for self.epoch in range(1, epochs + 1):
            total = 0.0
            for x, y in signals(3):
                value = self.loss(self.model(x), y)
                self.optimizer.zero_grad()
                value.backward()
                self.optimizer.step()
                total += value.item()
            for hook in self.hooks:
                hook.after_epoch(self, total)
