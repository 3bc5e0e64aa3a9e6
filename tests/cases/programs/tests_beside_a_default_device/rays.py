import numpy as np
import torch


def angles(count):
    return torch.linspace(0.0, 1.0, count)


def turned(theta):
    return np.cos(np.asarray(theta)) + np.sin(np.asarray(theta))
