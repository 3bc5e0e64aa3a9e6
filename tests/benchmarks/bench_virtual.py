"""Time operations on the virtual accelerator against the CPU: `python bench_virtual.py [--json]`.

Processor time, best of five, of small operations (where the overhead shows), a training step and a
larger product (where it does not). The aim for small operations: less than ten times the CPU's.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from samedevice.prove.virtual import install

SMALL = {
    "x + x": lambda x: x + x,
    "x * 2": lambda x: x * 2,
    "x.add_(1)": lambda x: x.add_(1),
    "x.view(-1)": lambda x: x.view(-1),
    "x[0]": lambda x: x[0],
    "x.sum()": lambda x: x.sum(),
    "x.relu()": lambda x: x.relu(),
    "x.softmax(1)": lambda x: x.softmax(1),
    "x @ x.T": lambda x: x @ x.T,
    "x.clone()": lambda x: x.clone(),
    "x.double()": lambda x: x.double(),
    "x.T.contiguous()": lambda x: x.T.contiguous(),
    "x[x > 0]": lambda x: x[x > 0],
    "torch.cat([x, x])": lambda x: torch.cat([x, x]),
    "torch.zeros(3)": lambda x: torch.zeros(3, device=x.device),
    "torch.randn(3)": lambda x: torch.randn(3, device=x.device),
    "layer_norm": lambda x: nn.functional.layer_norm(x, (3,)),
}


def microseconds(call: Callable[[], Any], times: int) -> float:
    """Return the processor time of one call, the best of five rounds of `times`."""
    rounds = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(times):
            call()
        rounds.append((time.process_time() - start) / times)
    return min(rounds) * 1e6


def _step(device: str) -> Callable[[], Any]:
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.ones(32, 64, device=device)

    def step() -> None:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()

    return step


def main() -> None:
    """Print one line for each measurement, or all of them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    install("cuda")
    installed = (time.process_time() - start) * 1e3
    host = torch.arange(6.0).view(2, 3)
    device = host.cuda()
    measured = {}
    for name, call in SMALL.items():
        measured[name] = (
            microseconds(lambda call=call: call(host), 1000),
            microseconds(lambda call=call: call(device), 1000),
        )
    measured["training step, 3 layers"] = (
        microseconds(_step("cpu"), 30),
        microseconds(_step("cuda"), 30),
    )
    large = torch.ones(512, 512)
    on_device = large.cuda()
    measured["512 x 512 product"] = (
        microseconds(lambda: large @ large, 5),
        microseconds(lambda: on_device @ on_device, 5),
    )
    if options.json:
        print(json.dumps({"install_ms": installed, "us": measured}))
        return
    print(f"torch {torch.__version__}; install: {installed:.0f} ms")
    print(f"{'':26}{'CPU':>10}{'virtual':>10}{'ratio':>8}")
    for name, (one, two) in measured.items():
        print(f"{name:26}{one:8.2f}us{two:8.2f}us{two / one:8.1f}")


if __name__ == "__main__":
    main()
