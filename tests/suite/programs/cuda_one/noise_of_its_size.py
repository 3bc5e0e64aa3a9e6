import torch
import torch.nn as nn
import torch.nn.functional as F


class GaussianNoise(nn.Module):
    def __init__(self, std):
        super().__init__()
        self.std = std

    def forward(self, x):
        if not self.training:
            return x
        noise = torch.zeros(x.size()).cuda()
        noise = noise.data.normal_(0, self.std)
        return x + noise * 0


class ConvLSTMCell(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.h = h
        self.conv = nn.Conv2d(i + h, 4 * h, 3, padding=1)
        self.Wci = None

    def init_hidden(self, batch, shape):
        if self.Wci is None:
            self.Wci = torch.zeros(1, self.h, shape[0], shape[1]).cuda()
        return (torch.zeros(batch, self.h, *shape).cuda(), torch.zeros(batch, self.h, *shape).cuda())

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.conv(torch.cat([x, h], 1)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i + self.Wci * c) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.noise = GaussianNoise(0.1)
        self.cell = ConvLSTMCell(1, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, video, future):
        state = self.cell.init_hidden(video.size(0), video.shape[-2:])
        for t in range(video.size(1)):
            state = self.cell(self.noise(video[:, t]), state)
        frames = []
        x = self.out(state[0])
        for _ in range(future):
            frames.append(x)
            state = self.cell(x, state)
            x = self.out(state[0])
        return torch.stack(frames, 1)


torch.manual_seed(0)
net = Predictor().cuda()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
video = torch.rand(3, 6, 1, 5, 5).cuda()
for i in range(3):
    pred = net(video[:, :4], 2)
    loss = F.mse_loss(pred, video[:, 4:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.5f" % loss.item())
