"""Edits as somebody types them who does not know where it leads."""

from __future__ import annotations

import random


def mutated(text: str, random_: random.Random) -> str:
    """Return a text after one more edit: what is deleted, doubled, moved or written by halves."""
    lines = text.split("\n")
    at = random_.randrange(len(lines))
    match random_.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines.insert(at, random_.choice(lines))
        case 3:
            cut = random_.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut]
        case 4:
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            new = ("x = torch.zeros(3)", "device = 'cuda'", "x = x.cuda()", "pass", "import torch")
            lines.insert(at, indent + random_.choice(new))
        case 5:
            lines[at] += random_.choice(("  # a comment", ")", ".to(device)", ".numpy()"))
        case _:
            lines[at] = lines[at].replace("(", random_.choice(("((", "", "(")), 1)
    return "\n".join(lines)
