import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(6):
            yield {"x": torch.full((3,), float(i)), "i": i}


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
for batch in DataLoader(Stream(), batch_size=3):
    batch = {k: v.to(device) for k, v in batch.items()}
    print(batch["i"].tolist(), f"{net(batch['x']).sum().item():.4f}")
