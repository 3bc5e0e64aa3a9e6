import torch
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __init__(self, data):
        self.data = data
    def __getitem__(self, i):
        return self.data[i].cuda()
    def __len__(self):
        return len(self.data)
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
net.cuda()
for x in DataLoader(Data(torch.randn(4, 2))):
    print(net(x).sum().item())
