import torch

from trainer import Trainer

CFG = {"layers": 2, "gates": [0.0, 1.0], "targets": {"a": 1.0, "b": -1.0}, "lr": 0.05}

if __name__ == "__main__":
    torch.manual_seed(0)
    t = Trainer(CFG, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for i in range(4):
        print(i, "%.4f" % t.step(torch.randn(3, 4), "ab"[i % 2]))
    print("%.4f" % t.summary())
