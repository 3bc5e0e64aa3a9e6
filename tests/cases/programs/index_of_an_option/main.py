import argparse

import torch
from torch import nn

from graphs import load

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", type=int, default=-1)


def train(args):
    args.device = "cuda:" + str(args.cuda) if int(args.cuda) >= 0 else "cpu"
    data = load(args)
    net = nn.Linear(3, 2)
    if int(args.cuda) >= 0:
        net = net.to(args.device)
        for name, value in data.items():
            if torch.is_tensor(data[name]):
                data[name] = data[name].to(args.device)
    print(torch.mm(data["links"], net(data["features"])).shape)


train(parser.parse_args())
