import torch
import torch.nn as nn


def empty_stat(latent_vecs, indices):
    lat = torch.zeros(0).cuda()
    for i in indices:
        lat = torch.cat([lat, latent_vecs[i]])
    return lat.mean()


def main():
    model = nn.Linear(3, 1).cuda()
    print(model(torch.ones(2, 3).cuda()).shape)


if __name__ == "__main__":
    main()
