"""Semi-supervised classification on a graph: a sparse adjacency matrix and index masks."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(42)
torch.manual_seed(42)
cuda = torch.cuda.is_available()
if cuda:
    torch.cuda.manual_seed(42)
n = 20
edges = np.random.randint(0, n, (2, 60))
adj = torch.sparse_coo_tensor(torch.from_numpy(edges), torch.full((60,), 0.2), (n, n))
features, labels = torch.rand(n, 10), torch.randint(3, (n,))
train, test = torch.arange(12), torch.arange(12, n)


class GraphConvolution(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fin, fout))
        self.bias = nn.Parameter(torch.zeros(fout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return torch.spmm(adj, torch.mm(x, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(10, 8), GraphConvolution(8, 3)

    def forward(self, x, adj):
        x = F.dropout(F.relu(self.gc1(x, adj)), 0.5, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
if cuda:
    model.cuda()
    features, adj, labels = features.cuda(), adj.cuda(), labels.cuda()
    train, test = train.cuda(), test.cuda()
for epoch in range(5):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss = F.nll_loss(output[train], labels[train])
    loss.backward()
    optimizer.step()
    model.eval()
    output = model(features, adj)
    correct = output[test].max(1)[1].type_as(labels).eq(labels[test]).double().sum()
    print(epoch, repr(loss.item()), correct.item())
