import time

import torch
from kernels.rows import Rows

x = torch.ones(8, 3).cuda()
torch.cuda.synchronize()
start = time.time()
y = Rows.apply(x)
torch.cuda.synchronize()
print(time.time() - start, torch.rand(3, device="cuda"))
