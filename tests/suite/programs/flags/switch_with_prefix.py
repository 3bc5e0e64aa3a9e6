import random
import torch
import torch.nn as nn
from torch.autograd import Variable
import itertools


class ReplayBuffer():
    def __init__(self, max_size=4):
        self.max_size = max_size
        self.data = []

    def push_and_pop(self, data):
        to_return = []
        for element in data.data:
            element = torch.unsqueeze(element, 0)
            if len(self.data) < self.max_size:
                self.data.append(element)
                to_return.append(element)
            elif random.uniform(0, 1) > 0.5:
                i = random.randint(0, self.max_size - 1)
                to_return.append(self.data[i].clone())
                self.data[i] = element
            else:
                to_return.append(element)
        return Variable(torch.cat(to_return))


class LambdaLR():
    def __init__(self, n, start):
        self.n, self.start = n, start

    def step(self, epoch):
        return 1.0 - max(0, epoch - self.start) / (self.n - self.start)


def weights_init_normal(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1:
        torch.nn.init.normal_(m.weight.data, 0.0, 0.02)


def gen():
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.InstanceNorm2d(4), nn.ReLU(inplace=True), nn.Conv2d(4, 1, 3, padding=1), nn.Tanh())


def dis():
    return nn.Sequential(nn.Conv2d(1, 4, 4, stride=2, padding=1), nn.LeakyReLU(0.2), nn.AdaptiveAvgPool2d(1), nn.Flatten())


random.seed(0)
torch.manual_seed(0)
opt_cuda = True
netG_A2B, netG_B2A = gen(), gen()
netD_A, netD_B = nn.Sequential(dis(), nn.Linear(4, 1)), nn.Sequential(dis(), nn.Linear(4, 1))
for n in (netG_A2B, netG_B2A, netD_A, netD_B):
    n.apply(weights_init_normal)
if opt_cuda:
    netG_A2B.cuda()
    netG_B2A.cuda()
    netD_A.cuda()
    netD_B.cuda()
mse, l1 = torch.nn.MSELoss(), torch.nn.L1Loss()
optimizer_G = torch.optim.Adam(itertools.chain(netG_A2B.parameters(), netG_B2A.parameters()), lr=2e-4)
optimizer_D = torch.optim.Adam(itertools.chain(netD_A.parameters(), netD_B.parameters()), lr=2e-4)
sched = torch.optim.lr_scheduler.LambdaLR(optimizer_G, lr_lambda=LambdaLR(4, 2).step)
Tensor = torch.cuda.FloatTensor if opt_cuda else torch.Tensor
input_A, input_B = Tensor(2, 1, 8, 8), Tensor(2, 1, 8, 8)
target_real = Variable(Tensor(2, 1).fill_(1.0), requires_grad=False)
target_fake = Variable(Tensor(2, 1).fill_(0.0), requires_grad=False)
buf = ReplayBuffer()
for epoch in range(3):
    batch = {'A': torch.rand(2, 1, 8, 8), 'B': torch.rand(2, 1, 8, 8)}
    real_A = Variable(input_A.copy_(batch['A']))
    real_B = Variable(input_B.copy_(batch['B']))
    optimizer_G.zero_grad()
    fake_B = netG_A2B(real_A)
    loss_G = mse(netD_B(fake_B), target_real) + l1(netG_B2A(fake_B), real_A) * 10
    loss_G.backward()
    optimizer_G.step()
    optimizer_D.zero_grad()
    fake = buf.push_and_pop(fake_B)
    loss_D = mse(netD_B(real_B), target_real) + mse(netD_B(fake.detach()), target_fake)
    loss_D.backward()
    optimizer_D.step()
    sched.step()
    print(epoch, '%.4f %.4f' % (loss_G.item(), loss_D.item()))
