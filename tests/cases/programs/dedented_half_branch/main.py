import torch
torch.manual_seed(0)
model, sparse = torch.nn.Linear(4, 2), False
features, adj, labels = torch.ones(3, 4), torch.eye(3), torch.zeros(3)

if torch.cuda.is_available():
    print("Using CUDA")
    model.cuda()
    features = features.cuda()
    if not sparse:
        adj = adj.cuda()
    labels = labels.cuda()

print(model(adj @ features).sum() + labels.sum())
