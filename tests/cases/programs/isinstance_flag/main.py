import numpy as np, torch
torch.manual_seed(0)

def f0_to_coarse(f0):
    is_torch = isinstance(f0, torch.Tensor)
    return 1127 * (1 + f0 / 700).log() if is_torch else 1127 * np.log(1 + f0 / 700)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(3, 3).to(device)
print(f0_to_coarse(net(torch.ones(2, 3, device=device)).abs()).shape)
print(f0_to_coarse(np.ones(3)).shape)
