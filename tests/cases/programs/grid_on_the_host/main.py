import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def collected(x, size):
    rows = torch.Tensor(size)
    for k in range(size[0]):
        rows[k] = x[k]
    return rows


torch.manual_seed(0)
net = torch.nn.Linear(2, 2).to(device)
x = torch.ones(4, 2).to(device)
made = net(x)
rows = collected(x, made.shape)
print(torch.cat([made.cpu(), rows]).sum().item())
