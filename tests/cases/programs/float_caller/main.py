import numpy as np, torch, torch.nn as nn
torch.manual_seed(0)
def sigmoid(x):
    return 1 / (1 + np.exp(-x))
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=.1)
out = model(torch.ones(3, 2)); out.sum().backward(); opt.step()
print(sigmoid(out[0, 0].item()), sigmoid(out[1, 0].data))
