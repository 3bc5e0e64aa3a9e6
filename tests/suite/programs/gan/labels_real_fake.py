import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
D = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid()).to(device)
G = nn.Linear(3, 4).to(device)
criterion = nn.BCELoss()
opt_d, opt_g = torch.optim.Adam(D.parameters()), torch.optim.Adam(G.parameters())
ones, zeros = torch.ones(5, 1), torch.zeros(5, 1)
for _ in range(2):
    real = torch.randn(5, 4).to(device)
    fake = G(torch.randn(5, 3, device=device))
    d_loss = criterion(D(real), ones) + criterion(D(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = criterion(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
print(tuple(fake.shape))
