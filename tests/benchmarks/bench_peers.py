"""samedevice beside what reads or mends Python otherwise: `python tests/benchmarks/bench_peers.py`.

Fetches a corpus of pinned packages with pip, gives each tool an environment of its own, and runs
each in one process on the same files: `ast.parse` and `libcst.parse_module` as floors, `samedevice
check` and `fix`, Ruff, Fixit and TorchFix. Figures are seconds of the processor, so that other work
on the machine matters less. Then samedevice alone on projects, files and chains of calls of growing
size; the slope in log-log says how its time grows. Prints Markdown, and writes --svg.

Slow tools get the first --slow-lines lines of the corpus; lines a second are what compares.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

CORPUS = (
    "kornia==0.8.1",
    "lightning==2.5.5",
    "timm==1.0.20",
    "torch-geometric==2.7.0",
)
PEERS = {"Ruff": "ruff", "Fixit": "fixit", "TorchFix": "torchfix"}
SLOW = ("Fixit", "TorchFix")  # and for them alone, a part of the corpus
#: Code is compiled once, as where people work, and not for each run.
COMPILED = {name: os.environ[name] for name in os.environ if name != "PYTHONDONTWRITEBYTECODE"}
AST = """
import ast, sys, warnings; warnings.simplefilter("ignore")
for path in open(sys.argv[1]).read().split("\\n"): ast.parse(open(path, "rb").read())
"""
LIBCST = """
import libcst, sys
for path in open(sys.argv[1]).read().split("\\n"): libcst.parse_module(open(path, "rb").read())
"""


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    seconds: float
    megabytes: int
    code: int


def cost(command: list[str], folder: Path | None = None, limit: float = 900) -> Cost:
    """Run a command, and all that it starts, to its end."""
    read, write = os.pipe()
    child = os.fork()  # so that the largest of *these* children is what is counted
    if child == 0:
        with open(os.devnull, "r+b") as nothing:
            try:
                code = subprocess.run(
                    command,
                    stdin=nothing,
                    stdout=nothing,
                    stderr=nothing,
                    cwd=folder,
                    env=COMPILED,
                    timeout=limit,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -1
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        memory = used.ru_maxrss // (1024 if sys.platform == "linux" else 1 << 20)
        os.write(write, f"{used.ru_utime + used.ru_stime} {memory} {code}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as answer:
        seconds, megabytes, code = answer.read().split()
    return Cost(float(seconds), int(megabytes), int(code))


def fetch(folder: Path) -> Path:
    """Return a folder with the Python files of the corpus, which pip fetches once."""
    code = folder / "corpus"
    if code.is_dir():
        return code
    wheels = folder / "wheels"
    subprocess.run([sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary",
                    ":all:", "--dest", str(wheels), *CORPUS], check=True)  # fmt: skip
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".py")]
            archive.extractall(code / wheel.name.split("-")[0], names)
    return code


def peer(name: str, folder: Path) -> Path:
    """Return the folder of programs of an environment that has a peer."""
    home = folder / f"venv-{name}"
    programs = home / "bin"
    if not (programs / name).exists() and not (programs / "flake8").exists():
        venv.create(home, with_pip=True)
        subprocess.run([programs / "python", "-m", "pip", "install", "-qq", name], check=True)
    return programs


def version(programs: Path, name: str) -> str:
    """Return the version of a peer."""
    code = f"from importlib.metadata import version; print(version({name!r}))"
    return subprocess.check_output([programs / "python", "-c", code], text=True).strip()


def lines_of(paths: list[Path]) -> int:
    """Count lines."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def mixed(paths: list[Path], lines: int) -> list[Path]:
    """Return every n-th file, some `lines` in all."""
    step = max(1, round(lines_of(paths) / lines))
    return paths[::step]


def compare(folder: Path, slow_lines: int, only: str) -> tuple[list[str], dict[str, float]]:
    """Return a table of all tools on the corpus, and lines a second of each."""
    corpus = fetch(folder)
    everything = sorted(path for path in corpus.rglob("*.py") if only in path.parts or not only)
    parts = {"all": everything, "part": mixed(everything, slow_lines)}
    places = {}
    for name, paths in parts.items():
        place = folder / name
        shutil.rmtree(place, ignore_errors=True)
        for path in paths:
            target = place / path.relative_to(corpus)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        places[name] = place
        copied = [str(place / path.relative_to(corpus)) for path in paths]
        (folder / f"{name}.txt").write_text("\n".join(copied))
    own = [sys.executable, "-m", "samedevice"]
    at = {name: peer(package, folder) for name, package in PEERS.items()}
    named = {name: f"{name} {version(at[name], PEERS[name])}" for name in PEERS}
    commands = {
        "`ast.parse`": [sys.executable, "-c", AST, str(folder / "all.txt")],
        "`libcst.parse_module`": [sys.executable, "-c", LIBCST, str(folder / "all.txt")],
        "samedevice check": [*own, "check", "-j1", "--no-cache", "all"],
        "samedevice check, from the cache": [*own, "check", "-j1", "all"],
        named["Ruff"]: [str(at["Ruff"] / "ruff"), "check", "--no-cache", "--isolated", "all"],
        named["Fixit"]: [str(at["Fixit"] / "fixit"), "lint", "part"],
        named["TorchFix"]: [str(at["TorchFix"] / "torchfix"), "--select", "ALL", "part"],
        "samedevice fix": [*own, "fix", "--yes", "all"],  # last: it changes what the others read
    }
    first = folder / "one.py"
    first.write_text("import torch\nprint(torch.zeros(2))\n")
    starts = {
        "samedevice check": [*own, "check", "--no-cache", str(first)],
        "samedevice fix": [*own, "fix", str(first)],
        named["Ruff"]: [str(at["Ruff"] / "ruff"), "check", "--isolated", "--no-cache", str(first)],
        named["Fixit"]: [str(at["Fixit"] / "fixit"), "lint", str(first)],
        named["TorchFix"]: [str(at["TorchFix"] / "torchfix"), "--select", "ALL", str(first)],
    }
    counts = {name: lines_of(paths) for name, paths in parts.items()}
    rows = [
        f"{len(everything):,} files, {counts['all']:,} lines: {only or ', '.join(CORPUS)}. "
        f"{' and '.join(SLOW)} got {len(parts['part']):,} of these, {counts['part']:,} lines.",
        "",
        "| one process each | lines | seconds | lines a second | peak memory | one small file |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    speeds = {}
    for name, command in commands.items():
        lines = counts["part" if command[-1] == "part" else "all"]
        if name.endswith("cache"):
            cost(command, folder)
        took = cost(command, folder)
        said = "ended by the limit of time" if took.code == -1 else f"{took.megabytes} MB"
        start = f"{cost(starts[name]).seconds:.2f} s" if name in starts else ""
        speeds[name] = lines / took.seconds
        rows.append(f"| {name} | {lines:,} | {took.seconds:.1f} | {speeds[name]:,.0f} | {said} "
                    f"| {start} |")  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows, speeds


SCRIPT = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 4).to(device)
"""
STEP = """\
def step{n}(x):
    mask = torch.zeros(x.size(0), 4)
    return {call}(x + mask)
"""


def project(folder: Path, files: int) -> None:
    """Write a project of so many files, each of which uses the one before."""
    for n in range(files):
        before = f"from module{n - 1} import step{n - 1}\n" if n % 20 else ""
        call = f"step{n - 1}" if n % 20 else "model"
        text = SCRIPT + before + STEP.format(n=n, call=call) + f"step{n}(torch.ones(2, 4))\n"
        (folder / f"module{n}.py").write_text(text)


def long_file(folder: Path, count: int) -> None:
    """Write one file of so many functions, each called on its own."""
    body = "".join(STEP.format(n=n, call="model") + f"step{n}(torch.ones(2, 4))\n"
                   for n in range(count))  # fmt: skip
    (folder / "long.py").write_text(SCRIPT + body)


def deep(folder: Path, count: int) -> None:
    """Write one file whose functions each call the next."""
    body = "".join(STEP.format(n=n, call=f"step{n - 1}" if n else "model") for n in range(count))
    (folder / "deep.py").write_text(SCRIPT + body + f"step{count - 1}(torch.ones(2, 4))\n")


def scaling(folder: Path) -> list[str]:
    """Return a table of how check and fix grow."""
    rows = [
        "| what grows | command | sizes | seconds, start-up taken off | slope in log-log |",
        "| --- | --- | --- | --- | --- |",
    ]
    shapes = (
        ("files of a project", project, (10, 100, 1000, 5000)),
        ("functions of a file", long_file, (30, 300, 3000)),
        ("depth of calls", deep, (10, 100, 1000, 3000)),
    )
    for command in ("check", "fix"):
        words = [sys.executable, "-m", "samedevice", command, "-j1"]
        words += ["--no-cache"] if command == "check" else ["--yes"]
        words.remove("-j1") if command == "fix" else None
        for what, make, sizes in shapes:
            empty = Path(tempfile.mkdtemp(dir=folder))
            make(empty, 1)
            floor = min(cost([*words, str(empty)]).seconds for _ in range(2))
            took = []
            for size in sizes:
                place = Path(tempfile.mkdtemp(dir=folder))
                make(place, size)
                took.append(max(cost([*words, str(place)]).seconds - floor, 0.001))
            slope = math.log(took[-1] / took[-2]) / math.log(sizes[-1] / sizes[-2])
            rows.append(
                f"| {what} | {command} | {', '.join(f'{size:,}' for size in sizes)} "
                f"| {', '.join(f'{one:.2f}' for one in took)} | {slope:.2f} |"
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def chart(speeds: dict[str, float]) -> str:
    """Return lines a second as an SVG of bars, on a scale of powers of ten."""
    top = math.ceil(math.log10(max(speeds.values())))
    low = 2
    width, left, step = 460, 220, 26
    height = step * len(speeds) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + left + 90} {height}" '
        'font-family="sans-serif" font-size="13" role="img">',
        "<title>Lines a second of one core</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for power in range(low, top + 1):
        x = left + width * (power - low) / (top - low)
        parts.append(f'<path d="M{x:.0f} 6V{height - 26}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.0f}" y="{height - 10}" text-anchor="middle" fill="#555">'
                     f"{10**power:,}</text>")  # fmt: skip
    for row, (name, speed) in enumerate(sorted(speeds.items(), key=lambda item: -item[1])):
        y = 10 + row * step
        size = width * (math.log10(speed) - low) / (top - low)
        color = "#c43" if "samedevice" in name else "#89a"
        label = name.replace("`", "")
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{label}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{size:.0f}" height="18" fill="{color}"/>')
        parts.append(
            f'<text x="{left + size + 6:.0f}" y="{y + 14}" fill="#333">{speed:,.0f}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="kept between runs")
    parser.add_argument("--slow-lines", type=int, default=20_000)
    parser.add_argument("--only", default="", help="one package of the corpus")
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    rows, speeds = compare(folder, options.slow_lines, options.only)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; load "
          f"{load:.0f} at the start and {os.getloadavg()[0]:.0f} at the end.\n")  # fmt: skip
    print("\n".join(rows), end="\n\n")
    if options.svg:
        options.svg.write_text(chart(speeds))
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        print("\n".join(scaling(Path(scratch))))


if __name__ == "__main__":
    main()
