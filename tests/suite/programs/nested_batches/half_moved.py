import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(3)
data = [{"image": torch.rand(12), "target": {"cls": torch.tensor(i % 3), "w": torch.rand(())}} for i in range(12)]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(12, 3).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    for batch in DataLoader(data, batch_size=4):
        image = batch["image"].to(device)
        target = batch["target"]
        nll = nn.functional.cross_entropy(model(image), target["cls"], reduction="none")
        loss = (nll * target["w"]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f"{loss.item():.4f}")
