import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0).to(device)
x = torch.randn(2, 5, 8, device=device)
mask = nn.Transformer.generate_square_subsequent_mask(5, device=x.device)
pad = torch.zeros(2, 5, dtype=torch.bool, device=x.device)
pad[1, 4:] = True
print(f"{layer(x, src_mask=mask, src_key_padding_mask=pad).sum().item():.3f}")
