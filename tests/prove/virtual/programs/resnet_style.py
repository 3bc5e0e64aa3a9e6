"""Image classification with residual blocks, meters, accuracy, and a state that is resumed."""

import argparse
import io
import time

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()
torch.manual_seed(2)
device = torch.device("cuda") if use_cuda else torch.device("cpu")
if use_cuda:
    cudnn.deterministic = True


class Basic(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(
                nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


net = nn.Sequential(
    Basic(3, 4), Basic(4, 8, 2), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(8, 5)
).to(device)
if use_cuda:
    net = nn.DataParallel(net)
criterion = nn.CrossEntropyLoss().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1])
data = torch.utils.data.TensorDataset(torch.randn(24, 3, 8, 8), torch.randint(5, (24,)))
train = torch.utils.data.DataLoader(data, 8, shuffle=True, drop_last=True)


def accuracy(output, target, topk=(1, 2)):
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [
            correct[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / target.size(0)).item()
            for k in topk
        ]


for epoch in range(2):
    net.train()
    end = time.time()
    for images, target in train:
        images, target = images.to(device, non_blocking=True), target.to(device, non_blocking=True)
        output = net(images)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert time.time() >= end
        print(repr(loss.item()), accuracy(output, target))
    scheduler.step()
    net.eval()
    confusion = torch.zeros(5, 5)
    with torch.no_grad():
        for images, target in train:
            guess = net(images.to(device)).argmax(1)
            for t, p in zip(target.view(-1), guess.view(-1)):
                confusion[t.long(), p.long()] += 1
    print(int(confusion.sum()))
    buffer = io.BytesIO()
    torch.save({"net": net.state_dict(), "rng": torch.get_rng_state()}, buffer)
    buffer.seek(0)
    state = torch.load(buffer, map_location="cpu")
    net.load_state_dict(state["net"])
    torch.set_rng_state(state["rng"])
