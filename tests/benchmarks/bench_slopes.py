"""How the time of a check grows: `python tests/benchmarks/bench_slopes.py [NAME...]`.

For each thing that a program can have many of, programs with more and more of it are generated and
checked in processes of their own. The slope is that of the last two sizes on logarithmic axes: 1 is
linear, 2 is quadratic. Figures are seconds of the processor, the least of some runs, without
start-up; a machine that others use makes them a little uneven, so a slope is given to one decimal.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from samedevice.migration.check import check
from samedevice.reading.config import Config
from samedevice.reading.project import Project
from samedevice.reading.source import from_code

HEAD = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
w = torch.ones(3, device=device)


"""
#: A slope above is worth a look.
STEEP = 1.2
#: A size at which a check takes as many seconds is the last one.
ENOUGH = 4.0
#: Each program is checked as often.
RUNS = 3

Files = dict[str, str]


def lines(count: int, text: str) -> str:
    """Return a text as often as asked, with its number in place of `#`."""
    return "".join(text.replace("#", str(number)) for number in range(count))


def one(text: str) -> Files:
    """Return the files of a program of one file."""
    return {"main.py": HEAD + text}


def attributes(count: int) -> Files:
    """One class sets many attributes, and reads them."""
    return one(
        "class Many:\n    def __init__(self):\n"
        + lines(count, "        self.a# = torch.ones(3)\n")
        + "\n    def add(self, x):\n"
        + lines(count, "        x = x + self.a#\n")
        + "        return x\n\n\nMany().add(w)\n"
    )


def layers(count: int) -> Files:
    """One module has many layers."""
    return one(
        "class Many(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + lines(count, "        self.a# = nn.Linear(3, 3)\n")
        + "\n    def forward(self, x):\n"
        + lines(count, "        x = self.a#(x)\n")
        + "        return x\n\n\nMany().to(device)(w)\n"
    )


def classes(count: int) -> Files:
    """Many classes, each with an instance."""
    return one(
        lines(
            count,
            "class C#(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.a = nn.Linear(3, 3)\n\n    def forward(self, x):\n"
            "        return self.a(x) + torch.ones(3)\n\n\nc# = C#().to(device)\nc#(w)\n\n\n",
        )
    )


def depth(count: int) -> Files:
    """Classes that inherit from each other in one line, each with a method of its own."""
    return one(
        "class C0:\n    def m0(self, x):\n        return x + torch.ones(3)\n\n\n"
        + "".join(
            f"class C{n}(C{n - 1}):\n    def m{n}(self, x):\n"
            f"        return self.m{n - 1}(x) + w\n\n\n"
            for n in range(1, count)
        )
        + f"C{count - 1}().m0(w)\n"
    )


def subclasses(count: int) -> Files:
    """Many classes with one base, whose methods call each other."""
    return one(
        "class Base:\n    def run(self, x):\n        return self.step(x) + w\n\n\n"
        + lines(
            count,
            "class C#(Base):\n    def step(self, x):\n        return x + torch.ones(3)\n\n\n"
            "C#().run(w)\n\n\n",
        )
    )


def methods(count: int) -> Files:
    """One class with many methods, all of which are called."""
    return one(
        "class Many:\n    def __init__(self):\n        self.a = torch.ones(3)\n\n"
        + lines(count, "    def m#(self, x):\n        return x + self.a\n\n")
        + "\nmany = Many()\n"
        + lines(count, "many.m#(w)\n")
    )


def callers(count: int) -> Files:
    """One function is called from many lines."""
    return one(
        "def add(a, b):\n    c = a + b\n    return c * 2\n\n\n"
        + lines(count, "r# = add(w, torch.ones(3))\n")
    )


def callers_in_functions(count: int) -> Files:
    """One function is called by many functions."""
    return one(
        "def add(a, b):\n    c = a + b\n    return c * 2\n\n\n"
        + lines(count, "def f#(x):\n    return add(x, torch.ones(3))\n\n\nf#(w)\n\n\n")
    )


def calls(count: int) -> Files:
    """Each function calls the next one."""
    return one(
        "".join(f"def f{n}(x):\n    return f{n + 1}(x) + w\n\n\n" for n in range(count))
        + f"def f{count}(x):\n    return x + torch.ones(3)\n\n\nf0(w)\n"
    )


def entries(count: int) -> Files:
    """A mapping and a list of tensors with many members."""
    return one(
        "held = {\n" + lines(count, '    "k#": torch.ones(3),\n') + "}\n"
        "row = [\n"
        + lines(count, "    torch.ones(#),\n")
        + "]\n"
        + lines(count, 'w + held["k#"]\n')
        + "for each in row:\n    each + w\n"
    )


def loops(count: int) -> Files:
    """Loops in each other."""
    text = "def run(x):\n    y = torch.ones(3)\n"
    for level in range(count):
        blank = "    " * (level + 1)
        text += f"{blank}for i{level} in range(3):\n{blank}    y = y + x\n"
    return one(text + "    return y\n\n\nrun(w)\n")


def chain(count: int) -> Files:
    """One `if` with many `elif`."""
    return one(
        "def run(kind, x):\n    if kind == 'none':\n        y = torch.ones(3)\n"
        + lines(count, "    elif kind == 'k#':\n        y = x + torch.ones(#)\n")
        + "    return y\n\n\nimport sys\nrun(sys.argv[1], w)\n"
    )


def ifs(count: int) -> Files:
    """Many `if` in a row, each of which binds a name of its own."""
    return one(
        "def run(kind, x):\n    y = x\n"
        + lines(count, "    if kind == 'k#':\n        y = y + torch.ones(#)\n        z# = y\n")
        + "    return y\n\n\nimport sys\nrun(sys.argv[1], w)\n"
    )


def attribute_ifs(count: int) -> Files:
    """Many `if` in a row, each of which sets an attribute."""
    return one(
        "import sys\n\n\nclass Many:\n    def __init__(self, kind):\n"
        + lines(
            count,
            "        self.a# = w\n        if kind == 'k#':\n            self.a# = torch.ones(3)\n",
        )
        + "\n    def add(self, x):\n"
        + lines(count, "        x = x + self.a#\n")
        + "        return x\n\n\nMany(sys.argv[1]).add(w)\n"
    )


def loops_in_a_row(count: int) -> Files:
    """Many loops in a row, each of which binds names of its own."""
    return one(
        "def run(x):\n    y = x\n"
        + lines(count, "    for i# in range(3):\n        z# = torch.ones(3)\n        y = y + z#\n")
        + "    return y\n\n\nrun(w)\n"
    )


def tries(count: int) -> Files:
    """Many `try` in a row."""
    return one(
        "def run(x):\n    y = x\n"
        + lines(
            count,
            "    try:\n        z# = torch.ones(3)\n        y = y + z#\n"
            "    except ValueError:\n        y = x\n",
        )
        + "    return y\n\n\nrun(w)\n"
    )


def parameters(count: int) -> Files:
    """One function with many parameters."""
    return one(
        "def run("
        + lines(count, "p#, ")
        + "):\n    return 0"
        + lines(count, " + p#")
        + "\n\n\nrun(\n"
        + "    w,\n"
        + lines(count - 1, "    torch.ones(3),\n")
        + ")\n"
    )


def closures(count: int) -> Files:
    """One function that defines many, each of which calls the one before."""
    return one(
        "def run(x):\n    def f0(y):\n        return y + x\n\n"
        + lines(count, "    def g#(y):\n        return f0(y) + torch.ones(3)\n\n    g#(x)\n\n")
        + "\nrun(w)\n"
    )


def trainers(count: int) -> Files:
    """Many methods that each call the one before; nothing calls the last one."""
    return one(
        "class Many:\n    def m0(self, x):\n        return x + torch.ones(3).cpu()\n\n"
        + "".join(
            f"    def m{n}(self, x):\n        return self.m{n - 1}(x) + x.to(device)\n\n"
            for n in range(1, count)
        )
    )


def cases(count: int) -> Files:
    """One `match` with many cases."""
    return one(
        "def run(kind, x):\n    match kind:\n"
        + lines(count, "        case 'k#':\n            y = x + torch.ones(#)\n")
        + "        case _:\n            y = x\n    return y\n\n\nimport sys\nrun(sys.argv[1], w)\n"
    )


def statements(count: int) -> Files:
    """A function of many statements, each of which binds a name."""
    return one(
        "def run(x):\n    y0 = x\n"
        + "".join(f"    y{n} = y{n - 1} + torch.ones(3)\n" for n in range(1, count))
        + f"    return y{count - 1}\n\n\nrun(w)\n"
    )


def globals_(count: int) -> Files:
    """A script without functions, of many statements."""
    return one("y0 = w\n" + "".join(f"y{n} = y{n - 1} + torch.ones(3)\n" for n in range(1, count)))


def devices(count: int) -> Files:
    """Many names for devices, each of which something is made on."""
    return one(
        lines(
            count,
            'd# = torch.device("cuda:0")\nx# = torch.ones(3, device=d#)\nx# + torch.ones(3)\n',
        )
    )


def programs(count: int) -> Files:
    """Many scripts that import one helper."""
    helper = (
        "import torch\n\n\ndef add(a, b):\n    return a + b\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.a = torch.nn.Linear(3, 3)\n"
        "\n    def forward(self, x):\n        return self.a(x)\n"
    )
    script = (
        "from helper import Net, add\n\nnet = Net().to(device)\nadd(w, torch.ones(3))\nnet(w)\n"
    )
    return {"helper.py": helper} | {f"run{n}.py": HEAD + script for n in range(count)}


def files(count: int) -> Files:
    """A package whose files import each the one before."""
    found = {
        "pkg/__init__.py": "",
        "pkg/m0.py": HEAD + "def f0(x):\n    return x + torch.ones(3)\n",
    }
    for n in range(1, count):
        found[f"pkg/m{n}.py"] = (
            f"from pkg.m{n - 1} import f{n - 1}\n\nimport torch\n\n\n"
            f"def f{n}(x):\n    return f{n - 1}(x) + torch.ones(3)\n"
        )
    return found | {
        "main.py": HEAD + f"from pkg.m{count - 1} import f{count - 1}\nf{count - 1}(w)\n"
    }


@dataclass(frozen=True)
class Growth:
    """Something that a program can have many of."""

    name: str
    make: Callable[[int], Files]
    sizes: tuple[int, ...]


GROWTHS = (
    Growth("attributes of one class", attributes, (200, 400, 800, 1600)),
    Growth("layers of one module", layers, (200, 400, 800, 1600)),
    Growth("classes with instances", classes, (100, 200, 400, 800)),
    Growth("depth of inheritance", depth, (100, 200, 400, 800)),
    Growth("subclasses of one base", subclasses, (200, 400, 800, 1600)),
    Growth("methods of one class", methods, (200, 400, 800, 1600)),
    Growth("calls of one function", callers, (400, 800, 1600, 3200)),
    Growth("functions that call one", callers_in_functions, (200, 400, 800, 1600)),
    Growth("depth of calls", calls, (100, 200, 400, 800)),
    Growth("entries of a mapping and a list", entries, (200, 400, 800, 1600)),
    Growth("loops in each other", loops, (3, 6, 12)),
    Growth("`elif` of one `if`", chain, (50, 100, 200, 400)),
    Growth("`if` in a row", ifs, (100, 200, 400, 800)),
    Growth("`if` that set attributes", attribute_ifs, (100, 200, 400, 800)),
    Growth("loops in a row", loops_in_a_row, (100, 200, 400, 800)),
    Growth("`try` in a row", tries, (100, 200, 400, 800)),
    Growth("parameters of one function", parameters, (50, 100, 200)),
    Growth("functions inside one", closures, (100, 200, 400, 800)),
    Growth("functions that call each other, uncalled", trainers, (12, 25, 50, 100)),
    Growth("cases of one `match`", cases, (100, 200, 400, 800)),
    Growth("statements of one function", statements, (400, 800, 1600, 3200)),
    Growth("statements of a script", globals_, (400, 800, 1600, 3200)),
    Growth("names of devices", devices, (100, 200, 400, 800)),
    Growth("scripts with one helper", programs, (50, 100, 200, 400)),
    Growth("files that import each other", files, (100, 200, 400, 800)),
)  # fmt: skip


def cost(made: Files) -> tuple[float, int]:
    """Return the seconds that a check takes in a process of its own, and what it finds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        gc.disable()
        start = time.process_time()
        config = Config()
        project = Project(from_code(text, path) for path, text in made.items())
        findings = check(project, config)
        os.write(writing, f"{time.process_time() - start} {len(findings)}".encode())
        os._exit(0)
    os.close(writing)
    text = os.read(reading, 100)
    os.close(reading)
    os.waitpid(child, 0)
    took, _, count = text.decode().partition(" ")
    return (float(took), int(count)) if took else (math.nan, 0)


def main() -> None:
    """Print one row for each growth, or for those that are named."""
    asked = sys.argv[1:]
    print(
        "| what there are many of | sizes | seconds | findings | slope |\n"
        "| --- | --- | --- | --- | --- |"
    )
    for growth in GROWTHS:
        if asked and not any(word in growth.name for word in asked):
            continue
        took: list[float] = []
        found: list[int] = []
        for size in growth.sizes:
            made = growth.make(size)
            figures = [cost(made) for _ in range(RUNS)]
            took.append(min(figures)[0])
            found.append(figures[0][1])
            if not took[-1] < ENOUGH:
                break
        sizes = growth.sizes[: len(took)]
        slope = math.log(took[-1] / took[-2]) / math.log(sizes[-1] / sizes[-2])
        print(
            f"| {growth.name} | {', '.join(map(str, sizes))} | "
            f"{', '.join(f'{each:.2f}' for each in took)} | {', '.join(map(str, found))} | "
            f"{slope:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
