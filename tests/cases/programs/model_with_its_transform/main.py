import open_clip
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model, _, prepare = open_clip.create_model_and_transforms("ViT-B-32")
tokens = open_clip.tokenize(["one", "three"]).to(device)
print(round(model.encode_text(tokens).sum().item(), 4))
