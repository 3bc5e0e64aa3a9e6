import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
made = torch.zeros(3)
try:
    print(made["first"])
except (IndexError, TypeError):
    print("a tensor has no such index")
print(made.to(device).sum().item())
