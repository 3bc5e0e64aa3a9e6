import torch
torch.manual_seed(0)
vocoder, m = torch.nn.Linear(2, 2), torch.ones(1, 2)
vocoder.eval()
if torch.cuda.is_available():
    vocoder = vocoder.cuda()
    mel = m.cuda()
else:
    mel = m
with torch.no_grad():
    print(vocoder(mel))
if torch.cuda.is_available():
    vocoder = vocoder.cuda()
    out = m.cuda()
print(vocoder(out))
