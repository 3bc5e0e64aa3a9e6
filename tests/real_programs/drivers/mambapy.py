"""Two steps of models of alxndrTL/mamba.py, and a step of inference."""

import torch
from mambapy.lm import LM
from mambapy.mamba import Mamba, MambaConfig

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
config = MambaConfig(d_model=8, n_layers=2)
for model, inputs in (
    (Mamba(config), torch.rand(2, 6, 8)),
    (LM(config, vocab_size=16), torch.randint(0, 16, (2, 6))),
):
    model = model.to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(inputs.to(device)).square().mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
