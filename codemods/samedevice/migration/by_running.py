"""What a run shows -> a fix where inference had none.

Inference says `unknown` where it cannot see; a run can. `by_running` lets the program run on an
accelerator, and what the run saw of unknown expressions decides them: the inference goes on from
there, and repairs as if the code said it. A clash that comes all the same is repaired where the
operand is created or, failing that, where it enters the operation; the next run shows whether that
ended it.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from samedevice.repair import device_names

from .. import inference
from ..finding import UNDECIDED, Edit, Finding, Fix
from ..inference.events import Creation
from ..inference.nodes import Location
from ..inference.solution import Solution
from ..prove.clash import Clash, Party, Step
from ..prove.prove import Proof, prove
from ..prove.run import RunResult, Settings, as_if_in
from ..reading import seen
from ..reading.config import Config
from ..reading.project import Project
from . import migrate
from .runs import Ran, Runs, asked, changed, inside

ROUNDS = 20
"""Runs after which `by_running` gives up."""

RULE = "seen-in-a-run"
"""The name under which fixes that a run asked for are reported."""


@dataclass
class Repaired:
    """What running led to: the outcome with all fixes, the last run, and the fixes that runs gave.

    `stuck` says why the last clash could not be repaired; it is empty when the program passed or
    ended for another reason. `decided` counts what the code does not show and the run did. `runs`
    were made, which took `seconds`. `withheld`: what only the run decided is not in the outcome, as
    the program did not pass.
    """

    outcome: migrate.Outcome
    result: RunResult
    seen: list[Finding] = field(default_factory=list)
    stuck: str = ""
    decided: int = 0
    runs: int = 0
    seconds: float = 0.0
    withheld: bool = False


def proved(
    outcome: migrate.Outcome,
    root: Path,
    program: str,
    settings: Settings | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> Proof:
    """Run `program` before and after the changes of `outcome`, in copies of the folder `root`.

    Raises `ProgramError` when there is nothing that could be run.
    """
    return prove(root, changed(outcome, root), program, settings=settings, progress=progress)


def by_running(
    project: Project,
    config: Config,
    root: Path,
    program: str,
    settings: Settings | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> Repaired:
    """Fix `project`, run `program` in a copy of `root`, and learn from the run, again and again.

    What a run saw of expressions of which the code says nothing the inference knows from then on. A
    clash that is left is repaired where it is. Ends when the program passes, stops for another
    reason, or when no repair gets it further. The limit of `settings` is for all runs together.
    Raises `ProgramError` when the program cannot be started.
    """
    progress("fixing")
    doing = _Doing(project, config, Runs(root, program, settings or Settings()), progress)
    return doing.all()


@dataclass
class _Try:
    """A repair of a clash that the next run judges: what came before it, and what else there is."""

    clash: Hashable
    before: migrate.Outcome
    finding: Finding
    others: Iterator[Finding]


class _Doing:
    """The state of `by_running`."""

    def __init__(
        self, project: Project, config: Config, runs: Runs, progress: Callable[[str], None]
    ) -> None:
        self._given, self._config, self._runs, self._progress = project, config, runs, progress
        self._trying = replace(config, decided_by_run=True)
        self._outcome = self._inferred()
        self._undecided = self._count()
        self._repairs: list[Finding] = []
        self._try: _Try | None = None
        self._withheld = False
        self._ended: set[Hashable] = set()  # clashes that a repair has ended

    def all(self) -> Repaired:
        """Run and repair until nothing more can be done."""
        while True:
            ran = self._run()
            clash, result = ran.result.clash, as_if_in(ran.result, ran.copy, self._runs.root)
            if result.status == "refused":
                return self._done(result)
            if ran.new and self._learned():
                continue
            if clash is not None and (ran := self._recorded(ran, clash)).result.clash is not None:
                clash, result = ran.result.clash, as_if_in(ran.result, ran.copy, self._runs.root)
                stuck = self._repair(clash, ran.copy)
                if stuck:
                    return self._halted(result, stuck)
                continue
            if self._try is not None:
                self._accept(self._try)
            if not result.passed:
                return self._halted(result)
            left = self._decide(ran) if used_device(result) else self._count()
            return self._done(result, decided=max(self._undecided - left, 0))

    def _inferred(self) -> migrate.Outcome:
        known = self._given.like(self._given.sources.values())
        known.seen = self._runs.seen
        return migrate.migrate(known, self._trying)

    def _count(self) -> int:
        return sum(one.rule == UNDECIDED for one in self._outcome.remaining)

    def _run(self, recorded: bool = False) -> Ran:
        done = f"{len(self._repairs)} repaired, run {self._runs.count + 1}"
        self._progress(f"running {self._runs.program} ({done})")
        after = migrate.after_fix(self._outcome, self._trying, self._runs.seen)
        return self._runs.run(self._outcome, after, recorded=recorded)

    def _recorded(self, ran: Ran, clash: Clash) -> Ran:
        """Run once more so that a clash tells how its operands got there, unless that is known."""
        known = self._try is not None and self._name(clash, ran.copy) == self._try.clash
        return ran if known or self._is_over() else self._run(recorded=True)

    def _is_over(self) -> bool:
        return self._runs.is_over or self._runs.count >= ROUNDS

    def _learned(self) -> bool:
        """Infer again with what runs saw; tell whether that changes what is to be run."""
        if self._is_over() or self._repairs or self._try is not None:
            return False
        before = changed(self._outcome, self._runs.root)
        self._outcome = self._inferred()
        return before != changed(self._outcome, self._runs.root)

    def _repair(self, clash: Clash, copy: Path) -> str:
        """Set about a repair of a clash; return why there is none."""
        named = self._name(clash, copy)
        if self._try is not None and self._try.clash != named and named not in self._ended:
            self._accept(self._try)
        if self._try is not None:  # it ended nothing, or brought back what was ended before
            self._outcome, others = self._try.before, self._try.others
        elif named in self._ended:
            return "the same clash came back"
        else:
            now = migrate.after_fix(self._outcome, self._trying, self._runs.seen)
            solution = inference.infer(now)
            others = _from_clash(solution, clash, copy, self._runs.root)
        if self._is_over():
            return f"no time or runs are left ({self._runs.count} runs)"
        tried = self._try is not None
        for finding in others:
            more = migrate.further(self._outcome, finding, self._trying, self._runs.seen)
            if more is not None:
                self._try = _Try(
                    self._try.clash if self._try else named, self._outcome, finding, others
                )
                self._outcome = more
                return ""
        self._try = None
        return (
            "no repair that was tried ends it" if tried else "no operand of it can be moved safely"
        )

    def _accept(self, tried: _Try) -> None:
        self._ended.add(tried.clash)
        self._repairs.append(tried.finding)
        self._try = None

    def _name(self, clash: Clash, copy: Path) -> Hashable:
        """Return what a clash is known by, whatever was repaired in its line since."""
        path = inside(clash.file, copy)
        ours = _ours(clash.file, self._outcome.sources, copy, self._runs.root)
        node = _failed(self._outcome.sources[ours].text, clash) if ours is not None else None
        what = seen.code(node) if node is not None else ""
        return path, self._outcome.line_before(ours or path, clash.line), what

    def _decide(self, ran: Ran) -> int:
        """Take out what was undecided and went well in a run; return how many are left."""
        project = migrate.after_fix(self._outcome, self._trying, self._runs.seen)
        remaining = self._outcome.remaining
        remaining[:] = [
            finding
            for finding in remaining
            if finding.rule != UNDECIDED or not self._has_run(project, finding, ran)
        ]
        return self._count()

    def _has_run(self, project: Project, finding: Finding, ran: Ran) -> bool:
        """Tell whether what a finding is about was evaluated: of an expression, its line is not
        enough, which may have more than one arm."""
        path, node = inside(finding.path, self._runs.root), asked(project, finding)
        if node is not None:
            return (path, seen.place(node)) in ran.places
        lines = range(finding.span.line, finding.span.end_line + 1)
        return not ran.lines.get(path, set()).isdisjoint(lines)

    def _halted(self, result: RunResult, stuck: str = "") -> Repaired:
        """End with what is sure without the run, where a conversion needs what it decided."""
        if self._try is not None:
            self._outcome, self._try = self._try.before, None
        strict = migrate.with_incomplete(self._given, self._config)
        waits = any(one.fix is not None and one.fix.missing for one in strict.remaining)
        if waits or self._converted(strict):
            self._outcome, self._repairs, self._withheld = strict, [], True
        return self._done(result, stuck)

    def _converted(self, strict: migrate.Outcome) -> bool:
        """Tell whether a program for the CPU is converted only by what runs saw."""
        sure = {change.path: change.after for change in strict.changes}
        more = {one.path for one in self._outcome.changes if sure.get(one.path) != one.after}
        return bool(more) and not more.isdisjoint(inference.infer(self._given).policy.converting)

    def _done(self, result: RunResult, stuck: str = "", decided: int = 0) -> Repaired:
        runs = self._runs
        return Repaired(
            self._outcome, result, self._repairs, stuck, decided, runs.count, runs.seconds,
            self._withheld,
        )  # fmt: skip


def _from_clash(solution: Solution, clash: Clash, copy: Path, root: Path) -> Iterator[Finding]:
    """Yield the findings, each with its fix, that a clash shows, the likeliest first.

    What is on the CPU is created on the device, or moved where it enters; what is on the device
    goes to where the code around says that its values are (`x.device`).
    """
    given = solution, clash
    if clash.kind == "numpy":
        for party in clash.operands:
            if party.device != "cpu":
                yield from _one(_operand(*given, party, copy, root, ".cpu()"))
        return
    direct = _operands(solution, clash, copy, root)
    named = (*clash.operands, *clash.sides)
    parties = [one for one in named if not direct or _bare(one.expression) in direct]
    for party in parties or clash.operands:
        if party.device == "cpu":
            for step in party.steps[:1]:
                yield from _one(_creation(solution, step, clash, copy, root))
            yield from _one(_operand(*given, party, copy, root, None))
    for party in parties or clash.operands:
        if party.device != "cpu":
            yield from _one(_operand(*given, party, copy, root, None, follows=True))


def _operands(solution: Solution, clash: Clash, copy: Path, root: Path) -> set[str]:
    """Return the code of what the failed operation itself takes, as far as it can be told.

    A clash also names what its operands are made of.
    """
    path = _ours(clash.file, solution.project.sources, copy, root)
    node = _failed(solution.project.sources[path].text, clash) if path is not None else None
    taken: list[ast.expr] = []
    match node:
        case ast.BinOp(left=left, right=right):
            taken = [left, right]
        case ast.Compare(left=left, comparators=others):
            taken = [left, *others]
        case ast.Call(func=func, args=args, keywords=keywords):
            taken = [func, *args, *(word.value for word in keywords)]
            if isinstance(func, ast.Attribute):
                taken.append(func.value)
    return {seen.code(one) for one in taken}


def _failed(text: str, clash: Clash) -> ast.expr | None:
    """Return the expression that failed, if Python tells it and it is in one line."""
    lines = text.split("\n")
    if clash.column is None or clash.end_column is None or clash.end_line != clash.line:
        return None
    try:
        return ast.parse(lines[clash.line - 1][clash.column : clash.end_column], mode="eval").body
    except (IndexError, SyntaxError):
        return None


def used_device(result: RunResult) -> bool:
    """Tell whether a run made anything on the device: else it shows nothing of what meets there."""
    return result.record is None or result.record.made > 0


def _bare(expression: str) -> str:
    """Return the code of an operand without what moves it."""
    try:
        return seen.code(ast.parse(expression, mode="eval").body)
    except SyntaxError:
        return expression


def _one(found: Finding | None) -> Iterator[Finding]:
    if found is not None:
        yield found


def _creation(
    solution: Solution, step: Step, clash: Clash, copy: Path, root: Path
) -> Finding | None:
    """Create the operand on the device, where exactly one creation stands in its line."""
    path = _ours(step.file, solution.project.sources, copy, root)
    if step.how != "created" or path is None:
        return None
    groups = [
        group
        for group in solution.groups(Creation)
        if group.spot.path == path and getattr(group.spot.node, "lineno", 0) == step.line
        and not group.first.in_constructor
    ]  # fmt: skip
    if len(groups) != 1:
        return None
    group = groups[0]
    name = device_names(solution).device_for(group)
    if name is None:
        return None
    edit = device_names(solution).creation_edit(group, name)
    return Finding(
        path, solution.span(group.spot), RULE,
        f"a run showed that this is on the CPU when it meets {_others(clash)} at "
        f"{posixpath.basename(clash.file)}:{clash.line}",
        fix=Fix((edit, *name.edits), imports=name.imports, resolvers=name.resolvers),
    )  # fmt: skip


def _operand(
    solution: Solution,
    clash: Clash,
    party: Party,
    copy: Path,
    root: Path,
    code: str | None,
    follows: bool = False,
) -> Finding | None:
    """Move the operand where it enters the operation; if it `follows`, to where a value is."""
    path = _ours(clash.file, solution.project.sources, copy, root)
    if path is None or not party.expression or not party.what.startswith("tensor"):
        return None  # a module moves where it is built, and nowhere else
    spot = _expression(solution, path, clash, party.expression)
    if spot is None:
        return None
    edits: tuple[Edit, ...]
    if code is None:
        name = device_names(solution).name_at(spot)
        if name is None or follows and not name.code.endswith(".device"):
            return None
        edit = Edit(path, solution.span(spot), "method", (("code", f".to({name.code})"),))
        fix = Fix((edit, *name.edits), imports=name.imports, resolvers=name.resolvers)
    else:
        edits = (Edit(path, solution.span(spot), "method", (("code", code),)),)
        fix = Fix(edits)
    return Finding(
        path, solution.span(spot), RULE,
        f"a run showed that this is on {party.device} when it meets {_others(clash, party)}",
        fix=fix,
    )  # fmt: skip


def _others(clash: Clash, party: Party | None = None) -> str:
    """Return what an operand, one on the CPU perhaps, meets."""
    if clash.kind != "numpy" and party is not None and party.device != "cpu":
        return "a value on the CPU"
    devices = sorted({p.device for p in clash.operands if p.device != "cpu"} - {""})
    devices = [one for one in devices if party is None or one != party.device]
    return " and ".join(devices) or "the CPU's memory"


def _expression(solution: Solution, path: str, clash: Clash, text: str) -> Location | None:
    """Return the operand as it stands in the line of the clash, if it stands there once."""
    tree = solution.project.tree(path)
    last = clash.end_line or clash.line
    try:
        wanted = ast.dump(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return None
    found = [
        node
        for node in ast.walk(tree or ast.Module([], []))
        if isinstance(node, ast.expr)
        and clash.line <= node.lineno <= last
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and ast.dump(node) == wanted
    ]
    return Location(path, found[0]) if len(found) == 1 else None


def _ours(file: str, sources: Iterable[str], copy: Path, root: Path) -> str | None:
    """Return which of the project's files a file in the copy that was run is."""
    try:
        inside = Path(file).resolve().relative_to(copy.resolve())
    except ValueError:
        return None
    wanted = (root / inside).resolve()
    for path in sources:
        if Path(path).resolve() == wanted:
            return path
    return None


__all__ = ["RULE", "Repaired", "by_running", "proved", "used_device"]
