import torch, torch.nn as nn

class VQGAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def load_checkpoint(self, path):
        self.load_state_dict(torch.load(path))

class Wrapped(nn.Module):
    def __init__(self, path):
        super().__init__()
        model = nn.DataParallel(VQGAN().cuda())
        model.load_state_dict(torch.load(path))
        self.f = model.module
    def forward(self, x): return self.f.fc(x)

torch.save(nn.DataParallel(VQGAN()).state_dict(), "x.pt")
print(Wrapped("x.pt").cuda()(torch.ones(2, 2).cuda()).shape)
