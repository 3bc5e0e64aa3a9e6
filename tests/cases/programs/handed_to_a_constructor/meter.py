import torch


class Meter:
    def __init__(self):
        self.total = torch.zeros(2)

    def add(self, x):
        self.total = self.total + x
