import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
model, criterion = nn.Linear(4, 1), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
x_train, y_train = torch.randn(30, 4), torch.randn(30, 1)
x_val, y_val = torch.randn(10, 4), torch.randn(10, 1)
best, patience = np.inf, 0
for epoch in range(30):
    model.train()
    optimizer.zero_grad()
    criterion(model(x_train), y_train).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        val = criterion(model(x_val), y_val)
    scheduler.step(val)
    if val < best - 1e-4:
        best, patience = val.item(), 0
    else:
        patience += 1
        if patience > 2:
            break
print(epoch, f"{best:.4f}")
