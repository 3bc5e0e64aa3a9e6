import numpy as np
import torch
from torch import nn


class TorchClassifier:
    """fit / predict / score, like scikit-learn."""

    def __init__(self, hidden=8, lr=0.05, epochs=4, weights=None):
        self.hidden, self.lr, self.epochs = hidden, lr, epochs
        self.weights = weights
        self.history_ = []

    def _build(self, n_in, n_out):
        return nn.Sequential(nn.Linear(n_in, self.hidden), nn.ReLU(), nn.Linear(self.hidden, n_out))

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_, self.scale_ = X.mean(0), X.std(0) + 1e-8
        X = torch.as_tensor((X - self.mean_) / self.scale_, dtype=torch.float32)
        y = torch.as_tensor(np.searchsorted(self.classes_, y))
        self.model_ = self._build(X.shape[1], len(self.classes_))
        w = None if self.weights is None else torch.tensor(self.weights, dtype=torch.float32)
        opt = torch.optim.Adam(self.model_.parameters(), self.lr)
        for _ in range(self.epochs):
            perm = torch.randperm(len(X))
            for idx in perm.split(10):
                loss = nn.functional.cross_entropy(self.model_(X[idx]), y[idx], weight=w)
                opt.zero_grad()
                loss.backward()
                opt.step()
            self.history_.append(loss.item())
        return self

    @torch.no_grad()
    def predict_proba(self, X):
        self.model_.eval()
        X = torch.from_numpy((X - self.mean_) / self.scale_).float()
        return torch.softmax(self.model_(X), 1).numpy()

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(1)]

    def score(self, X, y):
        return float((self.predict(X) == y).mean())


torch.manual_seed(0)
rng = np.random.RandomState(0)
X = rng.randn(40, 4)
y = np.where(X[:, 0] > 0, 3, 7)
clf = TorchClassifier(weights=[1.0, 2.0]).fit(X, y)
print(["%.3f" % h for h in clf.history_], round(clf.score(X, y), 2))
