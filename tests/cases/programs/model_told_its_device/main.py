import clip
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model, prepare = clip.load("ViT-B/32", device)
other, _ = clip.load("ViT-B/32")
for text in ("one", "three"):
    tokens = clip.tokenize([text]).to(device)
    print(round((model.encode_text(tokens) - other.encode_text(tokens)).sum().item(), 4))
