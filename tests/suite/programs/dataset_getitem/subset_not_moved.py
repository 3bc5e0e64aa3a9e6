import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.rand(20, 5), torch.randint(2, (20,)))
train, val = random_split(data, [14, 6])
net = nn.Linear(5, 2).to(device)
correct = 0
for x, y in DataLoader(val, batch_size=3):
    correct += (net(x.to(device)).argmax(1) == y).sum().item()
print(len(train), correct)
