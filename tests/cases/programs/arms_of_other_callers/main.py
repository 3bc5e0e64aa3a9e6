import torch
import torch.nn as nn


def robust_loss(model, x, kind="a"):
    model.eval()
    if kind == "a":
        adv = x.detach() + 0.001 * torch.randn(x.shape).cuda().detach()
        for _ in range(2):
            adv.requires_grad_()
            grad = torch.autograd.grad(model(adv).sum(), [adv])[0]
            adv = adv.detach() + grad.sign()
    elif kind == "b":
        delta = 0.001 * torch.randn(x.shape).cuda().detach()
        adv = x + delta
    else:
        adv = x.detach() + 0.001 * torch.randn(x.shape).cuda().detach()
    return model(adv).mean()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(3, 1).to(device)
    x = torch.ones(2, 3).to(device)
    print(robust_loss(model, x).shape)


if __name__ == "__main__":
    main()
