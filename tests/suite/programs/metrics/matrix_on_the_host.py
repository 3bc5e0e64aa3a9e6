import torch
from torch import nn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class Scores:
    def __init__(self, k):
        self.k = k
        self.reset()

    def reset(self):
        self.matrix = torch.zeros(self.k, self.k)
        self.loss = torch.zeros(())
        self.seen = 0

    def __call__(self, logits, target, loss):
        pred = logits.argmax(1)
        index = target * self.k + pred
        self.matrix.view(-1).index_add_(0, index, torch.ones(len(index)))
        self.loss += loss.detach() * len(target)
        self.seen += len(target)
        return self

    @property
    def accuracy(self):
        return (self.matrix.trace() / self.seen).item()


torch.manual_seed(0)
net = nn.Linear(4, 3).to(device)
scores = Scores(3)
for _ in range(2):
    scores.reset()
    for _ in range(3):
        x, y = torch.randn(8, 4).to(device), torch.randint(0, 3, (8,)).to(device)
        logits = net(x)
        scores(logits, y, nn.functional.cross_entropy(logits, y))
print(scores.seen, 0 <= scores.accuracy <= 1)
