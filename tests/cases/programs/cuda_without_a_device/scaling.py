class Norm:
    def __init__(self, x):
        self.mean = x.mean()
        self.std = x.std()

    def cuda(self):
        self.mean = self.mean.cuda()
        self.std = self.std.cuda()

    def encode(self, x):
        return (x - self.mean) / self.std
