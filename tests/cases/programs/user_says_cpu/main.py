import argparse, os, torch
from torch.utils.data import DataLoader

def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--use_cpu", action="store_true")
    p.add_argument("--gpu", default="0")
    return p.parse_args()

def test(net, loader):
    for x in loader:
        if not args.use_cpu:
            x = x.cuda()
        print(net(x))

def main(args):
    os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu
    net = torch.nn.Linear(2, 2)
    if not args.use_cpu:
        net = net.cuda()
    test(net, DataLoader(torch.ones(4, 2)))

if __name__ == "__main__":
    args = parse_args()
    main(args)
