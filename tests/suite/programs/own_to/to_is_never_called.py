import torch
from torch import nn


class Graph:
    def __init__(self, nodes, adjacency):
        self.nodes = nodes
        self.adjacency = adjacency

    def to(self, device):
        return Graph(self.nodes.to(device), self.adjacency.to(device))


def random_graph(n):
    return Graph(torch.randn(n, 4), (torch.rand(n, n) > 0.5).float())


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layer = nn.Linear(4, 4).to(device)
for n in (3, 5):
    graph = random_graph(n)
    print(n, f"{(graph.adjacency @ layer(graph.nodes)).relu().mean().item():.4f}")
