"""Mixed precision is switched on for CUDA, whatever device the program uses.

Why: `torch.cuda.amp.autocast()` and `torch.autocast("cuda")` are for CUDA only. They warn on the
CPU and do nothing on any other accelerator. `torch.autocast` takes the device's type; told to be
off on the CPU, it leaves the numbers there as they are (`torch.autocast("cpu")` would compute in
bfloat16).

Example:

    with torch.cuda.amp.autocast():
        loss = criterion(model(x), y)

becomes

    with torch.autocast(device.type, enabled=device.type == "cuda"):
        loss = criterion(model(x), y)

`GradScaler` takes it too where the oldest torch of the project has `torch.amp.GradScaler` (2.3).

Fix safety: safe. On a CPU-only machine mixed precision was off and stays off.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Amp
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import edit, finding, short
from samedevice.rules._implied import comes_with_cuda, implies_cuda, never_the_cpu
from samedevice.torchfacts import accelerator_names

RULE = "amp-tied-to-cuda"
_ERASURE = "amp"
_AUTOCAST = (1, 10)  # the first torch with torch.autocast
_PARAMETERS = "next("
_NAMES = frozenset(("autocast", "GradScaler"))
#: The newer names, for any device.
_NEWER = re.compile(r"\btorch\.(autocast|amp\.GradScaler)\(")
#: What a model is told that is kept in few bits, for which kernels of CUDA are needed.
_IN_FEW_BITS = re.compile(r"\bload_in_(4|8)bit=True\b")


def find(solution: Solution) -> Iterator[Finding]:
    """Report `autocast` and `GradScaler` that are meant for CUDA alone.

    Those of a file are repaired together, or stay together.
    """
    files: dict[str, list[Finding]] = {}
    for found in _tied(solution):
        files.setdefault(found.path, []).append(found)
    for together in files.values():
        if any(each.fix is None for each in together):
            together = [_beside(each) for each in together]
        yield from together
    yield from _unread_imports(solution)


def _beside(found: Finding) -> Finding:
    """Return a finding that stays for the sake of another one of its file."""
    if found.fix is None:
        return found
    return replace(found, fix=None, unfixed="another one of this file cannot be repaired")


def _tied(solution: Solution) -> Iterator[Finding]:
    for group in solution.groups(Amp):
        if all(site.under_device_test for site in group.sites):
            continue  # nobody comes here without CUDA
        if comes_with_cuda(solution, group.spot):
            continue
        if _IN_FEW_BITS.search(solution.project.sources[group.spot.path].text):
            continue  # its model computes on CUDA, and mixes there
        found = _autocast(solution, group)
        if found is not None:
            yield found


def _autocast(solution: Solution, group: SiteGroup) -> Finding | None:
    spot, call = group.spot, group.spot.node
    if not isinstance(call, ast.Call):
        return None
    form = _Form.of(solution, group, call)
    if not form.tied or _before(solution, _AUTOCAST):
        return None
    off = isinstance(form.enabled, ast.Constant)
    if (
        form.enabled is not None
        and not off
        and implies_cuda(solution, Location(spot.path, form.enabled))
    ):
        return None
    name = device_names(solution).name_at(spot)
    if name is not None and never_the_cpu(solution, spot, name.code):
        return None  # on for CUDA; on XLA it switches itself off
    return finding(
        solution, RULE, spot,
        f"`{short(solution.code(spot))}` is mixed precision for CUDA only",
        _repair(solution, spot, call, form, name),
        unfixed=_reason(name),
    )  # fmt: skip


def _reason(name: DeviceExpression | None) -> str:
    """Return why nothing is repaired: a name that has no type for certain is no help."""
    if name is None or name.resolvers or name.code.startswith(_PARAMETERS):
        return "no variable or parameter here holds the device"
    return f"`{name.code}` may be None, or a text without a type"


@dataclass(frozen=True)
class _Form:
    """How a call says what it is for: by a name of torch.cuda.amp, or by its first argument."""

    old: bool
    scaler: bool
    kind: ast.expr | None
    enabled: ast.expr | None
    tied: bool

    @classmethod
    def of(cls, solution: Solution, group: SiteGroup, call: ast.Call) -> _Form:
        """Return the form of a call of `autocast` or `GradScaler`."""
        name = group.first.name
        scaler, old = name.endswith("GradScaler"), ".cuda.amp" in name
        given = {k.arg: k.value for k in call.keywords}
        first = call.args[0] if call.args else None
        kind = None if old else given.get("device" if scaler else "device_type", first)
        enabled = given.get("enabled") or (first if old and not scaler else None)
        for_cuda = isinstance(kind, ast.Constant) and kind.value == "cuda"
        if not scaler:
            tied = old or for_cuda
        elif old:  # torch.amp.GradScaler came later; this one warns on a CPU, no more
            known = "torch.amp.GradScaler" in _names(solution)
            tied = not call.args and (known or enabled is None)
        else:
            off = isinstance(enabled, ast.Constant) and enabled.value is False
            tied = for_cuda or kind is None and not call.args and not off
        return cls(old, scaler, kind, enabled, tied)


def _names(solution: Solution) -> frozenset[str]:
    """Return what the oldest torch of the project has."""
    major, minor = solution.project.torch
    return accelerator_names(f"{major}.{minor}") if (major, minor) >= (2, 0) else frozenset()


def _before(solution: Solution, release: tuple[int, int]) -> bool:
    """Tell whether the project says that it works with a torch before a release."""
    return (0, 0) < solution.project.torch < release


def _repair(
    solution: Solution,
    spot: Location,
    call: ast.Call,
    form: _Form,
    name: DeviceExpression | None,
) -> Fix | None:
    torch = device_names(solution).imports.alias(spot.path, "torch")
    parent = solution.programs.parents(spot.path).get(call)
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) or name is None:
        return None  # a decorator is evaluated where no device is
    if name.resolvers or name.code.startswith(_PARAMETERS):
        # It only warns without CUDA, which is no reason to define the device here, nor to ask
        # parameters for it twice in a line.
        return None
    kind = device_names(solution).kind_of(name, torch, spot)
    if kind.startswith(f"{torch}.device("):  # a text: what is handed in says it in fewer words
        site = solution.reach.site_at(spot)
        handed = next(solution.reach.followed(site.scope, everywhere=True), "") if site else ""
        if handed:
            name, kind = DeviceExpression(f"{handed}.device"), f"{handed}.device.type"
    if not kind or not torch or any(k.arg is None for k in call.keywords):
        return None
    uses = f'{kind} == "cuda"'
    if isinstance(form.enabled, ast.Constant) and form.enabled.value is False:
        uses = "False"
    elif form.enabled is not None and not isinstance(form.enabled, ast.Constant):
        code = solution.code(Location(spot.path, form.enabled))
        simple = not isinstance(form.enabled, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr))
        uses = f"{code if simple else f'({code})'} and {uses}"
    enabled = edit(solution, spot, "keyword", name="enabled", value=uses)
    if not form.old:
        if form.kind is None:
            return _fix(name, [edit(solution, spot, "keyword", name="device", value=kind), enabled])
        place = Location(spot.path, form.kind)
        return _fix(name, [edit(solution, place, "replace", code=kind), enabled])
    if form.scaler and "torch.amp.GradScaler" not in _names(solution):
        return _fix(name, [enabled])
    rest = [
        f"{k.arg}={solution.code(Location(spot.path, k.value))}"
        for k in call.keywords
        if k.arg != "enabled"
    ]
    after = [solution.code(Location(spot.path, a)) for a in call.args[1:]]
    if after:
        rest.insert(0, f"dtype={after[0]}")
    if after[1:]:
        return None
    callee = "amp.GradScaler" if form.scaler else "autocast"
    arguments = ", ".join((kind, *rest, f"enabled={uses}"))
    return _fix(name, [edit(solution, spot, "replace", code=f"{torch}.{callee}({arguments})")])


def _fix(name: DeviceExpression, edits: list) -> Fix:  # type: ignore[type-arg]
    return Fix(
        (*edits, *name.edits), imports=name.imports, resolvers=name.resolvers, erasure=_ERASURE
    )


def _unread_imports(solution: Solution) -> Iterator[Finding]:
    """Report names taken from torch.cuda.amp that nothing reads (any more)."""
    for path in solution.programs.files():
        source = solution.project.sources[path]
        if "cuda.amp" not in source.text or path.endswith("__init__.py"):
            continue
        if solution.project.is_package(path) and not _NEWER.search(source.text):
            continue  # perhaps it is there for others to take the names from it
        tree = solution.project.tree(path)
        if tree is None:
            continue
        imports = [
            node
            for node in syntax.statements(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "torch.cuda.amp"
        ]
        if not imports:
            continue
        read = {n.id for n in syntax.walk(tree) if isinstance(n, ast.Name)}
        read |= solution.programs.taken_from(path)
        for node in imports:
            kept = [a for a in node.names if (a.asname or a.name) in read or a.name not in _NAMES]
            if len(kept) == len(node.names):
                continue
            spot = Location(path, node)
            gone = " and ".join(f"`{a.name}`" for a in node.names if a not in kept)
            change = edit(solution, spot, "delete")
            if kept:
                names = ", ".join(ast.unparse(alias) for alias in kept)
                code = f"from torch.cuda.amp import {names}"
                change = edit(solution, spot, "replace_statement", code=code)
            yield finding(
                solution, RULE, spot, f"nothing reads {gone}", Fix((change,), erasure=_ERASURE)
            )
