import copy
import torch
from torch import nn
from torch.func import functional_call, stack_module_state

torch.manual_seed(6)


class SimpleMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(self.fc1(x).relu())


num_models = 3
models = [SimpleMLP() for _ in range(num_models)]
data = torch.randn(20, 4)
targets = torch.randint(3, (20,))
for m in models:
    opt = torch.optim.SGD(m.parameters(), lr=0.2)
    for _ in range(5):
        opt.zero_grad()
        nn.functional.cross_entropy(m(data), targets).backward()
        opt.step()

params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0])
base = base.to("meta")


def fmodel(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


preds = torch.vmap(fmodel, in_dims=(0, 0, None))(params, buffers, data)
single = torch.stack([m(data) for m in models])
assert torch.allclose(preds, single, atol=1e-5)
vote = preds.softmax(-1).mean(0).argmax(-1)
print("agree", (vote == targets).sum().item(), "spread %.5f" % preds.std(0).mean().item())
