import torch
from torch import nn

BATCH = 16
n_gpus = torch.cuda.device_count()
per_gpu = BATCH // n_gpus
torch.manual_seed(0)
model = nn.DataParallel(nn.Linear(4, 2)).cuda()
x = torch.randn(BATCH, 4).cuda()
for part in x.split(per_gpu):
    y = model(part)
print(y.shape)
