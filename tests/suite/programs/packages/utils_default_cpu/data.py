import torch
from torch.utils.data import DataLoader, TensorDataset


def loader(batches, size=8):
    x = torch.randn(batches * size, 4)
    return DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=size)
