import numpy as np
import torch
from torch import nn


class Predictor:
    def __init__(self, hidden=8):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 3))
        self.model.eval()

    @torch.no_grad()
    def __call__(self, image: np.ndarray) -> np.ndarray:
        tensor = torch.from_numpy(image).float()
        if tensor.ndim == 1:
            tensor = tensor[None]
        return self.model(tensor).softmax(-1).numpy()


predictor = Predictor()
print(np.round(predictor(np.ones(4)).sum(), 3), predictor(np.zeros((2, 4))).shape)
