import torch
import matplotlib.pyplot as plt
from net import Net


class Fit:
    def __init__(self):
        self.net = Net()
        self.opt = torch.optim.Adam(self.net.parameters())

    def run(self):
        path = {"loss": [], "step": []}
        for i in range(3):
            loss = self.net(4).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            path["loss"].append(loss.detach())
            path["step"].append(i)
        return path


path = Fit().run()
plt.plot(path["loss"])
