import torch

from model import Config, Transformer


@torch.inference_mode()
def generate(model, prompts, new_tokens):
    longest = max(len(p) for p in prompts)
    tokens = torch.zeros(len(prompts), longest + new_tokens, dtype=torch.long)
    for i, p in enumerate(prompts):
        tokens[i, :len(p)] = torch.tensor(p)
    given = tokens != 0
    model.setup_cache(len(prompts))
    prev = 0
    for cur in range(min(len(p) for p in prompts), tokens.shape[1]):
        logits = model(tokens[:, prev:cur], prev)[:, -1]
        nxt = logits.argmax(-1)
        tokens[:, cur] = torch.where(given[:, cur], tokens[:, cur], nxt)
        prev = cur
    model.clear_cache()
    return tokens.tolist()


def main():
    torch.manual_seed(0)
    cfg = Config()
    model = Transformer(cfg)
    opt = torch.optim.Adam(model.parameters(), 5e-3)
    data = torch.stack([torch.arange(s, s + 9) % 19 + 1 for s in range(19)])
    for it in range(20):
        rows = torch.randint(0, 19, (8,))
        x, y = data[rows, :-1], data[rows, 1:]
        _, loss = model(x, targets=y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    print(f"loss {loss.item():.2f}")
    for row in generate(model.eval(), [[3, 4, 5], [7, 8]], 4):
        print(len(row), row[:2])


if __name__ == "__main__":
    main()
