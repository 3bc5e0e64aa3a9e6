import torch
from torch import nn


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden)

    def forward(self, tokens, h):
        y, h = self.rnn(self.embed(tokens), h)
        return self.out(y), h


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = CharRNN(12, 8).to(device)
tokens = torch.randint(12, (3, 7), device=device)
h = net.init_hidden(3)
for _ in range(2):
    logits, h = net(tokens, h)
print(f"{logits.logsumexp(-1).mean().item():.4f}")
