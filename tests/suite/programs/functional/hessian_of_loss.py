import torch
from torch.func import hessian

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
a = torch.tensor([[2.0, 0.5], [0.5, 1.0]]).to(device)
net = torch.nn.Identity()
h = hessian(lambda x: 0.5 * net(x) @ a @ x)(torch.zeros(2, device=device))
print(torch.allclose(h, a), tuple(h.shape))
