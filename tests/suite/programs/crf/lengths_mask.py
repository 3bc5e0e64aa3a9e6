import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def sequence_mask(lengths, longest=None):
    longest = longest or int(lengths.max())
    return torch.arange(longest)[None, :] < lengths[:, None]


torch.manual_seed(0)
lstm = nn.LSTM(3, 4, batch_first=True, bidirectional=True).to(device)
tag = nn.Linear(8, 2).to(device)
x = torch.randn(3, 6, 3, device=device)
lengths = torch.tensor([6, 4, 2], device=device)
scores = tag(lstm(x)[0])
kept = scores[sequence_mask(lengths)]
print(kept.shape[0], f"{kept.sum().item():.4f}")
