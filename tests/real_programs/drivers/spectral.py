"""Two steps of models of thuml/Latent-Spectral-Models, by the program's own get_model."""

import sys

import torch
from model_dict import get_model
from utils.params import get_args
from utils.utilities3 import LpLoss, UnitGaussianNormalizer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for name in ("LSM_2D", "FNO_2D"):
    size = ["--h", "64", "--w", "64", "--padding", "0,0", "--patch-size", "4,4"]
    sys.argv[1:] = ["--model", name, "--in_dim", "1", "--d-model", "8", "--num-basis", "2", *size]
    model = get_model(get_args())
    normalizer = UnitGaussianNormalizer(torch.rand(8, 64, 64))
    if torch.cuda.is_available():
        normalizer.cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        x, y = torch.rand(2, 64, 64, 1).to(device), torch.rand(2, 64, 64).to(device)
        optimizer.zero_grad()
        out = normalizer.decode(model(x).reshape(2, 64, 64))
        loss = LpLoss(size_average=False)(out.view(2, -1), y.view(2, -1))
        loss.backward()
        optimizer.step()
        print(loss.item())
