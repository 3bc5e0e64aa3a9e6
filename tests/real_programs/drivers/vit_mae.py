"""Two steps of the masked autoencoder of FrancoisPorcher/vit-pytorch."""

import torch
from architectures.mae import MAE
from architectures.vit import ViT

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
vit = ViT(image_size=32, patch_size=8, num_classes=4, dim=16, depth=1, heads=2, mlp_dim_ratio=2)
mae = MAE(encoder=vit, masking_ratio=0.75, decoder_dim=8, decoder_depth=1, decoder_heads=2).to(
    device
)
optimizer = torch.optim.Adam(mae.parameters())
for _ in range(2):
    images = torch.ones(2, 3, 32, 32)
    optimizer.zero_grad()
    out = vit(images.to(device))["classification_head_logits"].mean()
    out.backward()
    optimizer.step()
    print(out.item())
