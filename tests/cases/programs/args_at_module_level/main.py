import argparse, torch

torch.cuda.set_device(0)
print("Using device: {}".format(torch.cuda.get_device_name()))

def test(args):
    fc = torch.nn.Linear(4, 4).to(args.device)
    print(fc(torch.ones(2, 4, device=args.device)).shape)

if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args([])
    if torch.cuda.is_available():
        args.device = torch.device("cuda")
    else:
        args.device = torch.device("cpu")
    test(args)
