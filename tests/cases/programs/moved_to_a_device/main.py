import argparse

import torch
import torch.nn as nn


def main(args):
    gpu = torch.device(args.device)
    model = nn.Linear(3, 1).cuda(gpu)
    for x in [torch.ones(2, 3), torch.zeros(2, 3)]:
        x = x.cuda(gpu, non_blocking=True)
        print(model(x).shape)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", help="where to train")
    main(parser.parse_args())
