import torch
from torch import nn


def make_step(model, lr, device):
    optimizer = torch.optim.SGD(model.to(device).parameters(), lr=lr)

    def step(*batch):
        x, y = (torch.as_tensor(b, dtype=torch.float32, device=device) for b in batch)
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


torch.manual_seed(0)
step = make_step(nn.Linear(2, 1), 0.1, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
for _ in range(3):
    value = step([[1, 2], [3, 4]], [[1], [2]])
print(f"{value:.4f}")
