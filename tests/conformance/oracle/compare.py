"""Inferred against observed, expression by expression, and the causes of what differs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from .inferred import CENTRAL, FOLLOWS, HOST, UNKNOWN, Program, Said
from .instrument import KINDS, Key, key

#: What can be said of an expression that was a tensor or a module in a run.
AGREE, CONTRADICT, UNDECIDED, UNTYPED = "agree", "contradict", "undecided", "untyped"
#: Of a module that was still on the host where a value is told to be on the device: it is moved at
#: some time, perhaps on one path only.
LATER = "moved later"
#: Of one that was inferred to be one: it was something else, or the run never came there.
OTHER, NEVER = "no tensor", "never evaluated"
VERDICTS = (AGREE, LATER, CONTRADICT, UNDECIDED, UNTYPED, OTHER, NEVER)
#: Those about expressions that were a tensor or a module.
JUDGED = VERDICTS[:5]

Seen = dict[Key, dict[tuple[str, str, str], int]]
"""How often each expression of a file had its value where: (what, device, with whom) -> times."""


@dataclass(frozen=True)
class Verdict:
    """One expression of one program. `cause`: nothing that it is made from is wrong already."""

    program: str
    path: str
    line: int
    column: int
    kind: str
    what: str
    code: str
    verdict: str
    inferred: tuple[str, ...]
    observed: dict[str, int]
    cause: str = ""


@dataclass
class Compared:
    """All verdicts of one program, those that agree only as numbers: (what, kind, verdict).

    `left_host`: some of it was on the device. Of a run that never left the host, what agrees tells
    less.
    """

    program: str
    left_host: bool = False
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    different: list[Verdict] = field(default_factory=list)

    def to_json(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "program": self.program,
            "left_host": self.left_host,
            "counts": [[*what, count] for what, count in sorted(self.counts.items())],
            "different": [asdict(one) for one in self.different],
        }


def compare(name: str, program: Program, seen: dict[str, Seen], shown: dict[str, str]) -> Compared:
    """Compare what was inferred for a program's files with what was seen in its runs.

    `shown` are the paths as they are told.
    """
    central = _central(program, seen)
    result = Compared(name, "cuda" in _devices(seen))
    for path, tree in program.trees.items():
        verdicts: dict[Key, Verdict] = {}
        said, was = program.said.get(path, {}), seen.get(path, {})
        for one in {**said, **was}:
            for what in ("tensor", "module"):
                verdict = _verdict(what, one, said.get(one), was.get(one, {}), central)
                if verdict is None:
                    continue
                kind, inferred, observed = verdict
                result.counts[what, one[4], kind] += 1
                if kind in (CONTRADICT, UNDECIDED, UNTYPED):
                    verdicts[one] = Verdict(
                        name, shown[path], one[0], one[1], one[4], what,
                        said[one].code if one in said else "", kind, inferred, observed,
                    )  # fmt: skip
        result.different += _with_causes(tree, verdicts)
    return result


def _central(program: Program, seen: dict[str, Seen]) -> str:
    """Return the device that the program computed on, or would."""
    if "cuda" in _devices(seen):
        return "cuda"
    return "cpu" if program.names_device else "cuda"


def _devices(seen: dict[str, Seen]) -> set[str]:
    return {
        device.partition(":")[0]
        for file in seen.values()
        for counts in file.values()
        for what, device, _ in counts
        if what in ("tensor", "module", "device")
    }


def _verdict(
    what: str, one: Key, said: Said | None, was: dict[tuple[str, str, str], int], central: str
) -> tuple[str, tuple[str, ...], dict[str, int]] | None:
    """Return the verdict about one expression, what was inferred and what was observed."""
    places = frozenset() if said is None else said.tensors if what == "tensor" else said.modules
    observed: Counter[str] = Counter()
    consistent = True
    for (kind, device, how), count in was.items():
        if kind == what:
            observed[device.partition(":")[0]] += count
            consistent &= how != "without"
    inferred = tuple(sorted(places))
    if not observed:
        if not places:
            return None
        if any(kind == "mixed" for kind, _, _ in was):
            return None  # a module of parts in several places has none
        return (OTHER if was else NEVER), inferred, {}
    if not places:
        return UNTYPED, inferred, dict(observed)
    allowed: set[str] = set()
    for place in places - {UNKNOWN}:
        if place == FOLLOWS:
            allowed |= set(observed) if consistent else set()
        else:
            allowed.add({HOST: "cpu", CENTRAL: central}.get(place, place.partition(":")[0]))
    if set(observed) <= allowed:
        return AGREE, inferred, dict(observed)
    if what == "module" and said is not None and said.moved and places == {CENTRAL}:
        return LATER, inferred, dict(observed)
    if UNKNOWN in places or said is not None and said.cut:
        return UNDECIDED, inferred, dict(observed)
    return CONTRADICT, inferred, dict(observed)


def _with_causes(tree: ast.Module, verdicts: dict[Key, Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts of a file; one that rests on no other gets a cause in words."""
    if not verdicts:
        return
    bound = _bound(tree)
    for node in ast.walk(tree):
        if not isinstance(node, KINDS) or key(node) not in verdicts:
            continue
        verdict = verdicts[key(node)]
        below = (inner for inner in ast.walk(node) if inner is not node)
        if isinstance(node, ast.Name):
            below = (inner for value in bound.get(node.id, ()) for inner in ast.walk(value))
        code = verdict.code or " ".join(ast.unparse(node).split())[:120]
        derived = any(isinstance(one, KINDS) and key(one) in verdicts for one in below)
        cause = "" if derived else _label(node, bound)
        yield Verdict(**{**vars(verdict), "code": code, "cause": cause})


def _bound(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """Return what names of a file are bound to, wherever they are."""
    found: dict[str, list[ast.expr]] = {}

    def bind(target: ast.expr, value: ast.expr) -> None:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                found.setdefault(name.id, []).append(value)

    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    bind(target, value)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                bind(target, value)
            case ast.AugAssign(target=target, value=value):
                bind(target, value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                bind(target, value)
    return found


def _label(node: ast.expr, bound: dict[str, list[ast.expr]]) -> str:
    """Return what kind of expression this is, in the words that causes are counted by."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attr)):
            return f"call of .{attr}()"
        case ast.Call(func=ast.Name(id=name)):
            return f"call of {name}()"
        case ast.Call():
            return "call of a result"
        case ast.Attribute(attr=attr):
            return f"attribute .{attr}"
        case ast.Subscript(slice=ast.Constant(value=str())):
            return "entry by a literal key"
        case ast.Subscript(slice=ast.Constant()):
            return "element by a literal index"
        case ast.Subscript():
            return "element by a computed index"
        case ast.Name(id=name):
            return "a name that is assigned" if name in bound else "a parameter or free name"
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return f"operator {type(op).__name__}"
        case _:
            return type(node).__name__
