import os, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, rank, loader):
        self.rank, self.loader = rank, loader
        dist.init_process_group("nccl", rank=rank, world_size=1)
        self.model = DDP(torch.nn.Linear(4, 4).to(self.rank), device_ids=[self.rank])

    def train(self):
        for fgr, pha, bgr in self.loader:
            fgr, bgr = self.step(fgr, pha, bgr)

    def step(self, fgr, pha, bgr):
        fgr = fgr.to(self.rank, non_blocking=True)
        pha = pha.to(self.rank, non_blocking=True)
        bgr = bgr.to(self.rank, non_blocking=True)
        return self.model(fgr * pha + bgr * (1 - pha)), bgr

if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29517")
    Trainer(0, [(torch.ones(2, 4), torch.ones(2, 4), torch.zeros(2, 4))]).train()
    print("done")
