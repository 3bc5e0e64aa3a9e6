import os

SEED = int(os.environ.get("SEED", "0"))
DEVICE = os.environ.get("TORCH_DEVICE", "cuda")
