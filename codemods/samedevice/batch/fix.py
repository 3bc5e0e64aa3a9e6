"""The fix of one repository, in a process of its own under limits of time and memory.

The process is forked from one that has read the rules and tables already (`fix_server`), so that a
thousand small repositories do not pay for a thousand starts. It runs none of the repository's code.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import subprocess
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..finding import Finding
from ..migration import migrate
from ..migration.check import is_wrong
from ..migration.migrate import Outcome
from ..outside import python
from ..reading import config as config_
from ..reading.config import ConfigError
from ..reading.patterns import Patterns
from ..reading.project import Project
from ..reading.source import SourceError
from ..report.changes import change_list, dump, line_of
from . import policy as policy_
from .policy import Policy

_ROUNDS = 10
_MAPPED = 10_000  # lines of code on a map, which is some 6 MB


class FixError(Exception):
    """Why a repository could not be worked on, in words for the record."""


@dataclass
class Fixed:
    """What the fix of one repository gave; paths are relative to it, with "/".

    `changed` are new contents by path, `own` the repository's settings for a batch, `changes` the
    list that `samedevice fix --report X.json` writes. `map` is the page that `samedevice map` makes
    of the files with changes or findings, before and after, "" for none; `mapped` are its files
    with where they are on it, and `unmapped` says why some or all are not.
    """

    changed: dict[str, bytes] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    files: int = 0
    lines: int = 0
    infer_seconds: float = 0.0
    found: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    not_fixed: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    changes: str = ""
    map: str = ""
    mapped: dict[str, str] = field(default_factory=dict)
    unmapped: str = ""


class Server:
    """A process that forks one for each fix; a thread has its own, started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, root: Path, policy: Policy, answer: Path, title: str = "") -> int | None:
        """Fix a folder; return the exit code of the process that did, None when time ran out."""
        asked = {
            "root": str(root), "policy": policy.to_json(), "answer": str(answer), "title": title
        }  # fmt: skip
        for _ in range(2):  # it may have ended since the last time
            line = self._exchange(json.dumps(asked))
            if line:
                code: int | None = json.loads(line)["code"]
                return code
        raise FixError("the process that starts fixes ended")

    def _exchange(self, line: str) -> str:
        """Return the answer to a line, "" when the process ended."""
        if self._process is None:
            self._process = subprocess.Popen(
                python.command("samedevice.batch.fix_server"), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=_environment(),
            )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        answer = ""
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            pass
        if not answer or not hasattr(os, "fork"):
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    """Return the environment without what may be a secret: the fix needs none."""
    secret = re.compile("TOKEN|SECRET|PASSWORD|_KEY", re.IGNORECASE)
    return {name: value for name, value in os.environ.items() if not secret.search(name)}


def fix(server: Server, root: Path, policy: Policy, answer: Path, title: str = "") -> Fixed:
    """Fix the files in the folder `root`, which stay as they are, in a process under limits.

    `answer` is a file for the way between the processes, and `title` the name that the map has.
    Raises `FixError` when the process was stopped, and when the repository's settings cannot be
    used.
    """
    code = server.ask(root, policy, answer, title)
    if not answer.exists():
        raise FixError(f"the fix {_death(code, policy)}")
    told = json.loads(answer.read_bytes())
    if "error" in told:
        raise FixError(told["error"])
    told["changed"] = {path: base64.b64decode(data) for path, data in told["changed"].items()}
    drawn = _map_of(answer)
    if drawn.exists():
        told |= json.loads(drawn.read_bytes())
    elif code != 0:
        told["unmapped"] = f"the map {_death(code, policy)}"
    return Fixed(**told)


def _map_of(answer: str | Path) -> Path:
    """Return the file for the map, which comes after the answer and must not cost it."""
    return Path(f"{answer}.map")


def _death(code: int | None, policy: Policy) -> str:
    if code is None:
        return f"was not done after {policy.fix_seconds:g} s"
    if code >= 0:
        return f"ended with exit code {code}"
    why = f"was ended by signal {-code}"
    if code in (-6, -9):  # where a failed allocation, and the kernel's lack of memory, lead
        why += f", as when it needs more than {policy.fix_memory} MiB of memory"
    return why


def answer(root: str, policy: Policy, file: str, title: str = "") -> None:
    """Fix a folder in this process, and leave what `fix` returns in files, renamed into place."""
    task = Task(root, policy, title)
    told = _safely(task.fix, root, policy)
    if "changed" in told:
        told["changed"] = {
            path: base64.b64encode(data).decode() for path, data in told["changed"].items()
        }
    _leave(file, told)
    if "error" not in told and policy.map:
        drawn = _safely(task.map, root, policy)
        _leave(str(_map_of(file)), {"unmapped": drawn["error"]} if "error" in drawn else drawn)


def _safely(do: Callable[[], dict[str, Any]], root: str, policy: Policy) -> dict[str, Any]:
    """Return what `do` returns, or {"error": why not}."""
    try:
        return do()
    except ConfigError as error:
        return {"error": str(error).replace(root + os.sep, "")}
    except MemoryError:
        return {"error": f"the fix needs more than {policy.fix_memory} MiB of memory"}
    except RecursionError:
        return {"error": "its code is nested too deeply"}
    except Exception as error:
        lines = "".join(traceback.format_exception(error)[-4:])
        return {"error": f"this is a fault in samedevice; please report it: {lines}"}


def _leave(file: str, told: dict[str, Any]) -> None:
    with open(f"{file}.new", "w") as new:
        new.write(json.dumps(told))
    os.replace(f"{file}.new", file)


class Task:
    """The work on one repository in the folder `root`, which becomes the working directory."""

    def __init__(self, root: str, policy: Policy, title: str = "") -> None:
        self._root = root
        self._policy = policy
        self._title = title
        self._done: tuple[Project, config_.Config, Outcome] | None = None

    def fix(self) -> dict[str, Any]:
        """Return the fields of `Fixed` but those of the map; raises `ConfigError`."""
        os.chdir(self._root)
        own = policy_.of_repository(Path("."))
        policy = self._policy.with_own(own)
        fixed = Fixed(own=own)
        if policy.skip:
            return asdict(fixed)
        config = config_.load(["."], policy.config(self._root), top=".")
        if policy.modernize:
            project, first = _modernized(config)
        else:
            project, first = migrate.read(["."], config), None
        fixed.files = len(project.sources)
        fixed.lines = sum(source.text.count("\n") for source in project.sources.values())
        outcome, fixed.infer_seconds = _migrate(project, config, policy.leave_alone)
        self._done = project, config, outcome
        if first is not None:
            from ..migration.modernize import plan

            outcome = plan.then(first, outcome)
        applied = dict.fromkeys(one for change in outcome.changes for one in change.findings)
        listed = change_list(outcome)
        fixed.changed = {_slashed(change.path): change.after for change in outcome.changes}
        fixed.found = _found(outcome, applied)
        fixed.fixed = _count(applied)
        fixed.left = _count(filter(is_wrong, outcome.remaining))
        wrong = {
            (finding.path, *line_of(finding.path, finding.span.line, outcome), finding.rule)
            for finding in map(outcome.before, filter(is_wrong, outcome.remaining))
        }
        fixed.not_fixed = [
            {"path": _slashed(one.path), "line": one.line, "rule": one.rule,
             "code": one.code[:500], "reason": one.reason, "cell": one.cell}
            for one in listed.left
            if (one.path, one.cell, one.line, one.rule) in wrong
        ]  # fmt: skip
        fixed.problems = [_problem(error) for error in outcome.errors]
        fixed.changes = dump(listed, "changes.json")
        return asdict(fixed)

    def map(self) -> dict[str, Any]:
        """Return the fields of `Fixed` that are the map's; {} where there is nothing to show."""
        from .. import map as map_

        if self._done is None:
            return {}
        project, config, outcome = self._done
        weight = Counter(one.path for one in (*outcome.found, *outcome.remaining) if is_wrong(one))
        weight.update(change.path for change in outcome.changes)
        shown: list[str] = []
        lines = 0
        for path, _ in weight.most_common():
            source = outcome.sources.get(path) or project.sources[path]
            lines += source.text.count("\n")
            if shown and lines > _MAPPED:
                break
            shown.append(path)
        if not shown:
            return {}
        page = map_.page(
            project,
            config,
            after=project.like(outcome.sources.values()),
            title=self._title,
            only=shown,
            found=(outcome.found, outcome.remaining),
        )
        more = len(weight) - len(shown)
        said = "1 file is" if more == 1 else f"{more} files are"
        return {
            "map": page.text,
            "mapped": {_slashed(path): anchor for path, anchor in page.anchors.items()},
            "unmapped": f"{said} not on the map, which is long" if more else "",
        }


def _migrate(
    project: Project, config: config_.Config, patterns: Iterable[str]
) -> tuple[Outcome, float]:
    """Return the outcome that changes no file of `patterns`, and the seconds to what was found.

    A fix is all of its edits or none: one that needs such a file is not applied elsewhere either.
    """
    started = time.monotonic()
    infer: list[float] = []
    waiting = [len(project.sources)]

    def step(files: int) -> None:
        waiting[0] -= files
        if waiting[0] <= 0 and not infer:
            infer.append(time.monotonic() - started)

    spec = Patterns(patterns)
    declined: set[migrate.Key] = set()
    for _ in range(_ROUNDS):
        outcome = migrate.with_incomplete(project, config, declined, step)
        kept = [change for change in outcome.changes if spec.matches(_slashed(change.path))]
        if not kept:
            break
        declined |= {migrate.key(finding) for change in kept for finding in change.findings}
        declined |= {
            migrate.key(finding)
            for change in outcome.changes
            for finding in change.findings
            if finding.fix
            and {item.module_path for item in finding.fix.resolvers}
            & set(change.path for change in kept)
        }
    else:
        raise ConfigError("leave-alone: no fix is left that keeps these files as they are")
    return outcome, infer[0] if infer else time.monotonic() - started


def _modernized(config: config_.Config) -> tuple[Project, Outcome]:
    from ..migration.modernize import plan

    planned = plan.plan(["."], config, everything=True)
    return plan.project(planned.outcome, config, ["."]), planned.outcome


def _found(outcome: Outcome, applied: Iterable[Finding]) -> dict[str, int]:
    """Count what was found in all rounds, by rule: a fix may bring to light what it hid before.

    Each counts once, however many rounds saw it.
    """

    def seen(findings: Iterable[Finding]) -> Counter[tuple[str, int, str]]:
        return Counter((one.path, one.span.line, one.rule) for one in findings)

    later = seen(applied)
    later += seen(outcome.before(one) for one in outcome.remaining if is_wrong(one))
    every = seen(filter(is_wrong, outcome.found)) | later
    by_rule: Counter[str] = Counter()
    for (_, _, rule), count in every.items():
        by_rule[rule] += count
    return dict(sorted(by_rule.items()))


def _count(findings: Iterable[Finding]) -> dict[str, int]:
    return dict(sorted(Counter(finding.rule for finding in findings).items()))


def _problem(error: SourceError) -> dict[str, Any]:
    cell, line = (None, error.line) if error.cell is None else error.cell
    return {
        "path": _slashed(error.path), "line": line, "message": error.message, "cell": cell,
    }  # fmt: skip


def _slashed(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")
