import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
embed, head = nn.Embedding(11, 6).to(device), nn.Linear(6, 11).to(device)
tokens = [1]
with torch.inference_mode():
    while tokens[-1] != 0 and len(tokens) < 8:
        window = torch.as_tensor(tokens[-3:], device=head.weight.device)
        tokens.append(head(embed(window).mean(0)).topk(2).indices.tolist()[-1])
print(tokens)
