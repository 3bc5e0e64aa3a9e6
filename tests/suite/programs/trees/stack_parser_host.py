import torch
from torch import nn

torch.manual_seed(0)
embed, reduce_, score = nn.Embedding(6, 4), nn.Linear(8, 4), nn.Linear(4, 2)
opt = torch.optim.SGD([*embed.parameters(), *reduce_.parameters(), *score.parameters()], lr=0.1)
for step in range(4):
    stack = []
    for token in [1, 2, "r", 3, "r"]:
        if token == "r":
            right, left = stack.pop(), stack.pop()
            stack.append(torch.tanh(reduce_(torch.cat([left, right]))))
        else:
            stack.append(embed(torch.tensor(token)))
    loss = nn.functional.cross_entropy(score(stack[0])[None], torch.tensor([1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
