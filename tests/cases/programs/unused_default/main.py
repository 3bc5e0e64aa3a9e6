import torch

def train(epochs=100, device: str = "cuda:1"):
    net = torch.nn.Linear(2, 2).to(device)
    print(net(torch.ones(2, 2).to(device)).shape)

if __name__ == "__main__":
    train()
