"""A branch tests for CUDA only to move values there.

Why: `.to(device)` does the same on every machine, without a branch. Each such branch is a place
where the next value can be forgotten, and it knows one vendor's devices only. What a branch does
besides stays in it. Where both branches do the same, one to a moved value and one to an unmoved
value, one of them stays.

Example:

    use_cuda = torch.cuda.is_available()
    if use_cuda:
        model = model.cuda()
    x = x.cuda() if use_cuda else x

becomes

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device)
    x = x.to(device)

What a user chooses stays the user's choice: a branch behind an option or a switch goes only where
the device is chosen by one, too.

A branch that asks whether there is CUDA is right as it is: it is a note, and is rewritten where its
file is repaired anyway, or with `--extend-select cuda-branch`.

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same value.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from samedevice.finding import DeviceExpression, Edit, Finding, Fix, Verb
from samedevice.inference import Solution
from samedevice.inference.events import ArmTaken, BranchTaken, FlagSet, Move
from samedevice.inference.nodes import Location
from samedevice.inference.sites import Group
from samedevice.inference.values import Device
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import (
    edit,
    finding,
    fix,
    goes_to,
    idle,
    to_device,
    unmoved,
    with_comment,
)

RULE = "cuda-branch"
#: A branch that asks is right: it is rewritten in files that are repaired, or if the user wants it.
STYLE = True
Decision = BranchTaken | ArmTaken
_MESSAGE = "this branch only moves values to CUDA; `.to(device)` does that on every machine"
#: A definition that asks for an accelerator, and for nothing that a user chose.
_ASKS_ONLY = re.compile(r" if \w+\.(?:cuda|accelerator)\.is_available\(\) else ")
_CALLERS = "callers choose it by a parameter, which would say nothing any more"
#: What an option gets to say that there is CUDA, too: `args.cuda = args.cuda and ...`.
_GUARD = re.compile(r"(?m)^([\w.]+) = \1 and .*\bis_available\(\)")
_BACK = "this tests for CUDA only to move values to the CPU; `.cpu()` does that on every machine"
_INSIDE = "this moves values to CUDA behind a test; `.to(device)` does that on every machine"


def find(solution: Solution) -> Iterator[Finding]:
    """Report branches that move, what they move beside other work, and flags left unread."""
    branches = _Branches(solution)
    found: list[Finding] = []
    for group in solution.groups(BranchTaken):
        found += _judged(branches.statement(group), group)
    for arm in solution.groups(ArmTaken):
        found += _judged(branches.expression(arm), arm)
    yield from _where_they_are(found)
    for unread in _unread_flags(solution):
        yield replace(unread, level="note")


def _judged(found: Iterable[Finding], group: Group[Decision]) -> Iterator[Finding]:
    """Yield findings about a branch, as notes where it is never taken without an accelerator.

    What such a branch moves beside its other work it moves on every machine that it is for.
    """
    right = all(site.asks for site in group.sites)
    for each in found:
        if not (right and each.message == _INSIDE and each.fix):
            yield replace(each, level="note") if right else each


def _where_they_are(found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, but leave moves in a branch as they are, where the rest that is to be done
    for them, the test that its option gets, is done for other findings anyway."""
    done = {change for each in found if each.message != _INSIDE for change in _made(each)}
    for each in found:
        apart = [change for change in _made(each) if change in done]
        if each.message == _INSIDE and any(_GUARD.search(c.get("code")) for c in apart):
            yield replace(each, fix=replace(each.fix, edits=tuple(apart))) if each.fix else each
        else:
            yield each


def _made(found: Finding) -> tuple[Edit, ...]:
    """Return the edits of a finding that define something."""
    edits = found.fix.edits if found.fix is not None else ()
    return tuple(each for each in edits if each.verb in ("after", "before"))


class _Branches:
    """The branches of a project, with the moves in them."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.moves = {
            group.spot.node: group for group in solution.groups(Move) if group.first.name == "cuda"
        }
        self.needing = {
            (group.spot.path, _said(group.spot.node.test))
            for group in solution.groups(BranchTaken)
            if isinstance(group.spot.node, ast.If) and not all(site.asks for site in group.sites)
            if _chooses_gpu(group.spot.node)
        }
        self.done: set[ast.AST] = set()
        self._choosing: dict[frozenset[str], list[ast.AST]] = {}

    def _stays(self, group: Group[Decision], names: Mapping[ast.AST, DeviceExpression]) -> bool:
        """Tell whether a branch is the user's choice, which the device would not take in."""
        if not any(site.choice for site in group.sites):
            return False
        path = group.spot.path
        if path in self.solution.policy.saying_how:
            return True
        return not all(self._takes_in(Location(path, node), name) for node, name in names.items())

    def _takes_in(self, spot: Location, name: DeviceExpression) -> bool:
        """Tell whether the device of a name is chosen by the user, or is that of something else."""
        written = [e.get("code") for e in name.edits if e.verb == "after"]
        if written:
            return not any(_ASKS_ONLY.search(code) for code in written)
        site = self.solution.reach.site_at(spot)
        known = {code: value for code, value, _ in site.devices} if site is not None else {}
        device, attribute = known.get(name.code), name.code.endswith(".device")
        chosen = isinstance(device, Device) and not device.of_value and device.spot is not None
        if attribute and not chosen or not self._deciding(spot.path):
            return attribute and not chosen
        where = device.spot.node if isinstance(device, Device) and device.spot else None
        if where is None:
            return not name.resolvers  # another file's
        return any(
            one is other
            for node in self._deciding(spot.path)
            for one, other in (
                *((part, where) for part in syntax.walk(node)),
                *((part, node) for part in syntax.walk(where)),
            )
        )

    def _rival(self, group: Group[Decision], test: ast.expr) -> str:
        """Return another option by which the program chooses its device, "" if there is none."""
        if not any(site.choice for site in group.sites):
            return ""
        return self.solution.rival(group.spot.path, (ast.unparse(test),))

    def _told(self, spot: Location, rival: str) -> Finding:
        return finding(
            self.solution, RULE, spot,
            f"this option moves values to CUDA, and the option `{rival}` chooses a device, too: "
            "where they differ, values meet on two devices",
            None, unfixed="only you know which of the two options is meant",
        )  # fmt: skip

    def _decisions(self) -> Iterator[Group[Decision]]:
        yield from self.solution.groups(BranchTaken)
        yield from self.solution.groups(ArmTaken)

    def _deciding(self, path: str) -> list[ast.AST]:
        """Return the places of a program where what the user chose decides on a device."""
        program = self.solution.programs.of(path)
        if program not in self._choosing:
            self._choosing[program] = [
                each.spot.node
                for each in self._decisions()
                if each.spot.path in program
                and any(site.choice for site in each.sites)
                and self.solution.gives_device(each.spot)
            ]
        return self._choosing[program]

    def statement(self, group: Group[BranchTaken]) -> Iterator[Finding]:
        """Judge an `if` statement."""
        node, path = group.spot.node, group.spot.path
        if not isinstance(node, ast.If):
            return
        positive = {site.positive for site in group.sites}
        if positive not in ({True}, {False}):
            return  # a switch that somebody sets to a constant
        if group.first.of_value and isinstance(node.test, ast.Name):
            return  # it says where some tensor was, which may have another name by now
        taken, other = (node.body, node.orelse) if positive == {True} else (node.orelse, node.body)
        moves = [n for part in taken for n in ast.walk(part) if n in self.moves]
        moves = [n for n in moves if n not in self.done]
        if not moves:
            return
        self.done.update(moves)
        rival = self._rival(group, node.test)
        if rival:
            yield self._told(Location(path, node.test), rival)
            return
        if (path, _said(node.test)) in self.needing:
            yield finding(
                self.solution, RULE, Location(path, node.test), _INSIDE, None,
                unfixed="a branch with this test sets the GPU, and needs CUDA all the same",
            )  # fmt: skip
            return
        names = {n: self._name(Location(path, n), node.test) for n in moves}
        asked = _is_of_caller(group.first, node.test) and not all(
            _follows(name, node.test) for name in names.values()
        )
        if _would_be_handed_in(group.first, node.test, names.values()):
            yield self._of_caller(group, node.test)
            return
        known: dict[ast.AST, DeviceExpression] = {
            n: name for n, name in names.items() if name is not None
        }
        verb: Verb = "body" if positive == {True} else "orelse"
        rest = self.solution.programs.parents(path).behind(node)
        plain, without = _plain(taken), _plain(other)
        edits: list[Edit] | None = None
        stays = self._stays(group, known)
        if len(known) == sum(map(_count_cuda, taken)) and not stays:
            if plain == without:
                edits = [edit(self.solution, group.spot, verb)]
            elif isinstance(taken[-1], ast.Return) and not other and plain == _plain(rest):
                gone = [edit(self.solution, Location(path, s), "delete") for s in rest]
                edits = [edit(self.solution, group.spot, verb), *gone]
        if edits is not None and asked:
            yield finding(
                self.solution, RULE, Location(path, node.test), _MESSAGE, None,
                unfixed=_CALLERS,
            )  # fmt: skip
            return
        if edits is not None:
            edits += [
                e for n in moves for e in to_device(self.solution, Location(path, n), known[n])
            ]
            yield self._finding(Location(path, node.test), _MESSAGE, known.values(), edits)
            return
        if not known and _is_constant_elsewhere(self.solution, path, node.test):
            yield self._asked_too(Location(path, node.test))
            return
        freed = [] if stays or asked else self._freed(path, node, taken, known)
        yield from self._in_parts(Location(path, node.test), known, freed)

    def _in_parts(
        self, spot: Location, known: dict[ast.AST, DeviceExpression],
        freed: list[tuple[ast.stmt, list[Edit]]],
    ) -> Iterator[Finding]:  # fmt: skip
        """Report the moves of a branch that does more: what is freed from it, and each other."""
        path = spot.path
        if freed:
            changes = [e for _, part in freed for e in part]
            yield self._finding(spot, _MESSAGE, known.values(), changes)
        left = {n for part, _ in freed for n in ast.walk(part)}
        for n, name in known.items():
            parent = self.solution.programs.parents(path).get(n)
            asks = isinstance(parent, ast.Attribute) and parent.attr == "device"
            if n not in left and not asks:  # which GPU is the current one
                yield self._finding(
                    Location(path, n),
                    _INSIDE,
                    [name],
                    to_device(self.solution, Location(path, n), name),
                )

    def _of_caller(self, group: Group[BranchTaken], test: ast.expr) -> Finding:
        """Report a branch that asks what callers hand in: with a device beside it, that would say
        nothing any more. Whether there is CUDA they say, or else the branch asks for it."""
        spot = Location(group.spot.path, test)
        names = device_names(self.solution)
        torch, imports = names.imports.torch(spot.path)
        if torch and isinstance(test, ast.Name) and not names.asks_for_cuda(group, test.id):
            code = f"{test.id} and {torch}.cuda.is_available()"
            whole = edit(self.solution, spot, "replace", code=code)
            return finding(
                self.solution, RULE, spot,
                f"CUDA is used where callers ask for it: that there is some, `{test.id}` does not "
                "say",
                Fix((whole,), imports=imports, erasure="cuda-only-api"),
            )  # fmt: skip
        return finding(self.solution, RULE, spot, _INSIDE, None, unfixed=_CALLERS)

    def _asked_too(self, spot: Location) -> Finding:
        """Report a test of a constant of another file: that there is CUDA it does not say."""
        said = self.solution.code(spot)
        torch, imports = device_names(self.solution).imports.torch(spot.path)
        whole = edit(self.solution, spot, "replace", code=f"{said} and {torch}.cuda.is_available()")
        return finding(
            self.solution, RULE, spot, f"CUDA is used on every machine: `{said}` is always true",
            Fix((whole,), imports=imports, erasure="cuda-only-api") if torch else None,
        )  # fmt: skip

    def _freed(
        self,
        path: str,
        node: ast.If,
        taken: Sequence[ast.stmt],
        known: dict[ast.AST, DeviceExpression],
    ) -> list[tuple[ast.stmt, list[Edit]]]:
        """Return the statements that only move, at the start or the end, and how they get out.

        There are none if others that move have to stay: all of them leave a branch, or none. So it
        is where they move what the branch makes, or what the other one does.
        """
        parent = self.solution.programs.parents(path).get(node)
        if isinstance(parent, ast.If) and parent.orelse == [node]:
            return []  # perhaps an `elif`
        only = [self._only_moves(statement, known) for statement in taken]
        if all(only):
            return []  # the other branch has work of its own: it goes on with one `if` less
        first = next(i for i, moving in enumerate(only) if not moving)
        last = len(only) - next(i for i, moving in enumerate(reversed(only)) if not moving)
        if any(map(_count_cuda, taken[first:last])):
            return []
        made = _bound([*taken[first:last], *node.orelse])
        if made & _read(taken[last:]):
            return []  # what one of the branches makes is moved there
        freed: list[tuple[ast.stmt, list[Edit]]] = []
        for index, statement in enumerate(taken):
            if index < first or index >= last:
                spot = Location(path, statement)
                code = self._moved(path, statement, known)
                freed.append(
                    (
                        statement,
                        [
                            edit(
                                self.solution,
                                Location(path, node),
                                "before" if index < first else "after",
                                code=code,
                            ),
                            edit(self.solution, spot, "delete"),
                        ],
                    )
                )
        return freed

    def _only_moves(self, statement: ast.stmt, known: dict[ast.AST, DeviceExpression]) -> bool:
        moving = [n for n in ast.walk(statement) if n in known]
        return 0 < len(moving) == _count_cuda(statement) and not _plain([statement])

    def _moved(self, path: str, statement: ast.AST, known: dict[ast.AST, DeviceExpression]) -> str:
        """Return the code of a statement or expression with its moves following the device."""
        source = self.solution.project.sources[path]
        start = source.span(statement)
        base = source.offset(start.line, start.column)
        text = source.segment(statement)
        calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call) and n in known]
        for call in sorted(calls, key=lambda n: (n.lineno, n.col_offset), reverse=True):
            assert isinstance(call.func, ast.Attribute)
            receiver, whole = source.span(call.func.value), source.span(call)
            head = source.offset(receiver.end_line, receiver.end_column) - base
            tail = source.offset(whole.end_line, whole.end_column) - base
            rest = "".join(
                f", {k.arg}={source.segment(k.value)}" for k in call.keywords if k.arg != "device"
            )
            text = f"{text[:head]}.to({known[call].code}{rest}){text[tail:]}"
        if isinstance(statement, ast.expr):
            return text
        return with_comment(self.solution, Location(path, statement), text)

    def _name(self, spot: Location, test: ast.expr) -> DeviceExpression | None:
        """Return the device that a move goes to: behind `if x.is_cuda`, that of `x`."""
        if isinstance(test, ast.Attribute) and test.attr == "is_cuda":
            return DeviceExpression(f"{self.solution.code(Location(spot.path, test.value))}.device")
        return goes_to(self.solution, self.moves[spot.node])

    def expression(self, group: Group[ArmTaken]) -> Iterator[Finding]:
        """Judge a conditional expression."""
        node, path = group.spot.node, group.spot.path
        if isinstance(node, ast.BoolOp):
            yield from self._and_or(group, node)
        positive = {site.positive for site in group.sites}
        if not isinstance(node, ast.IfExp) or len(positive) != 1:
            return
        on, off = (node.body, node.orelse) if positive == {True} else (node.orelse, node.body)
        moves = [n for n in ast.walk(on) if n in self.moves and n not in self.done]
        if not moves and not isinstance(on, ast.Call):
            return
        rival = self._rival(group, node.test) if moves else ""
        if rival:
            yield self._told(group.spot, rival)
            return
        same = _plain([on]) == _plain([off])
        goes = [self._name(Location(path, n), node.test) for n in moves]
        named = {n: name for n, name in zip(moves, goes, strict=True) if name is not None}
        stays = self._stays(group, named)
        if not same or len(moves) != _count_cuda(on) or stays:
            for n, name in zip(moves, goes, strict=True):
                if name is not None:
                    changes = to_device(self.solution, Location(path, n), name)
                    yield self._finding(Location(path, n), _INSIDE, [name], changes)
            return
        if moves:
            if all(goes):
                pairs = [(n, name) for n, name in zip(moves, goes, strict=True) if name]
                edits = [edit(self.solution, group.spot, "body" if on is node.body else "orelse")]
                for n, name in pairs:
                    edits += to_device(self.solution, Location(path, n), name)
                yield self._finding(group.spot, _MESSAGE, [n for _, n in pairs], edits)
        elif isinstance(on, ast.Call) and _types(on) != _types(off):
            name = device_names(self.solution).name_at(group.spot)
            if name is not None:
                edits = [
                    edit(self.solution, group.spot, "orelse" if on is node.body else "body"),
                    edit(self.solution, group.spot, "method", code=f".to({name.code})"),
                ]
                yield self._finding(group.spot, _MESSAGE, [name], edits)
        elif isinstance(node.test, ast.BoolOp):
            return  # what else is asked, whether it is a tensor at all, perhaps, is asked for
        elif ast.dump(on) != ast.dump(off) and ast.unparse(off) in _plain([off]):
            kept = edit(self.solution, group.spot, "body" if on is node.body else "orelse")
            yield finding(self.solution, RULE, group.spot, _BACK, Fix((kept,)))

    def _and_or(self, group: Group[ArmTaken], node: ast.BoolOp) -> Iterator[Finding]:
        """Judge `use_cuda and x.cuda() or x`, and the statement `use_cuda and net.cuda()`."""
        spot = group.spot
        both = node.values[0] if isinstance(node.op, ast.Or) else node
        assert isinstance(both, ast.BoolOp)
        test, on = both.values
        moves = [n for n in ast.walk(on) if n in self.moves and n not in self.done]
        known = {n: name for n in moves if (name := self._name(Location(spot.path, n), test))}
        parent = self.solution.programs.parents(spot.path).get(node)
        alone = (
            isinstance(parent, ast.Expr)
            if both is node
            else _plain([on]) == _plain([node.values[1]])
        )
        if self._stays(group, known):
            return
        if known and len(known) == _count_cuda(on) and alone:
            code = self._moved(spot.path, on, known)
            edits = [edit(self.solution, spot, "replace", code=code)]
            yield self._finding(spot, _MESSAGE, known.values(), edits)

    def _finding(
        self, spot: Location, message: str, names: Iterable[DeviceExpression], edits: Sequence[Edit]
    ) -> Finding:
        first, *others = names
        whole = fix(first, *edits, *(e for name in others for e in name.edits))
        return finding(self.solution, RULE, spot, message, whole)


def _is_constant_elsewhere(solution: Solution, path: str, test: ast.expr) -> bool:
    """Tell whether a test reads what another file of the program sets to True, and nobody else."""
    match test:
        case ast.Name(id=name as taken) | ast.Attribute(value=ast.Name(id=taken), attr=name):
            pass
        case _:
            return False
    around = solution.programs.function_of(Location(path, test))
    if taken not in _imported(solution.programs.tree(path)) or (
        around is not None and taken in syntax.parameters(around)
    ):
        return False  # who calls the function decides
    setting = [
        (other, node)
        for other in sorted(solution.programs.of(path))
        if name in solution.project.sources[other].text
        for node in syntax.walk(solution.programs.tree(other))
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Store)
        or isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Store)
    ]
    if len(setting) != 1 or setting[0][0] == path:
        return False
    statement = solution.statement_of(Location(*setting[0]))
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=True)):
            return statement in solution.programs.tree(setting[0][0]).body
    return False


@syntax.per_node
def _imported(tree: ast.Module) -> frozenset[str]:
    """Return the names that a file imports."""
    return frozenset(
        each.asname or each.name.partition(".")[0]
        for node in syntax.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    )


def _is_of_caller(site: Decision, test: ast.expr) -> bool:
    """Tell whether a branch asks a parameter that calls may leave out."""
    func = site.scope.function()
    given = syntax.defaults(func.node.args) if func is not None else {}
    return any(
        isinstance(part, ast.Name)
        and isinstance(given.get(part.id), ast.Constant)
        and re.search(r"(?i)cuda|gpu", part.id) is not None
        for part in ast.walk(test)
    )


def _would_be_handed_in(
    site: Decision, test: ast.expr, names: Iterable[DeviceExpression | None]
) -> bool:
    """Tell whether callers would hand in the device beside the parameter that a branch asks."""
    func = site.scope.function()
    if func is None or isinstance(func.node, ast.Lambda):
        return False
    nodes = list(ast.walk(test))
    owners = {node.value for node in nodes if isinstance(node, ast.Attribute)}  # `args.cuda`
    flags = {n.id for n in nodes if isinstance(n, ast.Name) and n not in owners}
    return not flags.isdisjoint(syntax.parameters(func.node)) and any(
        each.verb == "parameter" for name in names if name is not None for each in name.edits
    )


def _follows(name: DeviceExpression | None, test: ast.expr) -> bool:
    """Tell whether a device is that of a value or an object, or is defined by what is asked.

    One that callers are to hand in beside the parameter says nothing of it.
    """
    if name is None or name.code.endswith(".device"):
        return name is not None
    asked = "|".join(part.id for part in ast.walk(test) if isinstance(part, ast.Name))
    said = re.compile(rf"(?<![.\w'\"])(?:{asked})\b")
    return any(said.search(dict(each.args).get("code", "")) for each in name.edits)


def _said(test: ast.expr) -> str:
    """Return what a test says, of an object's own option as of the parameter that it comes from."""
    return ast.unparse(test).replace("self.", "")


def _chooses_gpu(branch: ast.If) -> bool:
    """Tell whether a branch sets the GPU that is used, which needs one whatever else is moved."""
    return any(
        isinstance(part, ast.Call) and syntax.dotted(part.func).endswith("cuda.set_device")
        for part in syntax.walk(branch)
    )


def _types(node: ast.AST) -> int:
    """Return the number of CUDA's tensor types, `torch.cuda.FloatTensor`, in an expression."""
    before, after = ast.unparse(node), ast.unparse(_HostTypes().visit(copy.deepcopy(node)))
    return before.count(".cuda.") - after.count(".cuda.")


class _HostTypes(ast.NodeTransformer):
    """Removes CUDA from the names of tensor types."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Attribute(value=ast.Attribute(value=torch, attr="cuda"), attr=attr):
                if attr.endswith("Tensor"):
                    return ast.Attribute(torch, attr, node.ctx)
        return node


def _is_move(call: ast.Call) -> bool:
    """Tell whether a call moves to CUDA or back, to some GPU perhaps."""
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("cuda", "cpu")
        and len(call.args) < 2
        and all(k.arg in ("non_blocking", "device") for k in call.keywords)
    )


def _bound(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that some statements bind."""
    nodes = (n for part in body for n in ast.walk(part) if isinstance(n, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def _read(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that some statements read."""
    nodes = (n for part in body for n in ast.walk(part) if isinstance(n, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}


def _count_cuda(statement: ast.AST) -> int:
    """Return the number of `.cuda(...)` calls in a statement, of tensors or of who knows what."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "cuda"
        for node in ast.walk(statement)
    )


def _plain(nodes: Sequence[ast.AST]) -> list[str]:
    """Return statements or expressions without their moves; idle statements are dropped."""
    plain = [_HostTypes().visit(unmoved(node, _is_move)) for node in nodes]
    return [ast.unparse(node) for node in plain if not idle(node)]


def _unread_flags(solution: Solution) -> Iterator[Finding]:
    """Report names for `torch.cuda.is_available()` that nothing reads (any more)."""
    stored: dict[str, dict[str, int]] = {}
    for group in solution.groups(FlagSet):
        path, name = group.spot.path, group.first.name
        tree = solution.project.tree(path)
        if tree is None or solution.project.is_package(path) or not _just_asks(group.spot.node):
            continue
        if path not in stored:
            stored[path] = _only_stored(tree)
        if stored[path].get(name) == 1 and name not in solution.programs.taken_from(path):
            yield finding(
                solution, RULE, group.spot, f"nothing reads `{name}`",
                Fix((edit(solution, group.spot, "delete"),)),
            )  # fmt: skip


def _only_stored(tree: ast.Module) -> dict[str, int]:
    """Return how often a file binds each of the names that it never reads."""
    stores: Counter[str] = Counter()
    read: set[str] = set()
    for node in syntax.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                stores[node.id] += 1
            else:
                read.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            read.update(node.names)
    return {name: count for name, count in stores.items() if name not in read}


def _just_asks(node: ast.AST) -> bool:
    """Tell whether a statement does no more than ask whether there is CUDA."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return len(calls) == 1 and ast.unparse(calls[0]).endswith("cuda.is_available()")
