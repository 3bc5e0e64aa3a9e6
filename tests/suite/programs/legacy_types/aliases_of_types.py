import torch
from torch import nn

Tensor = torch.cuda.FloatTensor
LongTensor = torch.cuda.LongTensor


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(3, 3)
        self.net = nn.Sequential(nn.Linear(7, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, z, y):
        return self.net(torch.cat((self.label(y), z), -1))


torch.manual_seed(0)
generator, discriminator = Generator(), nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
loss_fn = nn.BCELoss()
for each in (generator, discriminator, loss_fn):
    each.cuda()
opt = torch.optim.Adam([*generator.parameters(), *discriminator.parameters()], 0.01)
for i in range(3):
    valid = Tensor(6, 1).fill_(1.0)
    z = torch.randn(6, 4).type(Tensor)
    labels = torch.randint(0, 3, (6,)).type(LongTensor)
    loss = loss_fn(discriminator(generator(z, labels)), valid)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(bool(loss > 0))
