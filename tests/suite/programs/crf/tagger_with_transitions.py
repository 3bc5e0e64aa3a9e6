import torch
from torch import nn

START, STOP = "<s>", "</s>"
TAGS = {"B": 0, "I": 1, START: 2, STOP: 3}


def log_sum_exp(vec):
    top = vec[0, vec.argmax(1).item()]
    return top + (vec - top.view(1, -1).expand(1, vec.size(1))).exp().sum().log()


class Tagger(nn.Module):
    def __init__(self, vocab, hidden=4):
        super().__init__()
        self.hidden_dim = hidden
        self.embeds = nn.Embedding(vocab, 5)
        self.lstm = nn.LSTM(5, hidden // 2, bidirectional=True)
        self.to_tag = nn.Linear(hidden, len(TAGS))
        self.transitions = nn.Parameter(torch.randn(len(TAGS), len(TAGS)))
        self.transitions.data[TAGS[START], :] = -10000
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return torch.randn(2, 1, self.hidden_dim // 2), torch.randn(2, 1, self.hidden_dim // 2)

    def features(self, sentence):
        self.hidden = self.init_hidden()
        out, self.hidden = self.lstm(self.embeds(sentence).view(len(sentence), 1, -1), self.hidden)
        return self.to_tag(out.view(len(sentence), -1))

    def partition(self, feats):
        alphas = torch.full((1, len(TAGS)), -10000.0)
        alphas[0][TAGS[START]] = 0.0
        for feat in feats:
            steps = []
            for tag in range(len(TAGS)):
                emit = feat[tag].view(1, -1).expand(1, len(TAGS))
                steps.append(log_sum_exp(alphas + self.transitions[tag].view(1, -1) + emit).view(1))
            alphas = torch.cat(steps).view(1, -1)
        return log_sum_exp(alphas + self.transitions[TAGS[STOP]])

    def gold(self, feats, tags):
        score = torch.zeros(1)
        tags = torch.cat([torch.tensor([TAGS[START]], dtype=torch.long), tags])
        for i, feat in enumerate(feats):
            score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return score + self.transitions[TAGS[STOP], tags[-1]]

    def nll(self, sentence, tags):
        feats = self.features(sentence)
        return self.partition(feats) - self.gold(feats, tags)


torch.manual_seed(1)
model = Tagger(8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
pairs = [([1, 2, 3, 4], [0, 1, 1, 0]), ([5, 6, 7], [1, 0, 1])]
for epoch in range(2):
    for words, tags in pairs:
        model.zero_grad()
        loss = model.nll(torch.tensor(words), torch.tensor(tags, dtype=torch.long))
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.3f}")
