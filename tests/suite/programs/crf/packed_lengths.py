import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
lstm = nn.LSTM(3, 4, batch_first=True).to(device)
x = torch.randn(3, 6, 3).to(device)
lengths = torch.tensor([6, 4, 2])
packed = pack_padded_sequence(x, lengths, batch_first=True)
out, sizes = pad_packed_sequence(lstm(packed)[0], batch_first=True)
mask = (torch.arange(6)[None] < sizes[:, None]).to(device)
print(f"{(out * mask.unsqueeze(-1)).sum().item():.4f}")
