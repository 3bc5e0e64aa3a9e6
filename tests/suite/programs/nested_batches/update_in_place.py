import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(3)
data = [{"image": torch.rand(12), "cls": torch.tensor(i % 3), "file": f"{i}.png"} for i in range(12)]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(12, 3).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for batch in DataLoader(data, batch_size=4):
    for key in list(batch):
        if hasattr(batch[key], "to"):
            batch[key] = batch[key].to(device, non_blocking=True)
    loss = nn.functional.cross_entropy(model(batch["image"]), batch["cls"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(batch["file"][0], f"{loss.item():.4f}")
