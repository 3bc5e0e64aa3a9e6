import os

import torch
import torch.nn as nn


class Log:
    def __init__(self, device):
        self.device = device

    def write(self, loss):
        print(loss > 0)


def fit(model, log, rows, half):
    for row in rows:
        x, y = row[0], row[1]
        if half:
            from torch.cuda.amp import autocast

            with autocast():
                loss = (model(x) - y).abs().sum()
        else:
            loss = (model(x) - y).abs().sum()
        if log is not None:
            log.write(loss.item())


def main():
    rank = int(os.environ.get("RANK", 1))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(3, 1).to(device)
    if rank == 0:
        log = Log(device)
    else:
        log = None
    rows = [(torch.ones(2, 3).to(device), torch.ones(2, 1).to(device))]
    fit(model, log, rows, True)


if __name__ == "__main__":
    main()
