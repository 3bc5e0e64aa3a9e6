"""main.py of emadeldeen24/TS-TCC, on series that are written here."""

import os
import runpy
import sys

import torch

os.makedirs("data/HAR", exist_ok=True)
generator = torch.Generator().manual_seed(0)
for part in ("train", "val", "test"):
    samples = torch.rand(130, 9, 128, generator=generator)
    labels = torch.randint(0, 6, (130,), generator=generator)
    torch.save({"samples": samples, "labels": labels}, f"data/HAR/{part}.pt")
sys.path.insert(0, os.getcwd())
runpy.run_path("main.py", run_name="__main__")
