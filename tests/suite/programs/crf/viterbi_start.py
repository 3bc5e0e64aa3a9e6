import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.tags = tags
        self.move = nn.Parameter(torch.randn(tags, tags))

    def decode(self, feats):
        score = torch.full((self.tags,), -1e4)
        score[0] = 0
        back = []
        for feat in feats:
            best, index = (score.unsqueeze(0) + self.move).max(1)
            back.append(index)
            score = best + feat
        path = [score.argmax().item()]
        for index in reversed(back):
            path.append(index[path[-1]].item())
        return path[::-1]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dec = Decoder(4).to(device)
print(dec.decode(torch.randn(6, 4, device=device)))
