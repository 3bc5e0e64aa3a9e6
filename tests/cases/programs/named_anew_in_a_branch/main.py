import argparse
import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--test", action="store_true")
args = p.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if args.test:
    model = nn.Linear(2, 1)
    model.eval()
    device = "cpu"
else:
    model = nn.Linear(2, 1)
    model.to(device)
for x in torch.utils.data.DataLoader(torch.rand(4, 2), batch_size=2):
    print(model(x.to(device)).sum().item())
