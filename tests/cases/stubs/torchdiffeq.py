import torch


def odeint(func, y0, t, **settings):
    alone = torch.is_tensor(y0)
    state = (y0,) if alone else y0
    t = t.to(state[0].device)
    path = [state]
    for now, then in zip(t[:-1], t[1:], strict=True):
        change = func(now, state[0] if alone else state)
        change = (change,) if alone else change
        state = tuple(y + (then - now) * d for y, d in zip(state, change, strict=True))
        path.append(state)
    found = tuple(torch.stack(each) for each in zip(*path, strict=True))
    return found[0] if alone else found


odeint_adjoint = odeint
