class Solver:
    def __init__(self, model):
        self.model = model

    def loss(self, x, noise):
        return (self.model(x) - noise).pow(2).mean()
