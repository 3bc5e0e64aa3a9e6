import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(batch):
    seqs, labels = zip(*batch)
    padded = pad_sequence(seqs, batch_first=True)
    return padded, padded != 0, torch.tensor(labels)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = [(torch.randint(1, 9, (n,)), n % 2) for n in (3, 5, 2, 6)]
embed, head = nn.Embedding(9, 4, padding_idx=0).to(device), nn.Linear(4, 2).to(device)
for tokens, mask, labels in DataLoader(data, batch_size=2, collate_fn=collate):
    h = embed(tokens) * mask.unsqueeze(-1)
    print(f"{nn.functional.cross_entropy(head(h.mean(1)), labels).item():.4f}")
