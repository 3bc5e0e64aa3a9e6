import torch
from torch.cuda.amp import autocast

class Callback:
    def __init__(self, cuda):
        self.cuda = cuda
    def on_end(self, model, image):
        images = torch.from_numpy(image)
        if self.cuda:
            images = images.cuda()
        return model(images)

def fit(model, callback, imgs, cuda, rank=0):
    if cuda: imgs = imgs.cuda(rank)
    with autocast():
        out = model(imgs)
    if rank == 0: callback.on_end(model, imgs.cpu().numpy())
    return out

def main(rank=1):
    Cuda = True
    model = torch.nn.Linear(4, 1).cuda(rank)
    callback = Callback(Cuda) if rank == 0 else None
    print(fit(model, callback, torch.ones(2, 4), Cuda, rank).shape)

if __name__ == "__main__":
    main(0)
    main(1)
