import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 4)

    @torch.no_grad()
    def generate(self, x):
        found = [x]
        for _ in range(2):
            found.append(self.table(found[-1]).argmax(-1))
        return torch.cat(found, 1)


def build():
    torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
    model = Model()
    torch.set_default_device("cpu")
    return model


def main():
    torch.manual_seed(0)
    device = torch.device("cuda")
    model = build().to(device)
    out = model.generate(torch.LongTensor([[1, 2]]).to(device))
    assert (out.cpu()[:, :2] == torch.LongTensor([[1, 2]])).all()
    print(out.shape)


if __name__ == "__main__":
    main()
