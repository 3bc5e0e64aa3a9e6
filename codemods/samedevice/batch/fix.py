"""The fix of one repository, in a process of its own under limits of time and memory.

The process is forked from one that has read the rules and tables already (multiprocessing's
`forkserver`), so that a thousand small repositories do not pay for a thousand starts. It runs none
of the repository's code.
"""

from __future__ import annotations

import base64
import gc
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

from .. import config as config_
from .. import migrate
from ..check import is_wrong
from ..config import ConfigError
from ..finding import Finding
from ..migrate import Outcome
from ..project import Project
from ..report.changes import change_list, dump
from ..source import from_text
from . import policy as policy_
from .guard import end_with_parent, limit
from .policy import Policy

_ROUNDS = 10
_WARM_UP = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\nprint(model(torch.ones(2)))\n"


class FixError(Exception):
    """Why a repository could not be worked on, in words for the record."""


@dataclass
class Fixed:
    """What the fix of one repository gave; paths are relative to it, with "/".

    `changed` are new contents by path, `own` the repository's settings for a batch, `changes` the
    list that `samedevice fix --report X.json` writes.
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


def fix(root: Path, policy: Policy, answer: Path) -> Fixed:
    """Fix the files in the folder `root`, which stay as they are, in a process under limits.

    `answer` is a file for the way between the processes. Raises `FixError` when the process was
    stopped, and when the repository's settings cannot be used.
    """
    process = _context().Process(
        target=_main, args=(str(root), policy, str(answer), os.getpid()), daemon=True
    )
    process.start()
    process.join(policy.fix_seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise FixError(f"the fix was not done after {policy.fix_seconds:g} s")
    if process.exitcode != 0 or not answer.exists():
        raise FixError(_death(process.exitcode, policy))
    told = json.loads(answer.read_bytes())
    process.close()
    if "error" in told:
        raise FixError(told["error"])
    told["changed"] = {path: base64.b64decode(data) for path, data in told["changed"].items()}
    return Fixed(**told)


def _death(code: int, policy: Policy) -> str:
    if code >= 0:
        return f"the fix ended with exit code {code}"
    why = f"the fix was ended by signal {-code}"
    if code in (-6, -9):  # where a failed allocation, and the kernel's lack of memory, lead
        why += f", as when it needs more than {policy.fix_memory} MiB of memory"
    return why


def _context() -> Any:
    """Return multiprocessing as it works beside threads: nothing is forked from this process."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["samedevice.batch.fix_server"])
        return context
    return multiprocessing.get_context("spawn")


def warm_up() -> None:
    """Read all rules and tables, so that the processes forked from this one have them."""
    migrate.migrate(Project([from_text(_WARM_UP, "warm_up.py")]), config_.Config())
    gc.collect()
    gc.freeze()  # what is never collected is never written, so its memory stays shared


def _main(root: str, policy: Policy, answer: str, parent: int) -> None:
    """Work in the new process and leave the answer in a file, renamed into place."""
    end_with_parent(os.getppid())
    limit({"address_space": policy.fix_memory << 20})
    try:
        told: dict[str, Any] = asdict(work(root, policy))
        told["changed"] = {
            path: base64.b64encode(data).decode() for path, data in told["changed"].items()
        }
    except ConfigError as error:
        told = {"error": str(error).replace(root + os.sep, "")}
    except MemoryError:
        told = {"error": f"the fix needs more than {policy.fix_memory} MiB of memory"}
    except RecursionError:
        told = {"error": "its code is nested too deeply"}
    data = json.dumps(told)
    with open(f"{answer}.new", "w") as file:
        file.write(data)
    os.replace(f"{answer}.new", answer)


def work(root: str, policy: Policy) -> Fixed:
    """Fix the repository in the folder `root` in this process, whose working directory it becomes.

    Raises `ConfigError` for settings that cannot be used.
    """
    os.chdir(root)
    own = policy_.of_repository(Path("."))
    policy = policy.with_own(own)
    fixed = Fixed(own=own)
    if policy.skip:
        return fixed
    config = config_.load(["."], policy.config(root), top=".")
    if policy.modernize:
        project, first = _modernized(config)
    else:
        project, first = migrate.read(["."], config), None
    fixed.files = len(project.sources)
    fixed.lines = sum(source.text.count("\n") for source in project.sources.values())
    outcome, fixed.infer_seconds = _migrate(project, config, policy.leave_alone)
    if first is not None:
        from ..modernize import plan

        outcome = plan.then(first, outcome)
    applied = dict.fromkeys(one for change in outcome.changes for one in change.findings)
    listed = change_list(outcome)
    fixed.changed = {_slashed(change.path): change.after for change in outcome.changes}
    fixed.found = _count(filter(is_wrong, outcome.found))
    fixed.fixed = _count(applied)
    fixed.left = _count(filter(is_wrong, outcome.remaining))
    wrong = {
        (finding.path, finding.span.line, finding.rule)
        for finding in map(outcome.before, filter(is_wrong, outcome.remaining))
    }
    fixed.not_fixed = [
        {"path": _slashed(one.path), "line": one.line, "rule": one.rule, "code": one.code[:500],
         "reason": one.reason}
        for one in listed.left
        if (one.path, one.line, one.rule) in wrong
    ]  # fmt: skip
    fixed.problems = [
        {"path": _slashed(error.path), "line": error.line, "message": error.message}
        for error in outcome.errors
    ]
    fixed.changes = dump(listed, "changes.json")
    return fixed


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

    try:
        spec = GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise ConfigError(f"leave-alone: {error}") from None
    declined: set[migrate.Key] = set()
    for _ in range(_ROUNDS):
        outcome = migrate.migrate(project, config, declined, step)
        kept = [change for change in outcome.changes if spec.match_file(_slashed(change.path))]
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
    from ..modernize import plan

    planned = plan.plan(["."], config, everything=True)
    return plan.project(planned.outcome, config), planned.outcome


def _count(findings: Iterable[Finding]) -> dict[str, int]:
    return dict(sorted(Counter(finding.rule for finding in findings).items()))


def _slashed(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")
