import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
checkpoint = {
    "net": net.state_dict(),
    "rng": torch.get_rng_state(),
    "cuda_rng": torch.cuda.get_rng_state(),
}
torch.set_rng_state(checkpoint["rng"])
torch.cuda.set_rng_state(checkpoint["cuda_rng"])
print(sorted(checkpoint), f"{net(torch.ones(2, 3, device=device)).sum().item():.4f}")
