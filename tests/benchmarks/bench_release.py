"""What a check costs on code that was not looked at: `python tests/benchmarks/bench_release.py`.

The corpus is chosen anew for each release among packages that no test and no earlier measurement
has used, so that nothing was tuned on it. Each tool runs as where people work: with nothing known,
once more, after a change of one file (a comment is added) and of one function (a statement is).
samedevice and Ruff are linters; mypy and pyright check types, which is more work, and are told not
to look for libraries. Figures are seconds of the processor, start-up included, and as multiples of
`ast.parse` on the same files, measured before and after: the machine may be shared.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench_peers import AST, COMPILED, Cost, cost, lines_of, mixed, peer, version

import samedevice

#: For each release its packages; an old release's are known by then, and of no use for the next.
CORPORA = {"0.1": ("segmentation-models-pytorch==0.5.0", "tianshou==1.2.0")}
#: One of the packages that samedevice was made faster on, for `--tuned`.
TUNED = ("lightning==2.5.5",)
PEERS = {
    "Ruff": "ruff",
    "mypy": "mypy",
    "pyright": "pyright",
    "Fixit": "fixit",
    "TorchFix": "torchfix",
    "ast-grep": "ast-grep-cli",
}
#: A question of samedevice's kind, as a pattern: where something is moved to CUDA by name.
_PATTERN = "$A.cuda()"


def fetch(folder: Path, packages: tuple[str, ...]) -> Path:
    """Return a folder with the Python files of packages, which pip fetches once."""
    code = folder / "kept"
    if not code.is_dir():
        wheels = folder / "wheels"
        subprocess.run([sys.executable, "-m", "pip", "download", "-qq", "--no-deps",
                        "--only-binary", ":all:", "--dest", str(wheels), *packages],
                       check=True)  # fmt: skip
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(".py")]
                archive.extractall(code, names)
    return code


class Bench:
    """A copy of the corpus, and what is measured on it."""

    def __init__(self, folder: Path, packages: tuple[str, ...], slow_lines: int) -> None:
        self.folder = folder
        self.kept = fetch(folder, packages)
        self.names = sorted(path.relative_to(self.kept) for path in self.kept.rglob("*.py"))
        self.lines = lines_of([self.kept / name for name in self.names])
        self.slow_lines = slow_lines
        self.rows: list[str] = []

    def lay_out(self) -> None:
        """Copy the corpus as it is, and the part that slow tools get."""
        for place, names in (("all", self.names), ("part", self._part())):
            shutil.rmtree(self.folder / place, ignore_errors=True)
            for name in names:
                target = self.folder / place / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.kept / name, target)

    def _part(self) -> list[Path]:
        paths = mixed([self.kept / name for name in self.names], self.slow_lines)
        return [path.relative_to(self.kept) for path in paths]

    def changed(self) -> Path:
        """Return the file that is changed: of those with torch and a function, the middle one."""
        with_torch = [
            name for name in self.names
            if "torch" in (text := (self.kept / name).read_text("utf-8", "replace"))
            and _function(text)
        ]  # fmt: skip
        return self.folder / "all" / with_torch[len(with_torch) // 2]

    def floor(self) -> float:
        """Return the seconds that `ast.parse` takes for the corpus."""
        listed = self.folder / "all.txt"
        listed.write_text("\n".join(str(self.folder / "all" / name) for name in self.names))
        return cost([sys.executable, "-c", AST, str(listed)], self.folder).seconds

    def tool(
        self,
        name: str,
        command: list[str],
        forget: Callable[[], None] | None,
        before: Sequence[str] = (),
    ) -> None:
        """Measure a tool; `forget` makes it forget what it kept, None where it keeps nothing.

        `before` is a command that has run just before.
        """
        self.lay_out()
        floors = [self.floor()]
        took: list[Cost] = []
        if forget is not None:
            forget()
        if before:
            assert cost([*before], self.folder).code in (0, 1)
        took.append(cost(command, self.folder))
        if forget is not None and not before:
            took.append(cost(command, self.folder))
            path = self.changed()
            text = path.read_text("utf-8")
            path.write_text(text + "# a comment\n", "utf-8")
            took.append(cost(command, self.folder))
            path.write_text(_with_statement(text), "utf-8")
            took.append(cost(command, self.folder))
        floors.append(self.floor())
        lines = self.lines if command[-1] == "all" else lines_of(
            [self.kept / each for each in self._part()]
        )  # fmt: skip
        floor = sum(floors) / len(floors) * lines / self.lines
        cells = [f"{one.seconds:.1f} s ({one.seconds / floor:.1f})" for one in took]
        cells += [""] * (4 - len(cells))
        memory = max(one.megabytes for one in took)
        self.rows.append(f"| {name} | {lines:,} | {' | '.join(cells)} | {memory} MB |")
        print(self.rows[-1], file=sys.stderr, flush=True)


def _release() -> str:
    known = [name for name in CORPORA if samedevice.__version__.startswith(name)]
    return known[-1] if known else list(CORPORA)[-1]


def _function(text: str) -> ast.stmt | None:
    """Return the first statement of the first function of a text that does nothing but code."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return None
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    return next((node.body[-1] for node in functions if node.body[-1].lineno > node.lineno), None)


def _with_statement(text: str) -> str:
    """Return a text with one statement more at the end of a function."""
    found = _function(text)
    assert found is not None
    lines = text.split("\n")
    at = found.lineno - 1
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return "\n".join([*lines[:at], f"{indent}one_more = 1", *lines[at:]])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(".bench-release"))
    parser.add_argument("--slow-lines", type=int, default=5_000)
    parser.add_argument("--tuned", action="store_true", help="a package that is known instead")
    parser.add_argument("--tools", default="", help="only these, by name, with commas")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    cache = folder / "cache"
    os.environ["SAMEDEVICE_CACHE_DIR"] = COMPILED["SAMEDEVICE_CACHE_DIR"] = str(cache)
    packages = TUNED if options.tuned else CORPORA[_release()]
    bench = Bench(folder, packages, options.slow_lines)
    wanted = set(filter(None, options.tools.split(","))) or {"samedevice", *PEERS}
    load = os.getloadavg()[0]

    def forget() -> None:
        for kept in (cache, folder / ".mypy_cache", folder / ".ruff_cache"):
            shutil.rmtree(kept, ignore_errors=True)

    own = [sys.executable, "-m", "samedevice"]
    if "samedevice" in wanted:
        compiled = [sys.executable, "-m", "compileall", "-q", str(Path(samedevice.__file__).parent)]
        assert cost(compiled).code == 0  # once, as an installation does, and not in the first row
        check = [*own, "check", "-j1", "all"]
        bench.tool("samedevice check", check, forget)
        bench.tool("samedevice fix --diff", [*own, "fix", "--diff", "all"], forget)
        bench.tool("the same after `check`", [*own, "fix", "--diff", "all"], forget, check)
    at = {name: peer(package, folder) for name, package in PEERS.items() if name in wanted}
    quiet = ["--ignore-missing-imports", "--follow-imports=silent", "--no-error-summary"]
    commands: dict[str, tuple[list[str], bool]] = {
        "Ruff": (["ruff", "check", "--isolated", "all"], True),
        "mypy": (["mypy", *quiet, "all"], True),
        "pyright": (["pyright", "all"], False),
        "Fixit": (["fixit", "lint", "part"], False),
        "TorchFix": (["torchfix", "--select", "ALL", "part"], False),
        "ast-grep": (["ast-grep", "run", "--lang", "python", "--pattern", _PATTERN, "all"], False),
    }
    for name, programs in at.items():
        command, keeps = commands[name]
        called = f"{name} {version(programs, PEERS[name])}"
        bench.tool(called, [str(programs / command[0]), *command[1:]], forget if keeps else None)
    print(
        f"{len(bench.names):,} files, {bench.lines:,} lines: {', '.join(packages)}. "
        f"{platform.machine()}, Python {platform.python_version()}, load {load:.0f} at the start "
        f"and {os.getloadavg()[0]:.0f} at the end.\n"
    )
    print("| | lines | nothing known | nothing changed | one file changed | one function changed "
          "| peak memory |\n| --- | --- | --- | --- | --- | --- | --- |")  # fmt: skip
    print("\n".join(bench.rows))


if __name__ == "__main__":
    main()
