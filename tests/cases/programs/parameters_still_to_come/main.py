import torch
import torch.nn as nn


class Rule(nn.Module):
    def __init__(self, device, rate):
        super().__init__()
        self.rate = torch.ones(1) * rate
        self.rate.to(device)

    def initialise(self, names):
        self.rates = nn.ParameterDict()
        for name in names:
            self.rates[name] = nn.Parameter(data=torch.ones(3) * self.rate, requires_grad=True)

    def update(self, weights, grads):
        return {k: weights[k] - self.rates[k] * grads[k] for k in weights}


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rule = Rule(device, 0.1)
    rule.initialise(["w"])
    rule.to(device)
    w = torch.ones(3).to(device)
    print(rule.update({"w": w}, {"w": w})["w"].shape)


if __name__ == "__main__":
    main()
