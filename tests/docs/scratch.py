"""Projects in which the commands of the documentation run, and the commands that cannot."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]

NOT_RUN = {
    "samedevice batch run repos.toml --engine ray --address auto": "tests/batch/test_engines.py "
    "runs a batch on a Ray cluster; this one would have to be there",
    "samedevice batch run repos.toml --engine ray --address ray://head:10001 --gpus 1 --policy "
    "gpu.toml": "the same, and it needs a GPU",
}
"""Commands that no test runs as they are written, with the reason."""

ELSEWHERE = {
    "docs/proof/editor_session.md": "the record of a session, written by a script",
    "docs/proof/first_five_minutes.md": "the program of a record: `make first-five` runs it",
    "docs/not-the-cause.md": "run by tests/test_not_the_cause.py",
    "docs/cli.md: table": "comments that switch rules off: run by tests/test_suppress.py",
    "docs/cli.md: scratch": "the same",
    "docs/how-to/live.md: import": "run by tests/test_live.py",
    "docs/how-to/rule.md: os": "the line of code that the rule is about",
}
"""Code that is not run here: a page, or what a block of it begins with, and the reason."""
ELSEWHERE |= {
    path.relative_to(ROOT).as_posix(): "run by tests/docs/test_errors.py"
    for folder in ("errors", "questions")
    for path in (ROOT / "docs" / folder).glob("*.md")
}

NEEDS = {"forge -->": "github", "$ samedevice modernize": "bowler", "$ samedevice server": "pygls"}
"""What pages with these words cannot do without."""

_TOOLS = {
    "samedevice": '{python} -m samedevice "$@"',
    "python": '{python} "$@"',
    "pytest": '{python} -m pytest -p no:cacheprovider "$@"',
    # Nothing is installed: pip says whether it could, and warns of an extra that there is not.
    "pip": 'cd {root} && {python} -m pip --disable-pip-version-check "$@" --dry-run --no-deps '
    "--no-build-isolation --quiet",
    "make": 'exec {make} -C {root} --dry-run "$@" > {null}',
}
"""What stands for the programs that pages call."""


def tools(folder: Path) -> None:
    """Write scripts for the programs of `_TOOLS` into a folder, once."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    make = next((path for path in ("/usr/bin/make", "/bin/make") if os.path.exists(path)), "make")
    words = {"python": sys.executable, "root": str(ROOT), "make": make, "null": os.devnull}
    quoted = {name: shlex.quote(word) for name, word in words.items()}
    for name, line in _TOOLS.items():
        (folder / name).write_text(f"#!/bin/sh\n{line.format(**quoted)}\n")
        (folder / name).chmod(0o755)


def adapted(words: list[str], environment: Mapping[str, str]) -> list[str]:
    """Return a command line that finds the forge on this machine instead of the public one."""
    if "FORGE" in environment and words[:1] == ["batch"] and words[1] in ("run", "plan"):
        address = ["--api", environment["FORGE"]] if words[2].startswith("github:") else []
        return [*words, "--allow", "http", *address]
    return words


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")


_BROKEN = """\
    import argparse

    import torch
    from torch import nn

    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    model = nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(8, 2)
    for epoch in range(options.epochs):
        loss = model({x}).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {{epoch}}: {{loss.item():.4f}}")
    """


@contextmanager
def script(folder: Path) -> Iterator[dict[str, str]]:
    """A training script that stops on a GPU, and the traceback with which it does."""
    _write(folder, train=_BROKEN.format(x="x"))
    error = """\
        Traceback (most recent call last):
          File "train.py", line 16, in <module>
            loss = model(x).pow(2).mean()
        RuntimeError: Expected all tensors to be on the same device, but found at least two \
        devices, cuda:0 and cpu!
        """
    for name in ("error.txt", "ERROR.txt"):
        (folder / name).write_text(textwrap.dedent(error))
    (folder / "samedevice-baseline.txt").write_text("")
    yield {}


@contextmanager
def repaired(folder: Path) -> Iterator[dict[str, str]]:
    """The same script, which runs."""
    _write(folder, train=_BROKEN.format(x="x.to(device)"))
    yield {}


@contextmanager
def change(folder: Path) -> Iterator[dict[str, str]]:
    """The script before and after its repair."""
    for name in ("BEFORE", "OLD", "project"):
        _write(folder / name, main=_BROKEN.format(x="x"), train=_BROKEN.format(x="x"))
    for name in ("AFTER", "NEW"):
        _write(folder / name, main=_BROKEN.format(x="x.to(device)"), train=_BROKEN.format(x="x"))
    _write(folder, repaired=_BROKEN.format(x="x.to(device)"), train=_BROKEN.format(x="x"))
    yield {}


@contextmanager
def python2(folder: Path) -> Iterator[dict[str, str]]:
    """A script of 2016."""
    _write(folder, old="""\
        import torch
        x = torch.ones(2).cuda(async=True)
        for i in xrange(2):
            print "sum", x.sum()
        """)  # fmt: skip
    yield {}


@contextmanager
def suite(folder: Path) -> Iterator[dict[str, str]]:
    """A test that needs CUDA."""
    _write(folder, test_it="""\
        import pytest
        torch = pytest.importorskip("torch")

        @pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
        def test_it():
            assert torch.ones(2, device="cuda").is_cuda
        """)  # fmt: skip
    yield {}


@contextmanager
def mask(folder: Path) -> Iterator[dict[str, str]]:
    """A model with a tensor that is no buffer, and a program that runs and waits for copies."""
    _write(folder, model="""\
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)
                self.mask = torch.ones(2)
            def forward(self, x):
                return self.fc(x) * self.mask
        """, train="""\
        import torch
        from model import Net

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        net = Net().to(device)
        x = torch.randn(3, 4)
        net(x.to(device)).sum().backward()
        """, fit="""\
        import torch
        from torch import nn

        torch.manual_seed(0)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        net = nn.Linear(4, 1).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        x = torch.randn(3, 4)
        total = 0.0
        for step in range(12):
            loss = net(x.to(device)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        """)  # fmt: skip
    yield {}


@contextmanager
def ranks(folder: Path) -> Iterator[dict[str, str]]:
    """A program of two processes."""
    _write(folder, train="""\
        import os
        import torch
        import torch.distributed as dist

        dist.init_process_group("nccl")
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        x = torch.ones(1, device=device) * (dist.get_rank() + 1)
        dist.all_reduce(x)
        assert x.item() == 3 and x.device == device
        dist.destroy_process_group()
        """)  # fmt: skip
    yield {}


@contextmanager
def forge(folder: Path) -> Iterator[dict[str, str]]:
    """An organisation on a forge of this machine, and lists of its repositories."""
    sys.path.insert(0, str(ROOT))
    from tests.batch.forge_server import TOKEN, served
    from tests.batch.repositories import FIXABLE, IDENTITY, git, make

    work = folder.parent / "forge"
    for name in ("one", "two"):
        make(work / name, {"train.py": FIXABLE})
        bare = work / "root" / "your-organisation" / f"{name}.git"
        bare.parent.mkdir(parents=True, exist_ok=True)
        git(work, "clone", "-q", "--bare", name, str(bare))
    with served("github") as there:
        there.serve(work / "root")
        address = f"{there.url}/your-organisation/one.git"
        (folder / "LIST").write_text(address + "\n")
        (folder / "repos.toml").write_text(
            f'[[repository]]\nsource = "{address}"\nforge = "github"\napi = "{there.url}"\n'
        )
        tokens = dict.fromkeys(("GITHUB_TOKEN", "GITHUB_ENTERPRISE_TOKEN"), TOKEN)
        yield {"FORGE": there.url, **tokens, **IDENTITY}


PROJECTS: dict[str, Callable[[Path], AbstractContextManager[dict[str, str]]]] = {
    make.__name__: make for make in (script, repaired, change, python2, suite, mask, ranks, forge)
}
"""Each makes a project in a folder, and gives what its commands need in their environment."""
