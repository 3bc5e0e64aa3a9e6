from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("x")
model = AutoModelForSequenceClassification.from_pretrained("x").to("cuda")


def answer(text):
    inputs = tokenizer(text, return_tensors="pt")
    out = model.generate(**inputs, max_new_tokens=3)
    return tokenizer.decode(out[0])


def classify(text):
    return model(tokenizer.encode(text, return_tensors="pt")).logits.argmax(-1).item()


print(answer("abc"), classify("bcd"))
