import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(2, 2).to(device)
for data in DataLoader([{"image": torch.ones(2)}]):
    centre = data.get("centre")
    if centre is not None:
        centre = centre[0].to(device)
    y = net(data["image"].to(device))
    print((y if centre is None else y + centre).sum().item())
