"""What independent checkers say of the edits: `python -m tests.ecosystem.peers_on_edits FOLDER`.

Each folder in FOLDER is a project. It is copied to `--edited` (unless a copy is there), edited by
`samedevice fix --yes`, and checked before and after: by Ruff, by Pyright if `--pyright` names it,
and by the checks of layout in `peers.py`. The page lists what is said after that was not before.
With `--again` the edited project is checked and edited once more: nothing may be found that was
not found before, and nothing may change. Nothing of a project is executed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path

from . import peers
from .peers import Diagnostic

ROOT = Path(__file__).resolve().parents[2]
RUFF = str(Path(sysconfig.get_path("scripts"), "ruff"))
LARGEST = 2_000_000  # bytes of a file that is copied
SIDES = ("before", "after")
CHUNK = 200  # projects for one run of Pyright


@dataclass
class Edited:
    """A project before and after, and what is said since."""

    name: str
    before: Path
    after: Path
    changed: list[str]
    new: dict[str, list[Diagnostic]] = field(default_factory=dict)
    hunks: int = 0
    failure: str = ""


def copied(project: Path, to: Path) -> None:
    """Copy what may say something about a project's code."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        paths = {name: Path(folder, name) for name in names}
        return [
            name
            for name, path in paths.items()
            if name == ".git"
            or path.is_symlink()
            or path.is_file()
            and path.stat().st_size > LARGEST
        ]

    shutil.copytree(project, to, ignore=left_out)


def samedevice(words: Sequence[str], folder: Path, limit: float) -> tuple[str, str]:
    """Return what samedevice says in a folder, and why it says nothing."""
    command = [sys.executable, "-m", "samedevice", *words, "--no-cache", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "codemods"), "COLUMNS": "1000"}
    try:
        process = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"`{words[0]}` takes more than {limit:.0f} s"
    if b"Traceback" in process.stderr or process.returncode not in (0, 1, 2):
        return "", f"`{words[0]}`: {process.stderr.decode(errors='replace').strip()[-300:]}"
    return process.stdout.decode(errors="replace"), ""


def edited(project: Path, to: Path, limit: float) -> Edited:
    """Edit a copy of a project."""
    failure = ""
    if not to.is_dir():
        with tempfile.TemporaryDirectory(dir=to.parent) as temporary:
            copy = Path(temporary, project.name)
            copied(project, copy)
            _, failure = samedevice(["fix", "--yes"], copy, limit)
            copy.rename(to)
    changed = [
        path.relative_to(to).as_posix()
        for path in sorted(to.rglob("*"))
        if path.suffix in (".py", ".ipynb") and path.is_file()
        if not _same(path, project / path.relative_to(to))
    ]
    return Edited(project.name, project, to, changed, failure=failure)


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def again(project: Edited, limit: float) -> Iterator[tuple[str, Diagnostic]]:
    """Yield what samedevice finds in the edited project only, and what it would edit there."""
    found = []
    for folder in (project.before, project.after):
        said, project.failure = samedevice(["check", "--format", "json"], folder, limit)
        if project.failure:
            return
        found.append(json.loads(said)["findings"])
    known = Counter((one["path"], one["rule"], one["message"]) for one in found[0])
    for one in found[1]:
        key = one["path"], one["rule"], one["message"]
        if known[key]:
            known[key] -= 1
        else:
            yield one["path"], Diagnostic(one["line"], f"samedevice {one['rule']}", one["message"])
    said, project.failure = samedevice(["fix", "--diff"], project.after, limit)
    for path in re.findall(r"^\+\+\+ b/(.*)$", said, re.M):
        yield path, Diagnostic(1, "samedevice fix", "a second run changes it once more")


class Bench:
    """Both versions of several projects side by side as Python, ready to be checked."""

    def __init__(self, root: Path, projects: Sequence[Edited]) -> None:
        self.root, self.projects = root, projects
        self.texts: dict[str, str] = {}  # by path below the root, of what is asked about
        self.asked: dict[str, list[str]] = {}  # by project: paths in it that changed, or use one
        for project in projects:
            for side, folder in (("before", project.before), ("after", project.after)):
                self._lay(side, folder, project)
            self.asked[project.name] = [
                path
                for path in self._close(project)
                if {f"{side}/{project.name}/{path}" for side in SIDES} <= self.texts.keys()
            ]

    def _lay(self, side: str, folder: Path, project: Edited) -> None:
        changed = set(project.changed)
        for path in folder.rglob("*"):
            name = path.relative_to(folder).as_posix()
            if not path.is_file() or path.suffix != ".py" and name not in changed:
                continue
            text = peers.as_python(path) if path.suffix in (".py", ".ipynb") else None
            if text is not None:
                place = f"{side}/{project.name}/{_as_py(name)}"
                self.texts[place] = text
                to = self.root / place
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(text, "utf-8", newline="\n")

    def _close(self, project: Edited) -> Iterator[str]:
        """Yield the files of a project that changed, and those that import one."""
        changed = {_as_py(path) for path in project.changed}
        yield from sorted(changed)
        modules = {_module(path) for path in changed} - {""}
        if not modules:
            return
        imports = re.compile(
            rf"^[ \t]*(?:from|import)\b[^#\n]*\b(?:{'|'.join(map(re.escape, modules))})\b", re.M
        )
        start = f"after/{project.name}/"
        for place, text in self.texts.items():
            path = place.removeprefix(start)
            if place.startswith(start) and path not in changed and imports.search(text):
                yield path

    def ask(self, pyright: str, python: str) -> None:
        """Fill in what is new in each project."""
        typed: peers.Said = {}
        if pyright:
            paths = [
                f"{side}/{name}/{path}"
                for name, asked in self.asked.items()
                for path in asked
                for side in SIDES
            ]
            folders = [f"{side}/{name}" for name in self.asked for side in SIDES]
            typed = peers.pyright(self.root, folders, paths, pyright, python)
        for project in self.projects:
            self._compare(project, typed)

    def _compare(self, project: Edited, typed: peers.Said) -> None:
        asked = self.asked[project.name]
        limit = peers.limit_of(project.before)
        sides = []
        for side in SIDES:
            folder = self.root / side / project.name
            its = {path: typed.get(f"{side}/{project.name}/{path}", []) for path in asked}
            sides.append(peers.merged(peers.ruff(folder, asked, RUFF), its))
        for path in asked:
            before, after = (self.texts[f"{side}/{project.name}/{path}"] for side in SIDES)
            old, new = (side.get(path, []) for side in sides)
            said = peers.said_first_after(before, after, old, new)
            if said:
                project.new.setdefault(path, []).extend(said)
            project.hunks += hunks(before, after)
        for path in project.changed:
            old_file, new_file = project.before / path, project.after / path
            if path.endswith(".py") and old_file.is_file():
                said = list(peers.layout(old_file.read_bytes(), new_file.read_bytes(), limit))
                if said:
                    project.new.setdefault(path, []).extend(said)
        self._formatted(project, limit)

    def _formatted(self, project: Edited, limit: int | None) -> None:
        widths = (limit,) if limit else peers.LIMITS
        for path in project.changed:
            places = [f"{side}/{project.name}/{path}" for side in SIDES]
            if not path.endswith(".py") or not self.texts.keys() >= set(places):
                continue
            old, new = (self.texts[place] for place in places)
            fits = [n for n in widths if peers.is_formatted(old, RUFF, n)]
            if fits and not any(peers.is_formatted(new, RUFF, n) for n in fits):
                said = Diagnostic(1, "format", f"it was formatted for {fits[-1]} letters a line")
                project.new.setdefault(path, []).append(said)


def hunks(before: str, after: str) -> int:
    """Return how many places of a text changed."""
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return sum(line.startswith("@@") for line in lines)


def _as_py(path: str) -> str:
    return f"{path}.py" if path.endswith(".ipynb") else path


def _module(path: str) -> str:
    parts = Path(path).with_suffix("").parts
    return parts[-1] if parts[-1] != "__init__" else parts[-2] if len(parts) > 1 else ""


def page(projects: Sequence[Edited], code: bool = True) -> str:
    """Return a Markdown page of what is new; without `code`, of rules and counts only."""
    rules = Counter(
        one.rule for project in projects for said in project.new.values() for one in said
    )
    failures = sum(bool(one.failure) for one in projects)
    touched = [project for project in projects if project.changed]
    head = (
        f"# What other checkers say of the edits in {len(projects)} projects\n\n"
        f"{len(touched)} projects edited, {sum(project.hunks for project in projects)} places in "
        f"them, {rules.total()} new diagnostics, {failures} failures.\n"
    )
    table = ["| rule | new |", "| --- | --- |"]
    table += [f"| {rule} | {count} |" for rule, count in rules.most_common()]
    lines = [head, *table, ""]
    if not code:
        return "\n".join(lines)
    for project in projects:
        if project.failure:
            lines.append(f"{project.name}: {project.failure}\n")
        for path, said in sorted(project.new.items()):
            text = _text(project.after, path)
            lines.append(f"{project.name}/{path}")
            for one in sorted(said, key=lambda one: one.line):
                shown = text[one.line - 1].strip() if one.line <= len(text) else ""
                lines.append(f"  {one.line}: {one.rule}: {one.message}\n      {shown}")
    return "\n".join(lines) + "\n"


def _text(folder: Path, path: str) -> list[str]:
    file = folder / path
    if not file.is_file():
        file = folder / path.removesuffix(".py")
    return (peers.as_python(file) or "").splitlines()


def main() -> int:
    """Check; exit code 1 if anything is new."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of projects")
    parser.add_argument("--edited", type=Path, help="where edited copies are kept, and taken from")
    parser.add_argument("--only", default="", help="projects whose name has this in it")
    parser.add_argument("--pyright", default="", help="the program, or that of a fork")
    parser.add_argument("--python", default=sys.executable, help="whose packages Pyright reads")
    parser.add_argument("--again", action="store_true", help="check and edit once more")
    parser.add_argument("--page", type=Path, help="written there instead of to the output")
    parser.add_argument("--record", type=Path, help="the page without what others wrote")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each run")
    options = parser.parse_args()
    chosen = [
        path
        for path in sorted(options.folder.iterdir())
        if path.is_dir() and not path.name.startswith(".") and options.only in path.name
    ]
    with tempfile.TemporaryDirectory() as temporary:
        copies = options.edited or Path(temporary, "edited")
        copies.mkdir(parents=True, exist_ok=True)
        projects = []
        for path in chosen:
            projects.append(edited(path, copies / path.name, options.limit))
            print(f"{path.name}: {len(projects[-1].changed)} files", file=sys.stderr, flush=True)
        for start in range(0, len(projects), CHUNK):
            chunk = projects[start : start + CHUNK]
            Bench(Path(temporary, str(start)), chunk).ask(options.pyright, options.python)
        for project in projects if options.again else ():
            for path, said in again(project, options.limit):
                project.new.setdefault(path, []).append(said)
        text = page(projects)
    if options.record:
        options.record.write_text(page(projects, code=False), "utf-8")
    if options.page:
        options.page.write_text(text, "utf-8")
    else:
        print(text)
    return int(any(project.new or project.failure for project in projects))


if __name__ == "__main__":
    sys.exit(main())
