import argparse
import os
import random
import time

import torch
import torch.nn as nn
import torch.backends.cudnn as cudnn

parser = argparse.ArgumentParser(description="training")
parser.add_argument("--gpu", default=0, type=int)
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("--seed", default=0, type=int)
best_acc1 = 0


class AverageMeter(object):
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {avg" + self.fmt + "}").format(**self.__dict__)


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / target.size(0)) for k in topk]


def main():
    global best_acc1
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.cuda.set_device(args.gpu)
    model = nn.Sequential(nn.Conv2d(3, 6, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 9, 4))
    model = model.cuda(args.gpu)
    criterion = nn.CrossEntropyLoss().cuda(args.gpu)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    cudnn.benchmark = True
    x, y = torch.rand(48, 3, 8, 8), torch.randint(4, (48,))
    ds = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(ds, batch_size=16, shuffle=False, num_workers=0, pin_memory=True)
    for epoch in range(args.epochs):
        train(loader, model, criterion, optimizer, epoch, args)
        acc1 = validate(loader, model, criterion, args)
        best_acc1 = max(acc1, best_acc1)
    print("best %.3f" % float(best_acc1))


def train(loader, model, criterion, optimizer, epoch, args):
    losses, top1 = AverageMeter("Loss", ":.4f"), AverageMeter("Acc", ":6.2f")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        images = images.cuda(args.gpu, non_blocking=True)
        target = target.cuda(args.gpu, non_blocking=True)
        output = model(images)
        loss = criterion(output, target)
        acc1, = accuracy(output, target)
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0].item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, losses, top1)


def validate(loader, model, criterion, args):
    top1 = AverageMeter("Acc@1", ":6.2f")
    model.eval()
    with torch.no_grad():
        for images, target in loader:
            images = images.cuda(args.gpu, non_blocking=True)
            target = target.cuda(args.gpu, non_blocking=True)
            acc1, = accuracy(model(images), target)
            top1.update(acc1[0], images.size(0))
    return top1.avg


if __name__ == "__main__":
    main()
