import torch
import torch.nn as nn


def score(images, cuda=True):
    dtype = torch.cuda.FloatTensor if cuda else torch.FloatTensor
    net = nn.Linear(3, 3).type(dtype)
    return [net(image.type(dtype)).shape for image in images]


if __name__ == "__main__":
    print(score([torch.ones(3), torch.zeros(3)], cuda=False))
