import torch, torch.nn as nn
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 4); self.lstm = nn.LSTM(4, 3); self.out = nn.Linear(3, 2)
        self.hidden = self.init_hidden()
    def init_hidden(self):
        return (torch.randn(1, 1, 3), torch.randn(1, 1, 3))
    def forward(self, s):
        self.hidden = self.init_hidden()
        o, self.hidden = self.lstm(self.emb(s).view(len(s), 1, -1), self.hidden)
        return self.out(o)
torch.manual_seed(0)
m = Tagger(); opt = torch.optim.SGD(m.parameters(), lr=.1)
loss = m(torch.tensor([1, 2, 3])).sum(); loss.backward(); opt.step(); print(loss.item())
