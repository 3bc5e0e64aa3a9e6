import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc = nn.Linear(2 * 16, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


torch.manual_seed(0)
net = nn.DataParallel(Net(), device_ids=[0]).cuda()
opt = torch.optim.SGD(net.module.parameters(), 0.1)
images, labels = torch.randn(5, 1, 6, 6), torch.randint(3, (5,))
images, labels = images.cuda(), labels.cuda()
loss = nn.functional.cross_entropy(net(images), labels)
loss.backward()
opt.step()
torch.save(net.module.state_dict(), "net.pt")
net.module.load_state_dict(torch.load("net.pt"))
print(bool(loss > 0))
