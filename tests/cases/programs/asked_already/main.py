import torch
from torch import nn


def main(amp=True):
    amp_enabled = amp and torch.cuda.is_available()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = nn.Linear(3, 1).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(enabled=amp_enabled and True)
    for i in range(3):
        with torch.autocast("cuda", enabled=amp_enabled):
            loss = net(torch.ones(4, 3, device=device)).sum()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    print(loss.item() < 100)


main()
