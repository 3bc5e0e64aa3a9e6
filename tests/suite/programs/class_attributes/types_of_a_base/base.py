import torch
from torch import nn


class BaseModel:
    Tensor = torch.cuda.FloatTensor
    device = "cuda:0"

    def __init__(self, opt):
        self.opt = opt
        self.loss_names = []
        self.optimizers = []

    def setup(self):
        for name in self.model_names:
            net = getattr(self, "net" + name)
            net.to(self.device)
            nn.init.normal_(net.weight, 0, 0.02)

    def set_input(self, batch):
        self.real = batch["A"].cuda()
        self.label = self.Tensor(batch["label"]).view(-1, 1)

    def losses(self):
        return {n: float(getattr(self, "loss_" + n)) for n in self.loss_names}
