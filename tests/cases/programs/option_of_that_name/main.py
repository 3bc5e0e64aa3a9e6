import argparse

import torch

import model
import train

parser = argparse.ArgumentParser()
parser.add_argument("-device", type=int, default=-1, help="device to use for iterate data, -1 mean cpu")
parser.add_argument("-no-cuda", action="store_true", default=False)
args = parser.parse_args()
args.cuda = (not args.no_cuda) and torch.cuda.is_available()
del args.no_cuda

net = model.Net(args)
if args.cuda:
    torch.cuda.set_device(args.device)
    net = net.cuda()
train.train([torch.tensor([1, 2]), torch.tensor([3])], net, args)
