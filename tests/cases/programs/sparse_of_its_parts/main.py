import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.e = nn.Embedding(4, 3)

    def drop(self, x, keep):
        size = x.size()
        index = x.indices().t()
        values = x.values()
        mask = (torch.rand(len(values)) + keep).int().bool()
        index = index[mask]
        values = values[mask] / keep
        return torch.sparse.FloatTensor(index.t(), values, size)

    def forward(self):
        return torch.sparse.mm(self.drop(self.graph, 0.9), self.e.weight)


i = torch.LongTensor([[0, 1, 2], [1, 2, 3]])
v = torch.ones(3)
graph = torch.sparse.FloatTensor(i, v, torch.Size((4, 4))).coalesce().to(device)
net = Net(graph).to(device)
torch.manual_seed(0)
print(net().shape)
