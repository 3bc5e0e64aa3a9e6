from setup import *

if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    net = nn.Linear(3, 1).cuda()
    print(net(torch.ones(2, 3).cuda()).shape)
