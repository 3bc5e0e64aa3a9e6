"""Run the command that shows whether a change is right: after it, and before it where that failed.

The command is the repository's code and is not trusted: see `sandbox`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from ..outside import python
from ..reading.config import ConfigError
from . import sandbox
from .policy import Policy
from .record import Proof, Run
from .sandbox import Limits
from .trees import Entry

Write = Callable[[str, Path], None]
"""Writes the files of a tree into a new folder."""

_PROVE = "prove:"


def prove(
    policy: Policy,
    entries: Sequence[Entry],
    write: Write,
    trees: tuple[str, str],
    work: Path,
    hidden: Sequence[Path],
) -> Proof | None:
    """Run what `policy.proof` says on the two `trees`, before and after; None without a proof.

    `work` is an empty folder in which it may write, `hidden` folders that it should not see. Both
    sides run at the same path, one after the other. Raises `ConfigError` for a command that cannot
    be read.
    """
    kind, command = _command(policy, entries)
    if not command:
        return None
    limits = Limits(
        seconds=policy.proof_seconds,
        memory=policy.proof_memory << 20,
        disk=policy.proof_disk << 20,
        network=policy.network,
        gpu=policy.gpu,
    )
    runner = _Runner(policy, limits, write, work, hidden)
    if kind == "prove":
        return runner.prove(command, trees)
    words = _words(command, policy)
    after = runner.run(words, trees[1])
    if after.status == "passed":
        return Proof(kind, command, True, False, None, after, sandbox.held(limits))
    before = runner.run(words, trees[0])
    broken = before.status == "passed"
    return Proof(kind, command, False, broken, before, after, sandbox.held(limits))


def _command(policy: Policy, entries: Sequence[Entry]) -> tuple[str, str]:
    """Return what is to be run: the kind of proof and its command, "" for none."""
    proof = policy.proof.strip()
    if proof in ("", "none"):
        return "", ""
    if proof in ("auto", "tests"):
        return ("tests", "python -m pytest -q") if _has_tests(entries) else ("", "")
    if proof.startswith(_PROVE):
        return "prove", proof.removeprefix(_PROVE).strip()
    return "command", proof


def _has_tests(entries: Sequence[Entry]) -> bool:
    """Tell whether pytest would find a test, as its defaults go."""
    for entry in entries:
        name = PurePosixPath(entry.path).name
        if entry.is_file and name.endswith(".py"):
            if name.startswith("test_") or name.endswith("_test.py"):
                return True
    return False


def _words(command: str, policy: Policy) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"proof: {command!r}: {error}") from None
    if not words:
        raise ConfigError("proof: an empty command")
    if words[0] in ("python", "python3"):
        words[0] = policy.python or sys.executable
    return words


class _Runner:
    def __init__(
        self, policy: Policy, limits: Limits, write: Write, work: Path, hidden: Sequence[Path]
    ) -> None:
        self._policy, self._limits, self._write = policy, limits, write
        self._work, self._hidden = work, hidden
        # `pytest` and the like are those of the interpreter
        folder = os.path.dirname(os.path.abspath(policy.python or sys.executable))
        self._env = {"PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])}

    def run(self, words: Sequence[str], tree: str) -> Run:
        """Run the command in the files of `tree`, which are thrown away afterwards."""
        place = self._work / "repository"
        self._write(tree, place)
        try:
            result = self._run(words, place)
        finally:
            self._clear()
        return Run(result.status, result.code, round(result.seconds, 3), result.tail)

    def prove(self, entry: str, trees: tuple[str, str]) -> Proof:
        """Run `samedevice prove` on the two sides."""
        before, after = self._work / "before", self._work / "after"
        self._write(trees[0], before)
        self._write(trees[1], after)
        on = "auto" if self._policy.gpu else "virtual"
        line = [*python.command("samedevice"), "prove", str(before), str(after)]
        if self._policy.python:  # which need not have samedevice
            line += ["--python", self._policy.python]
        line += ["--entry", entry, "--on", on, "--seed", "0", "--report", "proof.json"]
        line += ["--time-limit", str(self._policy.proof_seconds)]
        try:
            result = self._run(line, self._work)
            detail = _checks(self._work / "proof.json")
        finally:
            self._clear()
        run = Run(result.status, result.code, round(result.seconds, 3), result.tail)
        passed = result.status == "passed"
        broken = _is_broken(detail)
        held = sandbox.held(self._limits)
        lines = tuple(f"{verdict}: {name}" + f" ({told})" * bool(told)
                      for name, verdict, told in detail)  # fmt: skip
        return Proof("prove", entry, passed, broken, None, run, held, lines)

    def _run(self, words: Sequence[str], cwd: Path) -> sandbox.Result:
        return sandbox.run(
            words, cwd=cwd, work=self._work, limits=self._limits, hide=self._hidden, env=self._env
        )

    def _clear(self) -> None:
        for child in self._work.iterdir():
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child, ignore_errors=True)
            else:
                child.unlink()


def _checks(report: Path) -> list[tuple[str, str, str]]:
    """Return name, verdict and detail of each check; the program could have written the file."""
    try:
        checks = json.loads(report.read_text("utf-8"))["checks"]
        return [(str(one["name"]), str(one["verdict"]), str(one["detail"])) for one in checks][:50]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _is_broken(checks: Sequence[tuple[str, str, str]]) -> bool:
    """Tell whether the program ran before the change and does not after it, or does otherwise."""
    verdicts = {name: verdict for name, verdict, _ in checks}
    if verdicts.get("before runs on cpu") != "passed":
        return False
    same = ("same output", "same losses", "same parameters", "same files", "after runs")
    return any(verdicts.get(f"{name} on cpu") == "failed" for name in same)
