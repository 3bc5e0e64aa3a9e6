import torch
from torch import nn


class Callback:
    def on_batch_end(self, state):
        pass

    def on_epoch_end(self, state):
        pass


class GradNorm(Callback):
    def __init__(self):
        self.norms = []

    def on_batch_end(self, state):
        self.norms.append(torch.stack([p.grad.norm() for p in state["model"].parameters()]).norm())

    def on_epoch_end(self, state):
        print("grad %.4f" % torch.stack(self.norms).mean().item())
        self.norms = []


class TopK(Callback):
    def __init__(self, ks):
        self.ks = ks
        self.hits = {k: torch.zeros(1) for k in ks}
        self.count = torch.tensor(0)

    def on_batch_end(self, state):
        _, pred = state["out"].topk(max(self.ks), 1)
        ok = pred.eq(state["y"].unsqueeze(1))
        for k in self.ks:
            self.hits[k] += ok[:, :k].any(1).sum()
        self.count += len(ok)

    def on_epoch_end(self, state):
        print({k: round((v / self.count).item(), 2) for k, v in self.hits.items()})


class Loop:
    def __init__(self, model, callbacks, device):
        self.state = {"model": model.to(device)}
        self.callbacks, self.device = callbacks, device

    def run(self, data, epochs):
        opt = torch.optim.SGD(self.state["model"].parameters(), 0.1)
        for _ in range(epochs):
            for x, y in data:
                x, y = x.to(self.device), y.to(self.device)
                out = self.state["model"](x)
                loss = nn.functional.cross_entropy(out, y)
                opt.zero_grad()
                loss.backward()
                self.state.update(out=out, y=y)
                for c in self.callbacks:
                    c.on_batch_end(self.state)
                opt.step()
            for c in self.callbacks:
                c.on_epoch_end(self.state)


torch.manual_seed(0)
data = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(3)]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Loop(nn.Linear(4, 3), [GradNorm(), TopK([1, 2])], device).run(data, 2)
