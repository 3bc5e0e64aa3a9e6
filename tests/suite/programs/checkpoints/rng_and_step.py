import io

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
shuffle = torch.Generator().manual_seed(5)
order = torch.randperm(6, generator=shuffle)
file = io.BytesIO()
torch.save({"step": 3, "gen": shuffle.get_state(), "net": net.state_dict()}, file)
file.seek(0)
saved = torch.load(file, map_location="cpu")
shuffle.set_state(saved["gen"])
net.load_state_dict(saved["net"])
print(saved["step"], order.tolist(), torch.randperm(6, generator=shuffle).tolist())
print(f"{net(torch.ones(1, 3).to(device)).sum().item():.4f}")
