import torch
from torch import nn


class Node:
    def __init__(self, value, following=None):
        self.value = torch.tensor([float(value)])
        self.following = following


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
cell = nn.RNNCell(1, 3).to(device)
node, h = Node(1, Node(2, Node(3))), torch.zeros(1, 3, device=device)
while node is not None:
    h = cell(node.value.unsqueeze(0), h)
    node = node.following
print(f"{h.sum().item():.4f}")
