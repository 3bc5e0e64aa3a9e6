import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


def to(thing, where):
    if hasattr(thing, "to"):
        return thing.to(where)
    if isinstance(thing, dict):
        return {k: to(v, where) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(to(v, where) for v in thing)
    return thing


torch.manual_seed(0)
net, sample = to((nn.Linear(3, 2), {"x": torch.ones(4, 3), "meta": ["a", 1], "w": [torch.ones(4, 1)]}), device)
print((net(sample["x"]) * sample["w"][0]).shape, sample["meta"])
