import pickle
from types import SimpleNamespace

import torch


def load():
    return pickle.loads(pickle.dumps([SimpleNamespace(codes=torch.ones(2, 3)) for _ in range(2)]))
