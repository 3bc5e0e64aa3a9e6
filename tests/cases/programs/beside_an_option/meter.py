import torch


class Meter:
    def __init__(self):
        self.count = 0

    def see(self):
        self.count += 1

    def synced(self):
        return torch.tensor([self.count], device="cuda")
