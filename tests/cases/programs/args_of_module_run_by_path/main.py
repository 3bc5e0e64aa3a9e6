import argparse, torch
torch.cuda.set_device(0)
print("Using device: {}".format(torch.cuda.get_device_name()))

class A(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4).to(args.device)

def parsing():
    p = argparse.ArgumentParser()
    p.add_argument("-device", type=str, default="cuda:0")
    return p.parse_args([])

def test(args):
    a = A(args).to(args.device)
    print(a.fc(torch.ones(2, 4, device=args.device)).shape)

if __name__ == "__main__":
    test(parsing())
