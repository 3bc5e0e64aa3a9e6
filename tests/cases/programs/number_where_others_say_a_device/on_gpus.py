import torch
import torch.multiprocessing as mp
from worker import work

if __name__ == "__main__":
    count = torch.cuda.device_count()
    mp.spawn(work, args=(count,), nprocs=count)
