import inspect
import sys

import torch
from torch import nn


def command(function):
    """Run a function with what the command line says, of the types that it tells."""
    for parameter in inspect.signature(function).parameters.values():
        assert isinstance(parameter.annotation, type), parameter
    return function


@command
def main(steps: int = 2, device: str = "cuda"):
    torch.manual_seed(0)
    model = nn.Linear(3, 1).to(device)
    for _ in range(steps):
        print(model(torch.rand(2, 3).to(device)).sum().item())


main(device="cuda" if torch.cuda.is_available() else "cpu")
if len(sys.argv) > 1:
    main(int(sys.argv[1]))
