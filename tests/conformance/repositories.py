"""`python -m tests.conformance.repositories CORPUS`: the metamorphic relations on public code.

`CORPUS` has checkouts of repositories, as OWNER+NAME. Each is read as one project, with its files
that are Python 3; what is found in it is compared with what is found in it written in another way.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from . import test_metamorphic as metamorphic
from .relations import RELATIONS, Files

HOLDS, NOTHING = "holds", "nothing to change"


def main() -> None:
    """Print a line for each repository and relation that does not hold, and a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.repositories")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--most", type=int, default=50, help="repositories, in an order of chance")
    parser.add_argument("--lines", type=int, default=4000, help="no repository with more of them")
    parser.add_argument("--json", type=Path, help="write all verdicts")
    options = parser.parse_args()
    verdicts: dict[str, dict[str, str]] = {}
    for folder in repositories(options.corpus, options.lines):
        files = texts(folder)
        verdicts[folder.name] = {name: verdict(name, files) for name in RELATIONS}
        for name, told in verdicts[folder.name].items():
            if told not in (HOLDS, NOTHING):
                print(f"{folder.name}: {name}: {told}", flush=True)
        metamorphic._found.cache_clear()
        if options.json:
            options.json.write_text(json.dumps(verdicts, indent=1), "utf-8")
        if len(verdicts) == options.most:
            break
    print(table(verdicts))


def repositories(corpus: Path, most: int) -> Iterator[Path]:
    """Yield the checkouts that use torch and are not large, in an order that nobody chose."""
    folders = (folder for folder in corpus.iterdir() if folder.is_dir())
    for folder in sorted(folders, key=lambda one: hashlib.sha256(one.name.encode()).digest()):
        files = texts(folder)
        lines = sum(text.count("\n") for text in files.values())
        if lines <= most and any("import torch" in text for text in files.values()):
            yield folder


def texts(folder: Path) -> Files:
    """Return the files of a checkout that are Python 3, by their paths in it."""
    found: Files = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text("utf-8")
            ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        found[path.relative_to(folder).as_posix()] = text
    return found


def verdict(name: str, files: Files) -> str:
    """Return whether a relation holds for files, or what it changes."""
    try:
        told = metamorphic.changes(RELATIONS[name], files)
    except Exception as error:  # of whatever a rewritten program brings about
        return f"{type(error).__name__}: {error}"
    return NOTHING if told is None else told or HOLDS


def table(verdicts: dict[str, dict[str, str]]) -> str:
    """Return how often each relation holds, as Markdown."""
    lines = ["| relation | holds | does not | nothing to change |", "|---|---:|---:|---:|"]
    for name in RELATIONS:
        told = [found[name] for found in verdicts.values()]
        holds, nothing = told.count(HOLDS), told.count(NOTHING)
        lines.append(f"| {name} | {holds} | {len(told) - holds - nothing} | {nothing} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
