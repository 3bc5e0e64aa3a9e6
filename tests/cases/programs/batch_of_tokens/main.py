import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
)

rows = load_dataset("x")
tokenizer = AutoTokenizer.from_pretrained("x")
model = AutoModelForSequenceClassification.from_pretrained("x")
model.to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for batch in DataLoader(rows, batch_size=2, collate_fn=DataCollatorWithPadding(tokenizer)):
    loss = model(**batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

right = 0
for batch in DataLoader(rows, batch_size=2):
    outputs = model(**batch)
    labels = batch["labels"]
    right += (outputs.logits.argmax(-1) == labels).sum().item()
print(right)
