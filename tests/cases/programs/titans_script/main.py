import torch, numpy as np
from torch.utils.data import DataLoader, Dataset
from titans_pytorch import MemoryAsContextTransformer   # the package beside the script

class Text(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i):
        return torch.ones(4).long().cuda()

model = MemoryAsContextTransformer(num_tokens=256, dim=8).cuda()
for x in DataLoader(Text(), batch_size=2):
    model(x, return_loss=True).backward()
print("done")
