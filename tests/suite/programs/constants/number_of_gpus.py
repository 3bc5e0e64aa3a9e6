import torch
import torch.nn as nn

nz, ngf, nc, ngpu = 4, 4, 1, 1
real_label, fake_label = 1.0, 0.0

device = torch.device("cuda:0" if ngpu > 0 else "cpu")


class G(nn.Module):
    def __init__(self, ngpu):
        super().__init__()
        self.ngpu = ngpu
        self.main = nn.Sequential(nn.ConvTranspose2d(nz, ngf, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True), nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, x):
        if x.is_cuda and self.ngpu > 1:
            return nn.parallel.data_parallel(self.main, x, range(self.ngpu))
        return self.main(x)


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)


torch.manual_seed(0)
netG = G(ngpu).to(device)
if device.type == "cuda" and ngpu > 1:
    netG = nn.DataParallel(netG, list(range(ngpu)))
netG.apply(weights_init)
netD = nn.Sequential(nn.Conv2d(nc, 4, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64, 1), nn.Sigmoid()).to(device)
crit = nn.BCELoss()
fixed = torch.randn(4, nz, 1, 1, device=device)
oD, oG = torch.optim.Adam(netD.parameters(), 2e-4), torch.optim.Adam(netG.parameters(), 2e-4)
for it in range(3):
    real = torch.rand(6, nc, 8, 8).to(device)
    netD.zero_grad()
    label = torch.full((6,), real_label, dtype=torch.float, device=device)
    errD = crit(netD(real).view(-1), label)
    errD.backward()
    fake = netG(torch.randn(6, nz, 1, 1, device=device))
    label.fill_(fake_label)
    crit(netD(fake.detach()).view(-1), label).backward()
    oD.step()
    netG.zero_grad()
    label.fill_(real_label)
    errG = crit(netD(fake).view(-1), label)
    errG.backward()
    oG.step()
print("%.1f" % errG.item(), netG(fixed).detach().cpu().shape)
