class Vocab:
    PAD, BOS, EOS = 0, 1, 2

    def __init__(self, words):
        self.itos = ["<pad>", "<s>", "</s>"] + sorted(set(words))
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, s):
        return [self.BOS] + [self.stoi[w] for w in s.split()] + [self.EOS]

    def decode(self, ids):
        return " ".join(self.itos[i] for i in ids if i > 2)
