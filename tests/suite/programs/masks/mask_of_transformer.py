import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.att = nn.MultiheadAttention(4, 1, batch_first=True)
        self.full = nn.Transformer(4, 1, 1, 1, 8, batch_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        other = self.full.generate_square_subsequent_mask(x.size(1))
        return self.att(x, x, x, attn_mask=mask)[0] + self.full(x, x, tgt_mask=other)


torch.manual_seed(0)
net = Decoder()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.ones(2, 3, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
