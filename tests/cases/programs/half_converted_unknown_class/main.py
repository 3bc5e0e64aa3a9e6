import sys, torch
sys.path.append("..")
from mamba import MambaBlock        # a file of another folder

model = MambaBlock(4).to("cuda")
x = torch.randn(2, 4).to("cuda")
print(model(x).shape)
