import torch
import torch.nn as nn
import torch.nn.functional as F


class Queue(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        self.register_buffer("items", F.normalize(torch.randn(k, d), dim=1))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def push(self, keys):
        k, n = self.items.size(0), keys.size(0)
        at = int(self.ptr)
        idx = torch.arange(at, at + n, device=keys.device) % k
        self.items[idx] = keys
        self.ptr[0] = (at + n) % k

    def logits(self, q, pos):
        l_pos = (q * pos).sum(1, keepdim=True)
        return torch.cat([l_pos, q @ self.items.clone().t()], 1)


dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
enc = nn.Linear(5, 4).to(dev)
queue = Queue(16, 4).to(dev)
opt = torch.optim.SGD(enc.parameters(), 0.1)
for _ in range(3):
    x = torch.randn(6, 5).to(dev)
    q = F.normalize(enc(x), dim=1)
    k = F.normalize(enc(x + 0.1 * torch.randn_like(x)), dim=1).detach()
    out = queue.logits(q, k) / 0.2
    loss = F.cross_entropy(out, q.new_zeros(q.size(0), dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    queue.push(k)
print(queue.ptr.item(), "%.2f" % loss.item())
