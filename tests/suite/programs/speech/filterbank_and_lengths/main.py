import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

from features import LogMel, SpecAugment


class Wavs(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(0)
        self.items = []
        for i in range(n):
            length = int(torch.randint(300, 500, (1,), generator=g))
            self.items.append((torch.randn(length, generator=g) * 0.1, i % 3))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    batch = sorted(batch, key=lambda b: -len(b[0]))
    wavs, labels = zip(*batch)
    lengths = torch.LongTensor([len(w) for w in wavs])
    return pad_sequence(wavs, batch_first=True), lengths, torch.LongTensor(labels)


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mel = LogMel()
        self.aug = SpecAugment(2)
        self.rnn = nn.GRU(6, 8, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(16, 3)

    def forward(self, wavs, lengths):
        x = self.aug(self.mel(wavs))
        frames = lengths // 32 + 1
        packed = pack_padded_sequence(x, frames, batch_first=True)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        mask = torch.arange(out.size(1))[None, :] < frames[:, None]
        pooled = (out * mask.unsqueeze(-1)).sum(1) / frames.unsqueeze(1)
        return self.fc(pooled)


class NoamLR(torch.optim.lr_scheduler._LRScheduler):
    def __init__(self, optimizer, warmup):
        self.warmup = warmup
        super().__init__(optimizer)

    def get_lr(self):
        n = self.last_epoch + 1
        return [b * min(n ** -0.5, n * self.warmup ** -1.5) for b in self.base_lrs]


torch.manual_seed(0)
loader = DataLoader(Wavs(12), batch_size=3, shuffle=True, collate_fn=collate)
model = Recognizer()
opt = torch.optim.Adam(model.parameters(), lr=0.05)
sched = NoamLR(opt, warmup=3)
accum = 2
for epoch in range(2):
    total, hits = 0.0, 0
    opt.zero_grad()
    for i, (wavs, lengths, labels) in enumerate(loader):
        logits = model(wavs, lengths)
        loss = nn.functional.cross_entropy(logits, labels) / accum
        loss.backward()
        total += loss.item() * accum
        hits += (logits.argmax(-1) == labels).sum().item()
        if (i + 1) % accum == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            opt.zero_grad()
    print(epoch, "%.3f" % total, hits)
