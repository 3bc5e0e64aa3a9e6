import torch
from torch import nn


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.LSTM(hidden, hidden, num_layers=2)
        self.out = nn.Linear(hidden, vocab)

    def init_hidden(self, batch):
        weight = next(self.parameters()).data
        return (
            weight.new(2, batch, self.hidden).zero_(),
            weight.new(2, batch, self.hidden).zero_(),
        )

    def forward(self, tokens, h):
        y, h = self.rnn(self.embed(tokens), h)
        return self.out(y), tuple(s.detach() for s in h)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = CharRNN(12, 8).to(device)
h = net.init_hidden(3)
for _ in range(2):
    logits, h = net(torch.randint(12, (7, 3)).to(device), h)
print(f"{logits.logsumexp(-1).mean().item():.4f}")
