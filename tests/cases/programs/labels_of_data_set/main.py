import torch, torchvision
import torch.utils.data as Data
torch.manual_seed(0)
train_data = torchvision.datasets.MNIST(root='./mnist/', train=True, transform=torchvision.transforms.ToTensor())
loader = Data.DataLoader(dataset=train_data, batch_size=50)
test_data = torchvision.datasets.MNIST(root='./mnist/', train=False)
test_x = torch.unsqueeze(test_data.test_data, dim=1).type(torch.FloatTensor)[:2000] / 255.
test_y = test_data.test_labels[:2000]
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 10))
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
print((net(test_x).argmax(1) == test_y).sum().item())
