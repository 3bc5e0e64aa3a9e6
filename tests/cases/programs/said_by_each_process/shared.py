from torch import nn


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(3, 1))
