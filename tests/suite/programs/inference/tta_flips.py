import torch
from torch import nn


def augmented(x):
    yield x
    yield x.flip(-1)
    yield torch.roll(x, 1, -1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(5, 2).to(device).eval()
with torch.no_grad():
    logits = sum(model(view).softmax(-1) for view in augmented(torch.arange(10.0, device=device).view(2, 5))) / 3
print([round(v, 4) for v in logits.flatten().tolist()])
