"""Two steps of a layer whose outputs the normalizers of neuraloperator/Geo-FNO decode."""

import torch
from utilities3 import GaussianNormalizer, LpLoss, UnitGaussianNormalizer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
targets = torch.rand(8, 5)
layer = torch.nn.Linear(3, 5).to(device)
optimizer = torch.optim.Adam(layer.parameters())
for kind in (UnitGaussianNormalizer, GaussianNormalizer):
    normalizer = kind(targets)
    normalizer.cuda()
    optimizer.zero_grad()
    out = normalizer.decode(layer(torch.rand(8, 3).to(device)))
    loss = LpLoss(size_average=False)(out, targets.to(device))
    loss.backward()
    optimizer.step()
    print(loss.item())
