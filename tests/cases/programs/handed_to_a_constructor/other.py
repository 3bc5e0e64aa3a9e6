import torch


class Thing:
    def see(self):
        return torch.zeros(2).cuda() + 1
