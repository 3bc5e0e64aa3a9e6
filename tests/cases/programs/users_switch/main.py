import torch
from torch.utils.data import DataLoader


def fit(model, loader, cuda, index=0):
    for step, images in enumerate(loader):
        if step >= 2:
            break
        with torch.no_grad():
            if cuda:
                images = images.cuda(index)
        model(images).mean().backward()
        print(model.weight.grad.sum().item())


def main():
    Cuda = True
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.nn.Linear(2, 2)
    if Cuda:
        model = model.to(device)
    fit(model, DataLoader(torch.ones(4, 2)), Cuda)


main()
