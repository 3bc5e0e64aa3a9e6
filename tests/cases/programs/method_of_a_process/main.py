import torch
from torch import nn
from threading import Thread


class Pipeline:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def epoch(self):
        for _ in range(3):
            self.optimizer.zero_grad()
            loss = self.model(torch.ones(2, 4)).pow(2).sum()
            loss.backward()
            self.optimizer.step()
        print(round(loss.item(), 4))


if __name__ == "__main__":
    thread = Thread(target=Pipeline().epoch)
    thread.start()
    thread.join()
