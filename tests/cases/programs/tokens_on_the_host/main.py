import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tokenizer = AutoTokenizer.from_pretrained("x")
model = AutoModelForSequenceClassification.from_pretrained("x").to(device)

lists = tokenizer(["abc", "bcd"])
ids = torch.tensor(lists["input_ids"], device=device)
print(model(ids).logits.argmax(-1).tolist())

inputs = tokenizer(["abc"], return_tensors="pt")
length = inputs["attention_mask"].sum(-1)
print(length.numpy())
print(model(**inputs.to(device)).logits.argmax(-1).tolist())
for text in ("ab", "ba"):
    inputs = {key: value.to(device) for key, value in tokenizer(text, return_tensors="pt").items()}
    print(tokenizer.decode(model.generate(**inputs)[0]))
