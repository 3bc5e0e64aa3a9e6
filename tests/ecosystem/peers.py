"""What other checkers say of a program: Ruff, Pyright where it is there, and its own layout.

They know nothing of devices and nothing of samedevice: what they say of an edited program, and did
not say of the program before, is said of the edit.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tokenize
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from samedevice.reading.notebook import Notebook, NotebookError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Names, syntax, imports, what is surely wrong, what is left over, and what a reviewer calls clumsy.
RUFF = (
    "F,E3,E4,E7,E9,W,B,PLE,PLW0120,PLW0127,PLW0128,PLW0602,PLW0604,PLR0124,PLR1711,PLR1714,PLR5501"
    ",SIM,PIE,RET,UP034,C4,A,ARG,I001"
)
LIMITS = (79, 88, 100, 120)
#: What a message says of where something is: a line, and which side it was read on.
_PLACE = re.compile(r"\bline \d+|:\d+:\d+|\b(?:before|after)\.(?=\S)")
_PYRIGHT = {
    "typeCheckingMode": "standard",
    "useLibraryCodeForTypes": False,
    "reportMissingImports": "warning",
    "reportMissingModuleSource": "none",
    "reportPossiblyUnbound": "warning",
    "reportUnnecessaryComparison": "warning",
    "reportUnusedExpression": "warning",
}


@dataclass(frozen=True)
class Diagnostic:
    """What a checker says of a line."""

    line: int
    rule: str
    message: str


Said = dict[str, list[Diagnostic]]  # by path


def as_python(path: Path) -> str | None:
    """Return the code of a file, of a notebook its cells; None where it cannot be read."""
    try:
        content = path.read_bytes()
        if path.suffix == ".ipynb":
            return Notebook(content.decode("utf-8")).text
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, NotebookError):
        return None


def said_first_after(
    before: str, after: str, old: Sequence[Diagnostic], new: Sequence[Diagnostic]
) -> list[Diagnostic]:
    """Return what is said of a text and was not said of the one before.

    A line keeps what was said of it, wherever it is now; and where lines were replaced, a rule that
    objected to the old ones may object to as many of the new ones.
    """
    gone, left = _unequal(old, new), _unequal(new, old)
    lines = before.splitlines(), after.splitlines()
    changes = SequenceMatcher(None, *lines, autojunk=False).get_opcodes()
    turned = Counter((_change(changes, one.line, 1), one.rule) for one in gone)
    first = []
    for one in left:
        place = _change(changes, one.line, 3), one.rule
        if place[0] is not None and turned[place]:
            turned[place] -= 1
        else:
            first.append(one)
    return first


def _unequal(some: Sequence[Diagnostic], others: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return those of `some` that are not among `others`, whatever their lines are."""
    known = Counter(map(_key, others))
    left = []
    for one in some:
        if known[_key(one)]:
            known[_key(one)] -= 1
        else:
            left.append(one)
    return left


def _key(one: Diagnostic) -> tuple[str, str]:
    return one.rule, _PLACE.sub("", one.message)


def _change(
    changes: Iterable[tuple[str, int, int, int, int]], line: int, side: Literal[1, 3]
) -> int | None:
    """Return which change a line belongs to; `side` is 1 before and 3 after."""
    for number, (kind, *ends) in enumerate(changes):
        if ends[side - 1] < line <= ends[side]:
            return number if kind != "equal" else None
    return None


def ruff(folder: Path, paths: Sequence[str], executable: str) -> Said:
    """Return what Ruff says of Python files below a folder, whatever its settings are there."""
    if not paths:
        return {}
    words = ["check", "--isolated", "--no-cache", "--preview", "--select", RUFF]
    words += ["--output-format", "json", "--exit-zero", "--config", 'src = [".", "src"]']
    process = subprocess.run(
        [executable, *words, *paths], cwd=folder, capture_output=True, check=True
    )
    said: Said = defaultdict(list)
    for one in json.loads(process.stdout):
        path = Path(one["filename"]).resolve().relative_to(folder.resolve()).as_posix()
        code = one["code"] or "syntax"
        said[path].append(Diagnostic(one["location"]["row"], code, one["message"]))
    return said


def pyright(
    root: Path, folders: Iterable[str], paths: Sequence[str], executable: str, python: str
) -> Said:
    """Return what Pyright says of files below `root`; each of `folders` is a project there.

    One run for all of them: reading torch's types takes longer than reading a project.
    """
    if not paths:
        return {}
    settings = root / "pyrightconfig.json"
    environments = [{"root": folder} for folder in folders]
    settings.write_text(
        json.dumps({**_PYRIGHT, "include": paths, "executionEnvironments": environments})
    )
    process = subprocess.run(
        [executable, "--outputjson", "--pythonpath", python, "--project", str(settings)],
        cwd=root,
        capture_output=True,
        check=False,
    )
    said: Said = defaultdict(list)
    for one in json.loads(process.stdout)["generalDiagnostics"]:
        path = Path(one["file"]).resolve().relative_to(root.resolve()).as_posix()
        line = one["range"]["start"]["line"] + 1
        said[path].append(Diagnostic(line, one.get("rule") or "syntax", one["message"]))
    return said


def layout(before: bytes, after: bytes, limit: int | None) -> Iterator[Diagnostic]:
    """Yield what an edit did to a file's encoding, line ends and widths, and to its syntax."""
    if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
        yield Diagnostic(1, "byte-order-mark", "it comes or goes")
    if before.endswith(b"\n") != after.endswith(b"\n"):
        yield Diagnostic(after.count(b"\n"), "last-line", "its end comes or goes")
    windows = [text.count(b"\r\n") for text in (before, after)]
    plain = [text.count(b"\n") - n for text, n in zip((before, after), windows, strict=True)]
    if not windows[0] and windows[1] or not plain[0] and plain[1]:
        yield Diagnostic(1, "line-ends", "of another sort")
    problem = _compiles(before), _compiles(after)
    if problem[1] and problem[0] != problem[1]:
        yield Diagnostic(1, "compile", problem[1])
    if limit is not None:
        wide = [
            {n for n, line in enumerate(_lines(text), 1) if len(line) > limit}
            for text in (before, after)
        ]
        if not wide[0] and wide[1]:
            yield Diagnostic(min(wide[1]), "line-too-long", f"over {limit}")


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", errors="replace").splitlines()


def _compiles(content: bytes) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SyntaxWarning)
        try:
            compile(content, "file", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            return f"{type(error).__name__}: {getattr(error, 'msg', error)}"
    return ""


def limit_of(folder: Path) -> int | None:
    """Return the width of lines that a project keeps to in its settings."""
    try:
        tools = tomllib.loads((folder / "pyproject.toml").read_text("utf-8")).get("tool", {})
    except (OSError, ValueError):
        tools = {}
    for name in ("ruff", "black"):
        for key in ("line-length", "line_length"):
            if isinstance(value := tools.get(name, {}).get(key), int):
                return value
    for name in (".flake8", "setup.cfg", "tox.ini", "ruff.toml", ".ruff.toml"):
        try:
            text = (folder / name).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found = re.search(r"^\s*(?:max[-_]line[-_]length|line[-_]length)\s*=\s*(\d+)", text, re.M)
        if found:
            return int(found[1])
    return None


def is_formatted(text: str, executable: str, limit: int) -> bool:
    """Tell whether a formatter would leave a text as it is."""
    words = ["format", "--isolated", "--no-cache", "--line-length", str(limit), "-"]
    process = subprocess.run(
        [executable, *words], input=text.encode(), capture_output=True, check=False
    )
    return process.returncode == 0 and process.stdout.decode() == text


def merged(*some: Mapping[str, Sequence[Diagnostic]]) -> Said:
    """Return what several checkers say."""
    said: Said = defaultdict(list)
    for one in some:
        for path, diagnostics in one.items():
            said[path] += diagnostics
    return said
