"""Run many small programs in one process on the virtual accelerator, and say how each ended.

Reads paths of programs, one a line, from standard input; writes a line of JSON for each: "" where
it ran to its end, or the type and message of what ended it. Each program is a module of its own.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys

from samedevice.prove.virtual import install


def ended(path: str) -> str:
    """Run a program; return what ended it, or nothing."""
    import torch

    name = f"program_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look for it there
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            spec.loader.exec_module(module)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
    return ""


def main() -> None:
    """Run what standard input names."""
    import torch

    torch.set_num_threads(1)
    install("cuda")
    answers = sys.stdout
    for line in iter(sys.stdin.readline, ""):
        print(json.dumps(ended(line.rstrip("\n"))), file=answers, flush=True)


if __name__ == "__main__":
    main()
