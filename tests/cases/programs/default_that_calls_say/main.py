import torch
from torch import nn

from flow import Flow


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(3, 3).to(device)
    flow = Flow()
    loss = flow.loss(model, torch.ones(2, 3).to(device))
    loss.backward()
    print(flow.sample(model).shape, flow.sample(model, 4, device=device).shape)


if __name__ == "__main__":
    main()
