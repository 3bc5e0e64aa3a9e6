"""What a newcomer does, in an empty environment: `make first-five` writes docs/proof.

Builds the wheel, installs it into a new virtual environment in a temporary folder, and works there
on a program that is in no fixture, with an environment of only PATH, HOME and the terminal's form.
Needs a network (for pip) and Linux or macOS. `--torch SPEC` is what pip installs as torch.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import picture

ROOT = Path(__file__).parents[1]
PROOF = ROOT / "docs" / "proof"

# Of the kind that people post: the model is on the GPU, and what the loop makes is not.
PROGRAM = '''\
"""Writes names of towns, letter by letter."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

TOWNS = "alton barrow calver denholme edale fleet garstang hexham ilkley jarrow kendal".split()
letters = sorted(set("".join(TOWNS)) | {"."})
number = {letter: i for i, letter in enumerate(letters)}
longest = max(map(len, TOWNS)) + 2

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(3)


def encode(town):
    ids = [number[letter] for letter in "." + town + "."]
    return torch.tensor(ids + [0] * (longest - len(ids)))


def positions(length, width):
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(100.0) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)


class Writer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(len(letters), width)
        self.positions = positions(longest, width)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(width, len(letters))

    def forward(self, x):
        n = x.size(1)
        mask = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
        h = self.embed(x) + self.positions[:n]
        return self.out(self.layers(h, mask=mask))


def write(model, count=3):
    words = torch.zeros(count, 1, dtype=torch.long)
    for _ in range(longest - 1):
        scores = model(words)[:, -1]
        words = torch.cat([words, torch.multinomial(F.softmax(scores, dim=-1), 1)], dim=1)
    return ["".join(letters[i] for i in row) for row in words.numpy()]


model = Writer().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
data = torch.stack([encode(town) for town in TOWNS])
for step in range(40):
    loss = F.cross_entropy(model(data[:, :-1]).flatten(0, 1), data[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
print(*write(model))
'''

PAGE = """\
# Five minutes of a newcomer

Recorded by `make first-five`: a wheel built from this tree, a new virtual environment in a
temporary folder (Python {version}), no variable of the environment but `PATH`, `HOME` and `LANG`
(and the terminal's form) once pip is done, and a program that is in no fixture: a small transformer
that writes names of towns. Its author moved the model to the GPU and nothing else. It stands below.

| step | seconds | of the processor |
| --- | --- | --- |
{rows}
| all of it | {total:.0f} | {work:.0f} |

The first column is what a clock showed, on a machine of {cores} cores that did other work at the
same time: its load was {load}. The second is how long the processor was
busy with the step, which other work hardly changes; on an idle machine the first is not much
more, but for what waits for the network or the disk. `check`, `fix` and `map` do not need torch.
The map is one file of {size:.0f} KiB.

{shown}

## The program

```python
{program}```
"""

COMMANDS = (
    "check towns.py", "run towns.py", "fix --diff towns.py", "fix --yes towns.py",
    "check towns.py", "run towns.py", "map towns.py",
)  # fmt: skip


def main() -> None:
    """Do all of it, and write the page and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--torch", default="torch", help="what pip installs as torch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary)
        subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--outdir", top / "dist", ROOT],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        (wheel,) = (top / "dist").glob("*.whl")
        (top / "home" / "towns").mkdir(parents=True)
        work = top / "home" / "towns"
        (work / "towns.py").write_text(PROGRAM, encoding="utf-8")
        begun = os.getloadavg()[0]
        steps = [("python -m venv .venv", *timed([sys.executable, "-m", "venv", top / "venv"]))]
        pip = [top / "venv" / "bin" / "pip", "install", "-qq", "--disable-pip-version-check"]
        steps.append((f"pip install {wheel.name}", *timed([*pip, wheel])))
        steps.append(("pip install torch numpy", *timed([*pip, options.torch, "numpy"])))
        os.environ.clear()  # what follows knows nothing of where it came from
        os.environ["PATH"] = f"{top / 'venv' / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
        os.environ["HOME"] = str(top / "home")
        os.environ["LANG"] = "C.UTF-8"
        program = [str(top / "venv" / "bin" / "samedevice")]
        screens = []
        for command in COMMANDS:
            start, busy = time.monotonic(), work_of_children()
            shown = picture.screen([command], work, program)
            step = time.monotonic() - start, work_of_children() - busy
            steps.append((f"samedevice {command}", *step))
            screens.append((command, shorter(shown).replace(str(top), "")))
        if "passed" not in screens[-2][1]:
            sys.exit(f"the repaired program did not run:\n{screens[-2][1]}")
        page = (work / "map.html").stat().st_size
    write(steps, screens, page, (begun, os.getloadavg()[0]))


def timed(command: list[str | Path]) -> tuple[float, float]:
    """Run a command; return its seconds by the clock, and those of the processor."""
    start, busy = time.monotonic(), work_of_children()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - start, work_of_children() - busy


def work_of_children() -> float:
    """Return the processor's seconds of all processes that were started from here and ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shorter(shown: str) -> str:
    """Leave out the frames of torch's own files from a traceback."""
    frame = r'  File "[^"\n]*site-packages[^\n]*\n(?:    [^\n]*\n)*'
    return re.sub(rf"(?:{frame})+", "  ... (frames of torch)\n", shown)


def write(
    steps: list[tuple[str, float, float]],
    screens: list[tuple[str, str]],
    page: int,
    load: tuple[float, float],
) -> None:
    """Write the page with its pictures."""
    folder = PROOF / "first_five_minutes"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rows = "\n".join(f"| `{words}` | {one:.1f} | {two:.1f} |" for words, one, two in steps)
    total, work = sum(one for _, one, _ in steps), sum(two for *_, two in steps)
    pictures = []
    for number, (command, shown) in enumerate(screens, 1):
        name = f"{number}-{command.split()[0]}.svg"
        picture.draw(shown, "towns", folder / name)
        pictures.append(f"![samedevice {command}](first_five_minutes/{name})")
    shown = "\n\n".join(pictures)
    text = PAGE.format(
        version=".".join(map(str, sys.version_info[:2])), rows=rows, total=total,
        work=work, cores=os.cpu_count(),
        load=f"{load[0]:.0f} when it began, {load[1]:.0f} at the end",
        size=page / 1024, shown=shown, program=PROGRAM,
    )  # fmt: skip
    (PROOF / "first_five_minutes.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
