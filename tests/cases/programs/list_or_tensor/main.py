import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Linear(2, 1).to(device)
for rows in DataLoader(torch.rand(4, 2), batch_size=2, collate_fn=list):
    batch = torch.stack(rows) if isinstance(rows, list) else rows
    print(f"{net(batch.to(device)).sum().item():.4f}")
