import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from accel import Accelerator

torch.manual_seed(0)
accelerator = Accelerator()
model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), 0.1)
loader = DataLoader(TensorDataset(torch.randn(12, 4), torch.arange(12) % 2), batch_size=4)
model, opt, loader = accelerator.prepare(model, opt, loader)
weights = torch.tensor([1.0, 2.0], device=accelerator.device)
preds = []
for x, y in loader:
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y, weight=weights)
    opt.zero_grad()
    accelerator.backward(loss)
    opt.step()
    preds.append(accelerator.gather(logits.argmax(-1)))
    print("%.4f" % loss.item())
print(torch.cat(preds).numpy().shape)
