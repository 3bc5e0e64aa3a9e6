"""What maintainers wrote by hand, beside what samedevice writes.

``python -m tests.real_programs.yardstick --git GITDIR --out DIR`` takes every commit in which
pytorch/examples was moved to a device-agnostic form, runs samedevice on the parent's files and
leaves, per commit, ``maintainers.diff``, ``samedevice.diff`` and ``samedevice.log`` in ``DIR``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .examine import difference_of
from .stage import fix

REPOSITORY = "pytorch/examples"
COMMITS = (
    "8393ceb",  # fast_neural_style: XPU
    "65afde6",  # fast_neural_style
    "65722fe",  # mnist, mnist_forward_forward, mnist_rnn
    "2c435c7",  # gat
    "b7aebb5",  # distributed/tensor_parallelism, one example
    "12dc18e",  # siamese_network
    "54e132e",  # vae
    "cc8e404",  # dcgan
    "dcc2474",  # imagenet
    "fcce71c",  # vae, siamese_network: the option's default turned round again
    "6f61614",  # super_resolution
    "d47f0f3",  # gcn
    "3302012",  # distributed/ddp
    "6bfe651",  # distributed/tensor_parallelism, two examples
    "f8c79f1",  # distributed/tensor_parallelism, logging
    "997c123",  # distributed/tensor_parallelism, FSDP
    "698a89e",  # distributed/minGPT-ddp
    "e9a4e75",  # distributed/rpc
    "5a4ca92",  # distributed/FSDP2
    "28e5864",  # word_language_model
)


def main() -> int:
    """Write both diffs of every commit and print how long they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--git", required=True, help=f"git directory of {REPOSITORY}")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="one commit")
    parser.add_argument("options", nargs="*", help="options for samedevice fix, after --")
    options = parser.parse_args()
    for commit in COMMITS:
        if commit.startswith(options.only):
            print(_one(options.git, commit, options.out / commit, tuple(options.options)))
    return 0


def _one(git: str, commit: str, out: Path, options: tuple[str, ...]) -> str:
    out.mkdir(parents=True, exist_ok=True)
    shown = _git(git, "show", "--format=", "--no-renames", commit, "--", "*.py")
    (out / "maintainers.diff").write_bytes(shown)
    names = (
        _git(git, "diff", "--name-only", "--no-renames", f"{commit}^", commit, "--", "*.py")
        .decode()
        .split()
    )
    with TemporaryDirectory() as scratch:
        before, after = Path(scratch) / "before", Path(scratch) / "after"
        for folder in sorted({str(Path(name).parent) for name in names}):
            # The whole folder: the example is a project, of which the commit changed some files.
            listed = _git(git, "ls-tree", "-r", "--name-only", f"{commit}^", f"{folder}/")
            for name in listed.decode().splitlines():
                if name.endswith(".py"):
                    text = _git(git, "show", f"{commit}^:{name}")
                    for copy in (before, after):
                        (copy / name).parent.mkdir(parents=True, exist_ok=True)
                        (copy / name).write_bytes(text)
        run = fix(after, options, 120.0)
        ours = "".join(difference_of(before, after))
    (out / "samedevice.diff").write_text(ours, encoding="utf-8")
    (out / "samedevice.log").write_text(run.stdout + run.stderr, encoding="utf-8")
    subject = _git(git, "log", "-1", "--format=%h %ad %s", "--date=short", commit).decode().strip()
    counts = [_changed(text) for text in (shown.decode("utf-8", "replace"), ours)]
    return f"{subject}: maintainers {counts[0]} lines, samedevice {counts[1]} {run.reason}"


def _changed(diff: str) -> int:
    return sum(
        line[:1] in ("+", "-") and line[:3] not in ("+++", "---") for line in diff.splitlines()
    )


def _git(git: str, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "--git-dir", git, *arguments], check=True, capture_output=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
