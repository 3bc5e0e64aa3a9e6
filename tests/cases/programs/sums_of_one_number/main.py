import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(3, 2).to(device)
out = net(torch.ones(2, 3).to(device)).detach()
total = torch.zeros(())
added = torch.zeros(())
for row in out:
    total = total + row.sum()
    added += row.sum()
print(torch.isclose(total, added).item())
