"""What `samedevice init` writes: settings, a baseline, and the pre-commit and CI files that fit.

What is there already stays as it is; a file of somebody else's is only added to, as text, so that
its comments and its layout stay.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..migration.migrate import Change

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BASELINE = "samedevice-baseline.txt"

_TABLE = """\
[tool.samedevice]
# `samedevice rules` lists the rules. Some keys, which are flags as well:
# ignore = ["loss-not-moved"]
# exclude = ["third_party/"]
# per-file-ignores = {"tests/" = ["hard-coded-device"]}
"""

_HOOK = """\
- repo: local
  hooks:
    - id: samedevice
      name: samedevice check
      entry: samedevice check .
      language: python
      additional_dependencies: ["{package}"]
      types_or: [python, jupyter]
      pass_filenames: false
      require_serial: true
"""

_GITHUB = """\
name: samedevice
on: [pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install "{package}"
      - run: samedevice check --format github .
"""

_GITLAB = """\
samedevice:
  image: python:3.12-slim
  script:
    - python -m pip install "{package}"
    - samedevice check --report gitlab=gl-code-quality-report.json .
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
"""


@dataclass(frozen=True)
class Plan:
    """The files to write, and what is there already, in words."""

    changes: list[Change]
    there: list[str]


def plan(folder: Path, package: str, baseline: bytes | None) -> Plan:
    """Return what a project is lacking.

    `package` is what pip installs in CI. `baseline` is the text of a baseline of what is wrong
    now, None where nothing is. Raises `OSError` for a file that cannot be read.
    """
    there: list[str] = []
    made = [
        *_settings(folder, baseline, there),
        *_pre_commit(folder, package, there),
        *_github(folder, package, there),
        *_gitlab(folder, package, there),
    ]
    return Plan(made, there)


def _settings(folder: Path, baseline: bytes | None, there: list[str]) -> Iterator[Change]:
    path = folder / "pyproject.toml"
    before = _bytes(path)
    text = (before or b"").decode("utf-8", "replace")
    if _has_table(text):
        there.append("pyproject.toml has [tool.samedevice]")
        return
    table = _TABLE + (f'baseline = "{BASELINE}"\n' if baseline is not None else "")
    yield Change(_name(path), before, _joined(before, table))
    if baseline is not None:
        yield Change(_name(folder / BASELINE), _bytes(folder / BASELINE), baseline)


def _has_table(text: str) -> bool:
    try:
        return "samedevice" in tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, AttributeError):
        return "tool.samedevice" in text


def _pre_commit(folder: Path, package: str, there: list[str]) -> Iterator[Change]:
    path = folder / ".pre-commit-config.yaml"
    before = _bytes(path)
    if before is None:
        return  # the project does without
    text = before.decode("utf-8", "replace")
    if "samedevice" in text:
        there.append(".pre-commit-config.yaml has samedevice")
        return
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if re.match(r"repos:\s*(#.*)?$", line)), None)
    if first is None:
        there.append(".pre-commit-config.yaml has no list of repos to add to")
        return
    end = first + 1
    last = end
    while end < len(lines) and not re.match(r"[^\s#-]", lines[end]):
        end += 1
        if lines[end - 1].strip():
            last = end
    items = (re.match(r"( *)- ", line) for line in lines[first + 1 : last])
    indent = next((match[1] for match in items if match), "  ")
    hook = [indent + line for line in _HOOK.format(package=package).rstrip().split("\n")]
    yield Change(_name(path), before, "\n".join([*lines[:last], *hook, *lines[last:]]).encode())


def _github(folder: Path, package: str, there: list[str]) -> Iterator[Change]:
    path = folder / ".github" / "workflows" / "samedevice.yml"
    if not (folder / ".github").is_dir() and "github" not in _remotes(folder):
        return
    if _mentioned(path.parent):
        there.append(".github/workflows has samedevice")
        return
    yield Change(_name(path), None, _GITHUB.format(package=package).encode())


def _gitlab(folder: Path, package: str, there: list[str]) -> Iterator[Change]:
    path = folder / ".gitlab-ci.yml"
    before = _bytes(path)
    if before is None and "gitlab" not in _remotes(folder):
        return
    if before is not None and b"samedevice" in before:
        there.append(".gitlab-ci.yml has samedevice")
        return
    yield Change(_name(path), before, _joined(before, _GITLAB.format(package=package)))


def _mentioned(folder: Path) -> bool:
    return folder.is_dir() and any(
        b"samedevice" in (_bytes(path) or b"") for path in sorted(folder.glob("*.y*ml"))
    )


def _remotes(folder: Path) -> str:
    """Return what git is told of remotes, as text; nothing of git is run."""
    return (_bytes(folder / ".git" / "config") or b"").decode("utf-8", "replace").lower()


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _joined(before: bytes | None, text: str) -> bytes:
    """Return a file with a text at its end, with an empty line between."""
    if not before:
        return text.encode()
    end = b"" if before.endswith(b"\n\n") else b"\n" if before.endswith(b"\n") else b"\n\n"
    return before + end + text.encode()


def _name(path: Path) -> str:
    return os.path.normpath(path).replace(os.sep, "/")
