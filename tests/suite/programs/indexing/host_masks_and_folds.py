import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
x = torch.randn(20, 4, device=device)
y = (x[:, 0] > 0).long()
perm = torch.randperm(20)
folds = perm.chunk(4)
scores = []
for k, val in enumerate(folds):
    mask = torch.ones(20, dtype=torch.bool)
    mask[val] = False
    train_idx = mask.nonzero().squeeze(1)
    model = nn.Linear(4, 2).to(device)
    opt = torch.optim.SGD(model.parameters(), 0.2)
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(x[train_idx]), y[mask])
        opt.zero_grad()
        loss.backward()
        opt.step()
    scores.append((model(x[val]).argmax(1) == y[val]).float().mean().item())
    scale = torch.tensor(0.5)
    print(k, "%.4f %.2f" % ((loss * scale).item(), scores[-1]))
