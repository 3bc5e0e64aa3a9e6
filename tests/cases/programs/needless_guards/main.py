import argparse, torch

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpu_index", default=0, type=int)
    args = p.parse_args()
    if torch.cuda.is_available():
        args.device = torch.device("cuda")
    else:
        args.device, args.gpu_index = torch.device("cpu"), -1
    # a no-op if 'gpu_index' is negative
    with torch.cuda.device(args.gpu_index):
        print(torch.nn.Linear(2, 2).to(args.device)(torch.ones(1, 2).to(args.device)).shape)

main()
