import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        self.heads = nn.ModuleDict({"cls": nn.Linear(12, 3), "reg": nn.Linear(12, 1)})
        self.task_scale = {"cls": torch.tensor(1.0), "reg": torch.tensor([0.5])}
        self.norm = {"mean": torch.zeros(6), "std": torch.full((6,), 2.0)}

    def forward(self, batch):
        x = (batch["x"] - self.norm["mean"]) / self.norm["std"]
        h = self.trunk(x)
        return {k: head(h) for k, head in self.heads.items()}

    def losses(self, out, batch):
        return {"cls": self.task_scale["cls"] * nn.functional.cross_entropy(out["cls"], batch["label"]),
                "reg": self.task_scale["reg"] * nn.functional.mse_loss(out["reg"].squeeze(-1), batch["value"])}


def to_device(batch, device):
    return {k: v.to(device) for k, v in batch.items()}


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MultiTask().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    running = {"cls": torch.zeros(1), "reg": torch.zeros(1)}
    for i in range(4):
        batch = {"x": torch.randn(8, 6), "label": torch.randint(0, 3, (8,)), "value": torch.randn(8)}
        batch = to_device(batch, device)
        losses = model.losses(model(batch), batch)
        loss = sum(v.sum() for v in losses.values())
        opt.zero_grad()
        loss.backward()
        opt.step()
        for k, v in losses.items():
            running[k] = 0.9 * running[k] + 0.1 * v.detach()
        print(i, "%.4f" % loss.item(), {k: "%.3f" % v.item() for k, v in running.items()})


main()
