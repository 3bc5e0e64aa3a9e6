import torch
from torch import nn

class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x, context=None, inverted: bool = False):
        sim = self.fc(x) * context.mean()
        return sim.softmax(-1) if inverted else sim

class PreNorm(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn
    def forward(self, x, **kwargs):
        kwargs.update(context=kwargs["context"] * 2)
        return self.fn(x, **kwargs)

class Net(nn.Module):
    def __init__(self, depth, inverted: bool | tuple[bool, ...] = False):
        super().__init__()
        if isinstance(inverted, bool): inverted = (inverted,) * depth
        self.inverted = inverted
        self.layers = nn.ModuleList([PreNorm(Attn()) for _ in range(depth)])
    def forward(self, data):
        x = torch.ones(1, 4, device=data.device)
        for i, attn in enumerate(self.layers):
            x = attn(x, context=data, inverted=self.inverted[i]) + x
        return x

def test_net(inverted):
    model = Net(2, inverted=inverted)
    img = torch.randn(1, 4)
    assert model(img).shape == (1, 4)
    print(model(img).shape)

if __name__ == "__main__":
    test_net(True)
