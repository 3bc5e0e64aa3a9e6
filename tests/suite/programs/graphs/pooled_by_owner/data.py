import random
from dataclasses import dataclass
from typing import List, Optional

import torch


@dataclass
class Graph:
    x: torch.Tensor
    edges: torch.Tensor
    y: int
    batch: Optional[torch.Tensor] = None
    num_graphs: int = 1


def random_graph():
    n = random.randint(3, 6)
    e = [(i, random.randrange(n)) for i in range(n) for _ in range(2)]
    return Graph(torch.randn(n, 4), torch.tensor(e).t(), n % 2)


def merge(graphs: List[Graph]) -> Graph:
    xs, es, owner, off = [], [], [], 0
    for k, g in enumerate(graphs):
        xs.append(g.x)
        es.append(g.edges + off)
        owner.extend([k] * len(g.x))
        off += len(g.x)
    out = Graph(torch.cat(xs), torch.cat(es, 1), torch.tensor([g.y for g in graphs]), torch.tensor(owner))
    out.num_graphs = len(graphs)
    return out
