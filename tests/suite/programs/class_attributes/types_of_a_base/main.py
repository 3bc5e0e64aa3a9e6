import torch

from simple import SimpleModel

torch.manual_seed(0)
model = SimpleModel({"lr": 1e-2})
model.setup()
for i in range(3):
    x = torch.randn(5, 4)
    model.set_input({"A": x, "label": [float(v > 0) for v in x[:, 0]]})
    model.step()
    print(i, {k: round(v, 4) for k, v in model.losses().items()})
