import torch
from pytorch_lightning import LightningModule
from torch import nn
from torch.utils.data import DataLoader

from sound import collate


class Net(LightningModule):
    def __init__(self, data):
        super().__init__()
        self.data = data
        self.net = nn.Linear(8, 1)

    def training_step(self, batch, index):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=2, collate_fn=lambda rows: collate(rows, "train"))


if __name__ == "__main__":
    torch.manual_seed(0)
    net = Net([(torch.rand(4), 0), (torch.rand(4), 1)])
    for index, batch in enumerate(net.train_dataloader()):
        print(f"{net.training_step(batch, index).item():.4f}")
