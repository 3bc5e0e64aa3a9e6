import os

import torch

from layers import Net, fresh, told

if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    net = Net().cuda()
    print(net(fresh(net.layer).cuda()).shape, told["asked"])
