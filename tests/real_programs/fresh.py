"""``python -m tests.real_programs.fresh --corpus DIR --fixed DIR``: programs of the samples, run.

Each repository of ``fresh.toml`` is fixed once, as a whole, in a copy below ``--fixed``; each of
its programs is run before and after, on the CPU and on the virtual accelerator.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from . import compare, stage
from .catalogue import Program, load
from .examine import TOLERANCE, difference_of, left_to_do
from .inputs import supply
from .stage import Run
from .warm import Warm

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CATALOGUE = HERE / "fresh.toml"
DRIVERS = HERE / "drivers"
FIX_LIMIT = 300.0
VIRTUAL_SLOWER = 2  # times the limit of a run on the CPU


@dataclass
class Outcome:
    """What came of one program. Of a run: empty where it reached its end, or why it did not."""

    name: str
    args: tuple[str, ...]
    commit: str
    supplies: str
    driver: str
    revision: str  # of samedevice
    changed_lines: int = 0  # in the repository
    edited: list[str] = field(default_factory=list)  # files that ran and were edited
    before: str = ""
    before_virtual: str = ""  # ... or why what it computes there is not what the CPU computes
    after: str = ""
    after_virtual: str = ""
    ended: bool = False  # whether it reached its end on the virtual accelerator before
    ended_after: bool = False
    equal: str = ""  # on the CPU, before and after
    backwards: int = 0
    told: str = ""
    verdict: str = ""


def examine(program: Program, corpus: Path, fixed: Path, revision: str, limit: float) -> Outcome:
    """Run ``program`` before and after; nothing raises for what the program does."""
    checkout = program.checkout(corpus)
    commit = (checkout / ".corpus-commit").read_text().strip()
    result = Outcome(program.name, program.args, commit, program.supplies, program.driver, revision)
    repaired, said = _fixed(checkout, fixed)
    whole = replace(program, copy=(".",))
    with TemporaryDirectory() as scratch:
        before, after = Path(scratch) / "before", Path(scratch) / "after"
        for folder, source in ((before, checkout), (after, repaired)):
            shutil.copytree(source, folder)
            supply(whole, folder)
            if program.driver:
                target = folder / program.path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(DRIVERS / program.driver, target)
        changes = difference_of(before, after)
        marked = [line for line in changes if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        result.changed_lines = len(marked)
        touched = {line[6:].strip() for line in changes if line[:3] == "+++"}
        _run(result, whole, before, after, touched, said, limit)
    result.verdict = verdict(result)
    return result


def _run(
    result: Outcome,
    program: Program,
    before: Path,
    after: Path,
    touched: set[str],
    said: str,
    limit: float,
) -> None:
    slow = limit * VIRTUAL_SLOWER
    old = _start(program, before, limit)
    old_there = _start(program, before, slow, on_virtual=True)
    result.before = old.reason
    reference = old if old.finished else old_there
    result.ended = old_there.finished
    result.before_virtual = old_there.reason or _there(old_there, old_there, reference)
    if not reference.finished:
        return
    ran = {*old.files, *old_there.files, program.path}
    if not (touched if program.driver else touched & ran):
        new, new_there = old, old_there  # nothing that runs was edited
    else:
        new = _start(program, after, limit)
        new_there = _start(program, after, slow, on_virtual=True)
    result.ended_after = new_there.finished
    result.after, result.backwards = new.reason, len(new.losses)
    ran |= {*new.files, *new_there.files}
    result.edited = sorted(touched & ran)
    result.told = next(filter(None, (left_to_do(said, path) for path in sorted(ran))), "")
    if new.finished and new is not old:
        result.equal = _equal(program, before, limit, old, old_there, new)
    result.after_virtual = new_there.reason or _there(
        new_there, old_there, new if new.finished else reference
    )


def _start(program: Program, folder: Path, limit: float, *, on_virtual: bool = False) -> Run:
    return stage.run(program, folder, limit, on_virtual=on_virtual, call=_warm().call)


@cache
def _warm() -> Warm:
    nobody = Program("", "", "")
    env = stage.environment(nobody, Path("/nowhere/trace"), Path("/nowhere"))
    return Warm({name: value for name, value in env.items() if "REAL_PROGRAMS" not in name})


def _equal(program: Program, before: Path, limit: float, old: Run, there: Run, new: Run) -> str:
    """How the run on the CPU differs from the published program; empty where it does not."""
    if not old.finished:  # it needs CUDA: the virtual accelerator says what is right
        return _same(there, new)
    said = compare.difference(old, old, new)
    if said:
        said = compare.difference(old, _start(program, before, limit), new)
    return said


def _there(run: Run, published: Run, reference: Run) -> str:
    """What is not on the device, or not what the reference computes.

    What a program that uses the device keeps on the host as published is its own choice.
    """
    for what, places, before in (
        ("parameters stepped", run.stepped, published.stepped),
        ("losses computed", run.losses_on, published.losses_on),
    ):
        own = before.get("cpu", 0) if "cuda" in before else 0
        elsewhere = places.get("cpu", 0)
        if elsewhere > own:
            return f"{what} elsewhere: {elsewhere}"
    return _same(reference, run)


def _same(left: Run, right: Run) -> str:
    if left.losses or right.losses:
        return compare.loss_difference(left, left, right, TOLERANCE)
    return compare.difference(left, left, right, tolerance=TOLERANCE, devices=True)


def verdict(outcome: Outcome) -> str:
    """One word; the page explains them."""
    ran = not outcome.before
    ran_there = not outcome.before_virtual
    if not ran and not ran_there:
        return "does not run"
    if outcome.after and ran:
        return "breaks on the CPU"
    if outcome.equal and "never" not in outcome.equal:
        return "output changed"
    if outcome.ended > outcome.ended_after or (outcome.after_virtual and ran_there):
        return "breaks on a device"
    if not outcome.after and not outcome.after_virtual:
        if ran and ran_there:
            return "runs as before" if outcome.edited else "as it was"
        return "repaired"
    return "told" if outcome.told else "silent"


def _fixed(checkout: Path, fixed: Path) -> tuple[Path, str]:
    """The repository after `fix --yes`, made where it is not there yet, and what `fix` said."""
    folder, log = fixed / checkout.name, fixed / f"{checkout.name}.log"
    if not log.exists():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(checkout, folder)
        run = stage.fix(folder, (), FIX_LIMIT)
        log.write_text(run.stdout + run.stderr, encoding="utf-8")
    return folder, log.read_text(encoding="utf-8")


def table(outcomes: list[Outcome]) -> str:
    """The totals and the table of docs/proof/fresh.md."""
    ran = [outcome for outcome in outcomes if outcome.verdict != "does not run"]
    counts = Counter(outcome.verdict for outcome in ran)
    repositories = {outcome.name.split("/", 2)[1] for outcome in ran}
    lines = [
        f"{len(ran)} programs of {len(repositories)} projects: "
        + ", ".join(f"{number} {word}" for word, number in counts.most_common())
        + ".",
        "",
        "| program | commit | edited | before: CPU | device | after: CPU | device | verdict "
        "| revision |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for outcome in ran:
        runs = (outcome.before, outcome.before_virtual, outcome.after, outcome.after_virtual)
        marks = " | ".join(_mark(run) for run in runs)
        program = f"{_name(outcome, outcomes)} | {outcome.commit[:9]} | {len(outcome.edited)}"
        lines.append(f"| {program} | {marks} | {outcome.verdict} | {outcome.revision} |")
    return "\n".join(lines) + "\n"


def _name(outcome: Outcome, outcomes: list[Outcome]) -> str:
    """Repository and path, with the options that tell it from others of the same path."""
    others = [other for other in outcomes if other.name == outcome.name and other is not outcome]
    common = set(outcome.args).intersection(*(other.args for other in others)) if others else None
    telling = [word for word in outcome.args if common is not None and word not in common]
    name = outcome.name.rsplit("/", 1)[0] if outcome.driver else outcome.name
    return " ".join([name, *telling, *(["(driver)"] if outcome.driver else [])])


def _mark(run: str) -> str:
    if not run:
        return "yes"
    return "stays" if "elsewhere" in run else "no"


def main() -> int:
    """Run what was asked for, add it to the record and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="checkouts as OWNER+NAME")
    parser.add_argument("--fixed", type=Path, required=True, help="the same, after `fix --yes`")
    parser.add_argument("--record", type=Path, default=ROOT / "docs/proof/fresh_programs.json")
    parser.add_argument("--only", default="", metavar="PATTERN", help="part of repository/path")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds for a run on the CPU")
    parser.add_argument("--revision", default="", help="of samedevice, for the record")
    parser.add_argument("--new", action="store_true", help="only what is not in the record")
    options = parser.parse_args()
    kept: dict[str, Outcome] = {}
    if options.record.exists():
        entries = json.loads(options.record.read_text(encoding="utf-8"))
        kept = {key: Outcome(**entry) for key, entry in entries.items()}
    order = []
    for program in load(CATALOGUE):
        key = " ".join([program.name, *program.args])
        order.append(key)
        if not fnmatch(program.name, f"*{options.only}*") or (
            options.new and key in kept and kept[key].verdict != "does not run"
        ):
            continue
        outcome = examine(program, options.corpus, options.fixed, options.revision, options.limit)
        kept[key] = outcome
        text = json.dumps({k: asdict(v) for k, v in kept.items()}, indent=1, sort_keys=True)
        options.record.write_text(text + "\n", encoding="utf-8")
        print(f"{outcome.verdict:20} {key}", flush=True)
        for stage_name in ("before", "before_virtual", "after", "after_virtual", "equal"):
            if said := getattr(outcome, stage_name):
                print(f"    {stage_name}: {said}", flush=True)
    print(table([kept[key] for key in order if key in kept]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
