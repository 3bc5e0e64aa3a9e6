import torch


class Memory:
    def __init__(self):
        self.scale = torch.ones(3)

    def load(self, scale):
        self.scale = scale


memory = Memory()
