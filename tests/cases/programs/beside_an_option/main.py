import argparse

import torch

from meter import Meter


def main(args):
    device = torch.device(args.device)
    net = torch.nn.Linear(3, 1).to(device)
    meter = Meter()
    meter.see()
    print(net(torch.ones(2, 3).to(device)).shape, meter.synced().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    main(parser.parse_args())
