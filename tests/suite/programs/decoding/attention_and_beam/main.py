import random

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from vocab import Vocab


class Seq2Seq(nn.Module):
    def __init__(self, n, d=24):
        super().__init__()
        self.n = n
        self.emb = nn.Embedding(n, d, padding_idx=0)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.dec = nn.GRUCell(2 * d, d)
        self.out = nn.Linear(d, n)

    def encode(self, src, lens):
        packed = pack_padded_sequence(self.emb(src), lens, batch_first=True, enforce_sorted=False)
        out, h = self.enc(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return out, h.squeeze(0)

    def step(self, tok, h, mem, mask):
        score = torch.bmm(mem, h.unsqueeze(2)).squeeze(2).masked_fill(~mask, -1e9)
        ctx = (score.softmax(1).unsqueeze(1) @ mem).squeeze(1)
        h = self.dec(torch.cat([self.emb(tok), ctx], 1), h)
        return self.out(h), h

    def forward(self, src, lens, tgt, teacher=0.7):
        mem, h = self.encode(src, lens)
        mask = src != 0
        outputs = torch.zeros(tgt.size(0), tgt.size(1) - 1, self.n)
        tok = tgt[:, 0]
        for t in range(tgt.size(1) - 1):
            logits, h = self.step(tok, h, mem, mask)
            outputs[:, t] = logits
            tok = tgt[:, t + 1] if random.random() < teacher else logits.argmax(1)
        return outputs


def beam(model, ids, k=3, maxlen=8):
    src = torch.tensor([ids])
    mem, h = model.encode(src, torch.tensor([len(ids)]))
    mem, mask, h = mem.repeat(k, 1, 1), (src != 0).repeat(k, 1), h.repeat(k, 1)
    seqs = torch.full((k, 1), Vocab.BOS)
    scores = torch.tensor([0.0] + [-1e9] * (k - 1))
    done = torch.zeros(k, dtype=torch.bool)
    for _ in range(maxlen):
        logits, h = model.step(seqs[:, -1], h, mem, mask)
        lp = logits.log_softmax(-1)
        stay = torch.full_like(lp, -1e9)
        stay[:, Vocab.EOS] = 0
        lp = torch.where(done[:, None], stay, lp)
        flat = (scores[:, None] + lp).view(-1)
        scores, best = flat.topk(k)
        row, tok = best // lp.size(1), best % lp.size(1)
        seqs = torch.cat([seqs[row], tok[:, None]], 1)
        h, done = h[row], done[row] | (tok == Vocab.EOS)
        if done.all():
            break
    return seqs[scores.argmax()].tolist()


random.seed(0)
torch.manual_seed(0)
words = "a b c d e".split()
vocab = Vocab(words)
pairs = []
for _ in range(48):
    s = [random.choice(words) for _ in range(random.randint(2, 5))]
    pairs.append((" ".join(s), " ".join(reversed(s))))
model = Seq2Seq(len(vocab))
opt = optim.Adam(model.parameters(), 1e-2)
crit = nn.CrossEntropyLoss(ignore_index=Vocab.PAD)
for epoch in range(3):
    random.shuffle(pairs)
    tot = 0
    for i in range(0, len(pairs), 12):
        chunk = pairs[i:i + 12]
        src = [torch.tensor(vocab.encode(a)) for a, _ in chunk]
        tgt = [torch.tensor(vocab.encode(b)) for _, b in chunk]
        lens = torch.tensor([len(s) for s in src])
        src, tgt = pad_sequence(src, True), pad_sequence(tgt, True)
        out = model(src, lens, tgt)
        loss = crit(out.reshape(-1, len(vocab)), tgt[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        tot += float(loss)
    print(epoch, round(tot / 4, 2))
model.eval()
with torch.no_grad():
    print(len(vocab.decode(beam(model, vocab.encode("a b c"))).split()) > 0)
