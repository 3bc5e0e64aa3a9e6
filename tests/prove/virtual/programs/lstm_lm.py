"""A word language model with a recurrent network, truncated backpropagation and gradient clipping."""

import math

import torch
import torch.nn as nn

torch.manual_seed(1111)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.2):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        self.nhid, self.nlayers, self.ntoken = nhid, nlayers, ntoken

    def forward(self, x, hidden):
        emb = self.drop(self.encoder(x))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return nn.functional.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (
            weight.new_zeros(self.nlayers, bsz, self.nhid),
            weight.new_zeros(self.nlayers, bsz, self.nhid),
        )


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous().to(device)


def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)


train = batchify(torch.randint(30, (400,)), 8)
model = RNNModel(30, 12, 12, 2).to(device)
criterion = nn.NLLLoss()
lr, bptt = 5.0, 10
hidden = model.init_hidden(8)
for batch, i in enumerate(range(0, train.size(0) - 1, bptt)):
    seq = min(bptt, len(train) - 1 - i)
    data, target = train[i : i + seq], train[i + 1 : i + 1 + seq].view(-1)
    model.zero_grad()
    hidden = repackage(hidden)
    output, hidden = model(data, hidden)
    loss = criterion(output, target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)
    print(batch, repr(loss.item()), math.exp(loss.item()) > 0)
model.eval()
x = torch.randint(30, (1, 1), dtype=torch.long).to(device)
hidden = model.init_hidden(1)
words = []
with torch.no_grad():
    for _ in range(5):
        output, hidden = model(x, hidden)
        weights = output.squeeze().exp().cpu()
        word = torch.multinomial(weights, 1)[0]
        x.fill_(word)
        words.append(int(word))
print(words)
