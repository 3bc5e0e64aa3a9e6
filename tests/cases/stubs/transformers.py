"""A little of transformers: models that are read, and perhaps placed, by their library."""

import torch
from torch import nn


class PreTrainedModel(nn.Module):
    """A model that refuses to be moved once its layers are where there was room."""

    placed = False

    @classmethod
    def from_pretrained(cls, name, torch_dtype=None, device_map=None):
        """Return a model, on the accelerator if there is one and it may choose."""
        made = cls()
        if device_map is not None:
            made.to("cuda" if torch.cuda.is_available() else "cpu")
            made.placed = True
        return made

    def to(self, *args, **kwargs):
        """Move the model, unless its library did."""
        if self.placed:
            raise RuntimeError("You can't move a model that has some modules offloaded")
        return super().to(*args, **kwargs)


class OPTForCausalLM(PreTrainedModel):
    """A language model of one layer."""

    def __init__(self):
        super().__init__()
        self.head = nn.Embedding(8, 2)

    def forward(self, ids):
        """Return one number for each token."""
        return self.head(ids).sum(-1)


class ModelOutput(dict):
    """What a model gives: by name, by key and by position."""

    def __getattr__(self, name):
        """Return an entry."""
        return self[name]


class AutoModelForSequenceClassification(PreTrainedModel):
    """A classifier of two classes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.head = nn.Embedding(8, 2)

    def forward(self, input_ids, attention_mask=None, labels=None):
        """Return logits, and a loss if there are labels."""
        rows = self.head(input_ids)
        if attention_mask is not None:
            rows = rows * attention_mask[..., None]
        logits = rows.mean(1)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return ModelOutput(logits=logits, loss=loss)

    def generate(self, input_ids, attention_mask=None, max_new_tokens=1):
        """Return the tokens with some more."""
        more = self(input_ids, attention_mask).logits.argmax(-1, keepdim=True)
        return torch.cat([input_ids] + [more] * max_new_tokens, 1)


class BatchEncoding(dict):
    """Tokens by name, which move together."""

    def __getattr__(self, name):
        """Return an entry."""
        return self[name]

    def to(self, device):
        """Move all tensors."""
        self.update({key: value.to(device) for key, value in self.items()})
        return self


class AutoTokenizer:
    """A tokenizer of letters."""

    @classmethod
    def from_pretrained(cls, name):
        """Return a tokenizer."""
        return cls()

    def __call__(self, texts, return_tensors=None):
        """Return the tokens of some texts, lists unless tensors are asked for."""
        texts = [texts] if isinstance(texts, str) else texts
        ids = [[ord(letter) % 8 for letter in text] for text in texts]
        found = BatchEncoding(input_ids=ids, attention_mask=[[1] * len(row) for row in ids])
        if return_tensors == "pt":
            found.update({key: torch.tensor(value) for key, value in found.items()})
        return found

    def encode(self, text, return_tensors=None):
        """Return the tokens of a text."""
        return self(text, return_tensors=return_tensors)["input_ids"]

    def decode(self, ids):
        """Return letters for tokens, wherever they are."""
        return "".join(chr(97 + int(each)) for each in ids)


class DataCollatorWithPadding:
    """What makes a batch of rows."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, rows):
        """Return the rows as tensors by name."""
        return BatchEncoding({key: torch.stack([row[key] for row in rows]) for key in rows[0]})
