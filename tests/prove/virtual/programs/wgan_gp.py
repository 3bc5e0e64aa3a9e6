"""A critic with a gradient penalty: double backward, and legacy tensor types."""

import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(9)
cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
generator = nn.Sequential(
    nn.Linear(6, 16),
    nn.BatchNorm1d(16, 0.8),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Linear(16, 8),
    nn.Tanh(),
)
critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1))
if cuda:
    generator.cuda()
    critic.cuda()
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_c = torch.optim.RMSprop(critic.parameters(), lr=2e-3)


def penalty(real, fake):
    alpha = Tensor([[0.1 * (i + 1)] for i in range(real.size(0))])
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    ones = Variable(Tensor(real.size(0), 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(
        outputs=scores,
        inputs=mixed,
        grad_outputs=ones,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.view(gradients.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


for i in range(5):
    real = Variable(torch.rand(6, 8).type(Tensor))
    opt_c.zero_grad()
    z = Variable(torch.randn(6, 6).type(Tensor))
    fake = generator(z)
    loss_c = (
        -critic(real).mean() + critic(fake.detach()).mean() + 10 * penalty(real.data, fake.data)
    )
    loss_c.backward()
    opt_c.step()
    opt_g.zero_grad()
    loss_g = -critic(generator(z)).mean()
    loss_g.backward()
    opt_g.step()
    print(i, repr(loss_c.item()), repr(loss_g.item()))
