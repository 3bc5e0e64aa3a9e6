"""Two steps of the model of johnma2006/mamba-minimal."""

import torch
from model import Mamba, ModelArgs

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Mamba(ModelArgs(d_model=8, n_layer=2, vocab_size=16)).to(device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    tokens = torch.randint(0, 16, (2, 6)).to(device)
    optimizer.zero_grad()
    logits = net(tokens)
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    print(loss.item())
