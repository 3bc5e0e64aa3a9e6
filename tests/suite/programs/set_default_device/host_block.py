import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
rnn = nn.GRU(2, 3, batch_first=True)
with torch.device("cpu"):
    lengths = torch.tensor([4, 2])
packed = pack_padded_sequence(torch.ones(2, 4, 2), lengths, batch_first=True)
print(f"{rnn(packed)[1].sum().item():.4f}")
