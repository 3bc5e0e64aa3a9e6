import numpy as np
import torch


class Buffer:
    def __init__(self, n_obs, n_act, size):
        self.s = np.zeros((size, n_obs), np.float32)
        self.a = np.zeros((size, n_act), np.float32)
        self.r = np.zeros((size, 1), np.float32)
        self.s2 = np.zeros((size, n_obs), np.float32)
        self.d = np.zeros((size, 1), np.float32)
        self.size, self.n = size, 0

    def add(self, s, a, r, s2, d):
        i = self.n % self.size
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.n += 1

    def sample(self, k):
        idx = np.random.randint(0, min(self.n, self.size), k)
        return {name: torch.as_tensor(getattr(self, name)[idx]) for name in ("s", "a", "r", "s2", "d")}
