"""A process that runs cases one after the other: on a real GPU, or on the virtual accelerator.

It reads JSON lines {"code", "compare"} and answers {"error": "Type: message" or null}. A real GPU's
numbers are compared with the CPU's loosely.
A process of its own, because torch sets up its autograd threads once, for the devices it then sees.
"""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import sys
import warnings
from typing import Any


def main() -> None:
    """Serve until the input ends; the argument is "virtual" or "real"."""
    if sys.argv[1] == "virtual":
        from samedevice.prove.virtual import install

        install("cuda", 2)
    import torch

    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401  # for the cases that use it
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, io.StringIO()
    for line in sys.stdin:
        job = json.loads(line)
        try:
            result = _run(job["code"], "cuda")
            error = None
            if job["compare"]:
                exact = job["compare"] == "same" and sys.argv[1] == "virtual"
                difference = _difference(result, _run(job["code"], "cpu"), exact)
                error = difference and f"AssertionError: {difference}"
        except Exception as caught:
            names = [kind.__name__ for kind in type(caught).__mro__]
            error = f"{'/'.join(names)}: {caught}"
        print(json.dumps({"error": error}), file=answers, flush=True)


def _run(code: str, device: str) -> Any:
    import torch
    from torch import nn

    torch.manual_seed(1)
    host = torch.arange(1.0, 7.0).view(2, 3)
    names: dict[str, Any] = {
        "torch": torch,
        "nn": nn,
        "F": nn.functional,
        "np": sys.modules.get("numpy"),
        "io": io,
        "pickle": pickle,
        "D": device,
        "h": host,
        "d": host.to(device, copy=True),
        "H0": torch.tensor(2.0),
        "D0": torch.tensor(2.0, device=device),
    }
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_default_device, None)
        exec(compile(code, "<case>", "exec"), names)
    return names.get("r")


def _difference(one: Any, two: Any, exact: bool, where: str = "r") -> str | None:
    """Say where two results differ, if they do. Devices are not compared."""
    import torch

    if isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor):
        one, two = one.detach().cpu(), two.detach().cpu()
        if one.shape != two.shape or one.dtype != two.dtype:
            return f"{where}: {one.dtype} {tuple(one.shape)} against {two.dtype} {tuple(two.shape)}"
        if exact:
            same = torch.equal(one, two) or torch.allclose(one, two, rtol=0, atol=0, equal_nan=True)
        else:
            same = torch.allclose(one, two, rtol=1e-2, atol=1e-4, equal_nan=True)
        return None if same else f"{where}: {one} against {two}"
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        if len(one) != len(two):
            return f"{where}: {len(one)} against {len(two)} parts"
        found = (
            _difference(a, b, exact, f"{where}[{place}]")
            for place, (a, b) in enumerate(zip(one, two, strict=True))
        )
        return next((text for text in found if text), None)
    return None if one == two else f"{where}: {one} against {two}"


if __name__ == "__main__":
    main()
