import numpy as np
import torch


class Settings:
    warmup = 5
    lr = 0.1


def decided(config):
    def step(optimizer, count, lr=config.lr, warmup=config.warmup):
        for group in optimizer.param_groups:
            group["lr"] = lr * np.minimum(count / warmup, 1.0)
        optimizer.step()

    return step


def run(state, config, device):
    state["net"].to(device)
    decided(config)(state["optimizer"], state["count"])


net = torch.nn.Linear(2, 2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch.save({"count": 3}, "state.pt")
state = {"net": net, "optimizer": optimizer, "count": torch.load("state.pt", map_location=device)["count"]}
run(state, Settings(), device)
print(optimizer.param_groups[0]["lr"])
