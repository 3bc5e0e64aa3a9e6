import torch
from functorch import grad, jacrev, make_functional, vmap
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
trained = nn.Linear(2, 2)
compute, parameters = make_functional(net)
optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.rand(8, 2), torch.rand(8, 2))


def error(parameters, x, y):
    return (compute(parameters, x) - y).pow(2).mean()


for x, y in torch.utils.data.DataLoader(data, batch_size=4):
    loss = torch.einsum("bii->b", vmap(jacrev(trained))(x)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    changes = grad(error)(parameters, x, y)
    parameters = tuple(p - 0.1 * change for p, change in zip(parameters, changes))
print(loss.item(), error(parameters, x, y).item())
