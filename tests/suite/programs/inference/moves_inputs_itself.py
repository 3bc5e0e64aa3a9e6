import torch
from torch import nn


class Served:
    def __init__(self, model):
        self.model = model.eval()

    @property
    def where(self):
        return next(iter(self.model.state_dict().values())).device

    def __call__(self, rows):
        with torch.no_grad():
            return self.model(torch.stack(rows).to(self.where)).to("cpu")


torch.manual_seed(0)
served = Served(nn.Linear(3, 2).to("cuda" if torch.cuda.is_available() else "cpu"))
out = served([torch.ones(3), torch.zeros(3)])
print(out.numpy().shape, f"{out.sum().item():.4f}")
