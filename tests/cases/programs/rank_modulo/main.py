import os, torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from diffusers.models import AutoencoderKL

def main():
    assert torch.cuda.is_available(), "Training currently requires at least one GPU."
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    device = rank % torch.cuda.device_count()
    torch.cuda.set_device(device)
    model = DDP(nn.Linear(4, 4).to(device), device_ids=[rank])
    vae = AutoencoderKL.from_pretrained("x").to(device)
    x = torch.randn(2, 4).to(device)
    print(model(vae.encode(x).latent_dist.sample()).shape)

os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29518", RANK="0", WORLD_SIZE="1")
main()
