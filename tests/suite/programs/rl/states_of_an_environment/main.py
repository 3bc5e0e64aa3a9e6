import random

import numpy as np
import torch

from agent import DQNAgent

if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent = DQNAgent(4, 3, device)
    state = rng.randn(4)
    for t in range(20):
        action = agent.act(state, eps=0.3)
        nxt = rng.randn(4)
        agent.push(state, action, float(action == 1), nxt, t % 7 == 6)
        state = nxt
        if t >= 12 and t % 2 == 0:
            print(t, "%.4f" % agent.learn(8))
