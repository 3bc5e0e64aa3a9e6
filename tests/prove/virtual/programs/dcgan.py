"""A generator and a discriminator trained against each other, as in the DCGAN paper."""

import argparse

import torch
import torch.nn as nn
import torch.optim as optim


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self, nz, ngf):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, x):
        if x.is_cuda:
            return nn.parallel.data_parallel(self.main, x, range(1))
        return self.main(x)


class Discriminator(nn.Module):
    def __init__(self, ndf):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x).view(-1, 1).squeeze(1)


parser = argparse.ArgumentParser()
parser.add_argument("--nz", type=int, default=8)
opt = parser.parse_args()
torch.manual_seed(3)
use_cuda = torch.cuda.is_available()
torch.backends.cudnn.benchmark = True
device = torch.device("cuda:0" if use_cuda else "cpu")
netG = Generator(opt.nz, 4).to(device)
netG.apply(weights_init)
netD = Discriminator(4).to(device)
netD.apply(weights_init)
criterion = nn.BCELoss()
fixed_noise = torch.randn(4, opt.nz, 1, 1, device=device)
data = torch.utils.data.DataLoader(torch.rand(12, 1, 16, 16) * 2 - 1, 4, shuffle=True)
optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
for i, batch in enumerate(data):
    netD.zero_grad()
    real = batch.to(device)
    label = torch.full((real.size(0),), 1.0, device=device)
    errD_real = criterion(netD(real), label)
    errD_real.backward()
    fake = netG(torch.randn(real.size(0), opt.nz, 1, 1, device=device))
    label.fill_(0.0)
    errD_fake = criterion(netD(fake.detach()), label)
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    label.fill_(1.0)
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()
    print(i, repr((errD_real + errD_fake).item()), repr(errG.item()))
with torch.no_grad():
    print(netG(fixed_noise).cpu().numpy().sum())
