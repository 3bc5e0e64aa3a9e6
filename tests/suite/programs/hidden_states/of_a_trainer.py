import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 5, num_layers=2)
        self.out = nn.Linear(5, 1)

    def forward(self, x, state):
        y, state = self.lstm(x, state)
        return self.out(y), state


class Trainer:
    def __init__(self, model, layers=2, hidden=5):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.layers, self.hidden = layers, hidden
        self.opt = torch.optim.Adam(model.parameters(), 0.01)

    def fresh(self, batch):
        shape = (self.layers, batch, self.hidden)
        return torch.zeros(*shape), torch.zeros(*shape)

    def epoch(self, sequences):
        state = None
        for x, y in sequences:
            x, y = x.to(self.device), y.to(self.device)
            state = self.fresh(x.size(1)) if state is None else tuple(s.detach() for s in state)
            out, state = self.model(x, state)
            loss = (out - y).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()


torch.manual_seed(0)
data = [(torch.randn(6, 3, 2), torch.randn(6, 3, 1)) for _ in range(3)]
trainer = Trainer(Model())
print(trainer.epoch(data) > 0)
