import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Sequential()
        self.fc.add_module("fc1", torch.nn.Linear(2, 2))
    def forward(self, x):
        return self.fc(x)
torch.manual_seed(0)
x = torch.randn(4, 2)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
print(model(x).sum().item())
