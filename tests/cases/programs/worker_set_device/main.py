import os, torch
import torch.multiprocessing as mp

def gen_worker(Q, physics_device):
    os.environ["CUDA_VISIBLE_DEVICES"] = f"{physics_device}"
    torch.cuda.set_device(0)
    print(f"Generation worker process uses GPU {physics_device}")
    Q.put(torch.ones(1).item())

if __name__ == "__main__":
    mp.set_start_method("spawn")
    Q = mp.Queue()
    mp.Process(target=gen_worker, args=(Q, 1)).start()
    print(Q.get(timeout=20))
