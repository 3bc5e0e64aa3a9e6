import torch
import torchaudio
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sounds(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        wave, rate = torchaudio.load(f"{index}.wav")
        return wave[0, :3], rate


net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for wave, rate in DataLoader(Sounds(), batch_size=2):
    loss = net(wave).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
wave, rate = torchaudio.load("test.wav")
with torch.no_grad():
    print(net(wave[:, :3]).shape, rate)
