import torch
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("x").cuda()
ids = torch.tensor([[1, 2], [3, 4]]).cuda()
outputs = model(ids)
target = torch.tensor([0, 1])
print((outputs.logits.argmax(-1) == target).sum().item())
print(outputs["logits"].argmax(-1).numpy())
