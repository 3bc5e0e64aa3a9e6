import torch
from torch import nn

SOS, VOCAB, HIDDEN = 0, 9, 16


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN)

    def forward(self, word, hidden):
        return self.gru(self.embed(word).view(1, 1, -1), hidden)

    def start(self):
        return torch.zeros(1, 1, HIDDEN)


class Decoder(Encoder):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(HIDDEN, VOCAB)

    def forward(self, word, hidden):
        y, hidden = super().forward(word, hidden)
        return self.out(y[0]).log_softmax(-1), hidden


torch.manual_seed(0)
encoder, decoder = Encoder(), Decoder()
opts = [torch.optim.SGD(m.parameters(), lr=0.05) for m in (encoder, decoder)]
source, target = torch.tensor([3, 4, 5, 1]), torch.tensor([5, 4, 3, 1])
for step in range(5):
    hidden = encoder.start()
    for word in source:
        _, hidden = encoder(word, hidden)
    word, loss = torch.tensor([[SOS]]), 0
    for gold in target:
        logp, hidden = decoder(word, hidden)
        loss = loss + nn.functional.nll_loss(logp, gold.view(1))
        word = logp.argmax(-1).detach()
    for o in opts:
        o.zero_grad()
    loss.backward()
    for o in opts:
        o.step()
print(f"{loss.item():.4f}")
