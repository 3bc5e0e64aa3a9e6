import torch


def train(steps, model, args):
    if args.cuda:
        model.cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in steps:
        if args.cuda:
            x = x.cuda()
        optimizer.zero_grad()
        loss = model(x).abs()
        loss.backward()
        optimizer.step()
        print(loss.item() >= 0)
