import torch
from torch import nn


def measure():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not torch.cuda.is_available():
        print("nothing to measure")
        return
    torch.cuda.reset_peak_memory_stats(device)
    net = nn.Linear(3, 1).to(device)
    with torch.autocast("cuda"):
        net(torch.ones(2, 3, device=device))
    torch.cuda.synchronize()
    print(torch.cuda.get_device_name(0) != "")


measure()
