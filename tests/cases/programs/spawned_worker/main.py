import argparse, numpy as np, torch, torch.nn as nn, torch.multiprocessing as mp

def mutate(net, seed):
    np.random.seed(seed)
    for p in net.parameters():
        p.data += torch.from_numpy(np.random.normal(size=p.data.size()).astype(np.float32))
    return net

def worker(q, device="cpu"):
    torch.manual_seed(0)
    net = mutate(nn.Linear(2, 1), 1).to(device)
    q.put(float(net(torch.ones(1, 2).to(device)).sum()))

if __name__ == "__main__":
    mp.set_start_method("spawn")
    a = argparse.ArgumentParser(); a.add_argument("--cuda", action="store_true"); args = a.parse_args()
    device = "cuda" if args.cuda else "cpu"
    q = mp.Queue(); w = mp.Process(target=worker, args=(q, device)); w.start(); print(q.get(timeout=15)); w.join()
