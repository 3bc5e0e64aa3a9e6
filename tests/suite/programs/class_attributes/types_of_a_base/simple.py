import torch
from torch import nn

from base import BaseModel


class SimpleModel(BaseModel):
    def __init__(self, opt):
        super().__init__(opt)
        self.model_names = ["A"]
        self.loss_names = ["bce", "reg"]
        self.netA = nn.Linear(4, 1)
        self.optimizers.append(torch.optim.Adam(self.netA.parameters(), lr=opt["lr"]))
        self.criterion = nn.BCEWithLogitsLoss(pos_weight=torch.ones(1).cuda())

    def step(self):
        out = self.netA(self.real)
        self.loss_bce = self.criterion(out, self.label)
        self.loss_reg = self.netA.weight.abs().sum() * 1e-3
        self.optimizers[0].zero_grad()
        (self.loss_bce + self.loss_reg).backward()
        self.optimizers[0].step()
