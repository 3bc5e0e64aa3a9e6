import argparse
import torch
from torch import nn


def train(config, model, adj):
    if config.cuda:
        model.cuda()
        adj = adj.cuda()
    weights = torch.ones(3, 2).cuda()
    opt = torch.optim.Adam(model.parameters())
    for _ in range(2):
        loss = (model(adj) * weights).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuda", default=torch.cuda.is_available())
    return parser.parse_args()


config = parse()
train(config, nn.Linear(3, 2), torch.ones(3, 3))
