"""`make package`: build wheel and sdist, and run tests against the wheel on several Pythons.

python tests/package.py [--python PYTHON]... [PYTEST ARGUMENT]...

For each interpreter: a new environment outside of this folder, the wheel installed into it, the
tests and fixtures copied beside it (so that no source of the package is on the path), and pytest on
them, without torch: tests that need it are skipped. A wheel that is built from the tree has to have
the same files as the one built from the sdist. Without --python it takes those of 3.10 to 3.13 that
are on the PATH.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
# What the package does everywhere without torch; the rest of the tests is about one Python's torch.
TESTS = (
    "tests/fixtures", "tests/report", "tests/rewrite", "tests/test_cli.py", "tests/test_config.py",
    "tests/test_first_contact.py", "tests/test_migrate.py", "tests/test_notebook.py",
    "tests/test_packaging.py",
)  # fmt: skip


def main() -> None:
    """Build, and test on every interpreter; ends with 1 if anything fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", help="an interpreter (repeat it)")
    parser.add_argument("--dist", default=ROOT / "dist", type=Path, help="where to build")
    options, arguments = parser.parse_known_args()
    wheel = build(options.dist)
    pythons = options.python or [f"python{v}" for v in VERSIONS if runs(f"python{v}")]
    failed = [python for python in pythons if not tried(python, wheel, arguments or [*TESTS])]
    print(f"{len(pythons) - len(failed)} of {len(pythons)} interpreters passed")
    sys.exit(bool(failed) or not pythons)


def runs(python: str) -> bool:
    """Tell whether there is such an interpreter; a shim for one that is not installed is none."""
    try:
        done = subprocess.run([python, "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def build(folder: Path) -> Path:
    """Build both, and return the wheel; the sdist's own wheel has to have the same files."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "build"]
    subprocess.run([*command, "--outdir", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        [*command, "--wheel", "--outdir", folder / "tree", ROOT],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")  # `build` makes it from the sdist
    (from_tree,) = (folder / "tree").glob("*.whl")
    different = set(names(wheel)) ^ set(names(from_tree))
    if different:
        sys.exit(f"only in one of sdist and tree: {sorted(different)}")
    shutil.rmtree(folder / "tree")
    print(f"{wheel.name}: {len(names(wheel))} files, {wheel.stat().st_size / 1024:.0f} KiB")
    return wheel


def names(wheel: Path) -> list[str]:
    """Return the names in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def tried(python: str, wheel: Path, arguments: list[str]) -> bool:
    """Run pytest against the wheel on one interpreter; say how it went."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        program = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = [program, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        extra = f"samedevice[modernize,server] @ {wheel.resolve().as_uri()}"
        tools = ["pytest>=8", "PyYAML>=6", "numpy>=1.26", "jsonschema>=4.20"]
        subprocess.run([*pip, extra, *tools], check=True)
        for name in ("tests", "fixtures", "docs"):
            skipped = shutil.ignore_patterns("__pycache__", "node_modules", "real_programs")
            shutil.copytree(ROOT / name, folder / "tree" / name, ignore=skipped)
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, folder / "tree" / name)
        environment = os.environ | {"SAMEDEVICE_WHEEL": str(wheel.resolve())}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [program, "-m", "pytest", "-q", "-m", "not slow and not torch", *arguments],
            cwd=folder / "tree", env=environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    lines = done.stdout.strip().splitlines() or [""]
    if done.returncode:
        print("\n".join(lines[-60:]))
    seconds = time.monotonic() - start
    print(f"{python}: {lines[-1].strip('= ')} ({seconds:.0f} s in all)", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    main()
