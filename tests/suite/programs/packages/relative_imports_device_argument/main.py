import torch

from app.run import main

print(f"{main(torch.device('cuda' if torch.cuda.is_available() else 'cpu')):.4f}")
