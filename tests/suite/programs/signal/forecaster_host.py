import numpy as np
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), self.hidden)
        c0 = torch.zeros(1, x.size(0), self.hidden)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1])


torch.manual_seed(0)
series = torch.from_numpy(np.sin(np.linspace(0, 12, 60))).float()
windows = series.unfold(0, 9, 1)
x, y = windows[:, :-1].unsqueeze(-1), windows[:, -1:]
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(5):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
forecast = model(x[-1:]).squeeze().detach().numpy()
print(f"{loss.item():.4f}", forecast.shape)
