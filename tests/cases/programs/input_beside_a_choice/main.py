import torch
from torch import nn
def noisy(model, x, twice=False):
    torch.manual_seed(0)
    if twice:
        x = x + torch.ones(x.shape).cuda() * 2
    else:
        x = x + torch.ones(x.shape).cuda()
    return model(x).sum()
def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    model = nn.Linear(3, 3).to(device)
    print(round(noisy(model, torch.ones(2, 3).to(device)).item(), 3))
    print(round(noisy(model, torch.ones(2, 3).to(device), True).item(), 3))
main()
