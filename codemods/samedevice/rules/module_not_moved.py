"""A module is built and used but never moved to the device.

Why: a module's parameters are created on the CPU. Inputs on the device then fail with "Expected
all tensors to be on the same device" or "Input type and weight type should be the same", and a
program without any device never uses the accelerator.

Example:

    model = Net()
    optimizer = torch.optim.Adam(model.parameters())

becomes

    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters())

Fix safety: safe. On a CPU-only machine moving a module changes nothing, and random numbers are
drawn in the same order. Modules without parameters or buffers are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Built, Kept
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance
from samedevice.inference.sites import Group
from samedevice.inference.values import UNKNOWN, Const, Tensor
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding, fix, short
from samedevice.rules._none_device import goes_nowhere
from samedevice.rules._shown import shown

#: Repositories of which `torch.hub.load` makes modules alone.
_OF_MODULES = "pytorch/vision"
#: Modules of libraries that choose their device themselves where none is given: an own GPU for each
#: process, MPS, and others. Read from sentence-transformers 5.1 (`get_device_name`).
_CHOOSING = frozenset(("sentence_transformers.SentenceTransformer",))
_MOVES = frozenset(("cuda", "to"))
#: What only modules are asked for.
_AS_MODULE = frozenset(
    ("eval", "train", "parameters", "named_parameters", "buffers", "modules", "children")
    + ("state_dict", "load_state_dict", "requires_grad_", "zero_grad", "register_forward_hook")
)


def find(solution: Solution) -> Iterator[Finding]:
    """Report modules in driver code that have to be on the device."""
    done: set[ast.AST] = set()
    for group, holds in unmoved(solution):
        spot = _handed_over(group.first)
        if not holds and spot.node not in done and not is_made_elsewhere(group):
            done.add(spot.node)
            found = report(solution, "module-not-moved", group)
            if not (_chooses(solution, group) and (found.fix is None or found.fix.resolvers)):
                yield found


def _chooses(solution: Solution, group: Group[Built]) -> bool:
    """Tell whether a module is where it chose to be, and nothing that it gives meets others.

    A device for it alone would be another choice.
    """
    return all(
        site.module.cls is None and site.module.name in _CHOOSING for site in group.sites
    ) and not solution.evidence.meets([site.node for site in group.sites if site.node])


def _handed_over(site: Built) -> Location:
    """Return where a module can be moved: its construction, or the call that returned it."""
    return site.returned or site.spot


def _by_call(group: Group[Built]) -> Iterator[Group[Built]]:
    """Divide the constructions in one place by the call that gets the module."""
    parts: dict[ast.AST, Group[Built]] = {}
    for site in group.sites:
        parts.setdefault(_handed_over(site).node, Group(group.spot)).sites.append(site)
    yield from parts.values()


def unmoved(solution: Solution) -> Iterator[tuple[Group[Built], bool]]:
    """Yield constructions of modules that nobody moves, and whether they are losses."""
    forgetful = _forgetful(solution)
    given_back = {
        site.returned.node
        for whole in solution.groups(Built)
        for site in whole.sites
        if site.returned is not None and solution.place(site.node) is Place.CENTRAL
    }
    for group in (part for whole in solution.groups(Built) for part in _by_call(whole)):
        objects = [site.module for site in group.sites]
        if any(o.moves or o.parent is not None and not o.worked_alone for o in objects):
            continue
        if any(site.in_constructor for site in group.sites):
            continue
        if _of_the_host(group.spot.node) or _of_components(group.spot.node):
            continue
        if goes_nowhere(solution, group.spot):
            continue  # a rule of its own
        if all(o.borrows and not _own_state(o) for o in objects):
            continue  # a wrapper of what a caller built, and moves
        if all(map(_wraps_moved, objects)):
            continue
        inside = solution.reach.in_module(group.first.scope)
        if inside and not any(o.used and _own_state(o) for o in objects):
            continue  # a method that builds parts for another one
        if _moved_by_callers(solution, group, given_back):
            continue
        if not forgetful.isdisjoint(objects):
            continue
        if not any(
            site.module.stateful
            and site.node is not None
            and solution.place(site.node) is Place.CENTRAL
            and solution.given(site.node) is None
            for site in group.sites
        ):
            continue
        made = objects[0]
        yield group, made.cls is None and bool(made.kwargs) and not _has_state(made)


def _moved_by_callers(
    solution: Solution, group: Group[Built], given_back: Container[ast.AST]
) -> bool:
    """Tell whether a function builds a module for those who call it, each of which moves what it
    gets, or is to do so as it is `given_back`: what is in there moves along."""
    if any(site.returned is not None for site in group.sites):
        return False
    scopes = [site.scope for site in group.sites]
    func = scopes[0].func
    if func is None or isinstance(func.node, ast.Lambda) or func.cls is not None:
        return False
    calls = {scope.call.node: scope.call for scope in scopes if scope.call is not None}
    if not calls or not all(
        call.node in given_back or _is_moved_there(solution, call) for call in calls.values()
    ):
        return False
    statement = solution.statement_of(group.spot)
    made = {ast.unparse(t) for t in statement.targets} if isinstance(statement, ast.Assign) else ()
    return bool(made) and not any(
        isinstance(node, ast.Call) and ast.unparse(node.func) in made
        for node in syntax.walk(func.node)
    )


def _is_moved_there(solution: Solution, call: Location) -> bool:
    """Tell whether what a call gives is moved, at once or under the name that it gets."""
    parents = solution.programs.parents(call.path)
    outer = parents.get(call.node)
    if isinstance(outer, ast.Attribute):
        return outer.attr in _MOVES
    match outer:
        case ast.Assign(targets=[ast.Name(id=name)]):
            home = solution.programs.function_of(call) or solution.programs.tree(call.path)
            return any(
                isinstance(node, ast.Attribute)
                and node.attr in _MOVES
                and isinstance(node.value, ast.Name)
                and node.value.id == name
                for node in syntax.walk(home)
            )
    return False


def _of_the_host(call: ast.AST) -> bool:
    """Tell whether a module is made of what the program brings to the host for it."""
    return isinstance(call, ast.Call) and any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "cpu"
        for part in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _of_components(call: ast.AST) -> bool:
    """Tell whether a pipeline is built of another one's parts: it is where they are."""
    return isinstance(call, ast.Call) and any(
        keyword.arg is None
        and isinstance(keyword.value, ast.Attribute)
        and keyword.value.attr == "components"
        for keyword in call.keywords
    )


def _has_state(module: Instance) -> bool:
    return module.fact is not None and module.fact.state


def _is_given_tensors(module: Instance) -> bool:
    """Tell whether a library's module is made of tensors: `nn.Embedding(10, 4, _weight=rows)`."""
    assert module.fact is not None
    given = {**dict(zip(module.fact.params, module.args, strict=False)), **module.kwargs}
    return any(isinstance(given.get(name), Tensor) for name in module.fact.tensors)


def _own_state(module: Instance) -> bool:
    """Tell whether a module has parameters or buffers beside those that a caller handed in."""
    if _has_state(module) and not _is_given_tensors(module):
        return True  # it makes them itself
    parts = (part for part in module.held() if part.family == "module")
    return _has_tensors(module) or any(
        part.stateful and part not in module.borrows for part in parts
    )


def is_made_elsewhere(group: Group[Built]) -> bool:
    """Tell whether all that modules have is what unknown code has given them: it may be on the
    device, as it came."""
    return all(
        site.module.cls is not None
        and not _own_state(site.module)
        and not site.module.borrows
        and UNKNOWN in site.module.attrs.values()
        for site in group.sites
    )


def _has_tensors(module: Instance) -> bool:
    return any(isinstance(held, Tensor) and module.holds(held) for held in module.attrs.values())


def _wraps_moved(module: Instance) -> bool:
    """Tell whether all that a module has are parts that are moved themselves."""
    fact = module.fact
    if fact is not None and fact.state and fact.out != "follows0":
        return False  # that is what `DataParallel` and its kin make
    if _has_tensors(module):
        return False
    parts = [part for part in module.held() if part.family == "module"]
    return any(part.has_moved() for part in parts) and all(
        part.has_moved() or not part.stateful or _wraps_moved(part) for part in parts
    )


def _forgetful(solution: Solution) -> set[Instance]:
    """The modules that are handed the device and do not pass it on to all of their parts."""
    found: set[Instance] = set()
    for group in solution.groups(Built):
        for site in group.sites:
            given = site.device
            if given is None or not isinstance(given[0], Const):
                continue
            if solution.left_out(given[0]) is not None:
                found.add(site.module.wholes()[-1])
    return found


def _keepers(
    solution: Solution, group: Group[Built]
) -> Iterator[tuple[Location, DeviceExpression]]:
    """Yield where an object that knows the device stores the module."""
    objects = [site.module for site in group.sites]
    for kept in solution.groups(Kept):
        statement = kept.spot.node
        if kept.first.module not in objects or len(kept.sites) != len(objects):
            continue
        name = device_names(solution).central_for(kept)
        if isinstance(statement, ast.Assign) and name is not None and not name.resolvers:
            yield Location(kept.spot.path, statement.value), name


def _is_surely_one(solution: Solution, site: Built) -> bool:
    """Tell whether a module is one: what `torch.hub.load` gives may be a tool, or several.

    It is one where code uses it as only modules are used.
    """
    call = site.spot.node
    if site.module.name != "torch.hub.load" or not isinstance(call, ast.Call):
        return True
    if call.args and ast.unparse(call.args[0]).strip("\"'").startswith(_OF_MODULES):
        return True
    attribute = solution.programs.parents(site.spot.path).get(call)
    if isinstance(attribute, ast.Attribute):
        return attribute.attr in _AS_MODULE
    statement = solution.statement_of(site.spot)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    named = {ast.unparse(target) for target in targets}
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in _AS_MODULE
        and ast.unparse(node.value) in named
        for node in syntax.walk(solution.programs.tree(site.spot.path))
    )


def _is_unpacked(solution: Solution, spot: Location) -> bool:
    """Tell whether a call gives more than the module: it is taken apart where it stands."""
    statement = solution.programs.parents(spot.path).get(spot.node)
    return isinstance(statement, ast.Assign) and any(
        isinstance(target, (ast.Tuple, ast.List)) for target in statement.targets
    )


def report(solution: Solution, rule: str, group: Group[Built]) -> Finding:
    """Return the finding for a module that is not moved."""
    inside = solution.reach.in_module(group.first.scope)
    name = (
        device_names(solution).device_for(group)
        if inside
        else device_names(solution).central_for(group)
    )
    spot = _handed_over(group.first)
    if name is None or name.resolvers:
        # A trainer that knows the device moves the model it is given: no second resolver.
        for kept, code in _keepers(solution, group):
            spot, name = kept, code
            break
    repair: Fix | None = None
    made, unfixed = group.first.module, NO_NAME
    if not _is_surely_one(solution, group.first):
        unfixed = "it is made by another repository, and nothing here shows that it is a module"
    elif name is not None and not _is_unpacked(solution, spot):
        repair = fix(name, edit(solution, spot, "method", code=f".to({name.code})"))
    elif name is not None and made.fact is not None and made.fact.device and made.cls is None:
        repair = fix(name, edit(solution, spot, "keyword", name="device", value=name.code))
    found = finding(
        solution, rule, spot,
        f"`{short(solution.code(group.spot))}` builds a module on the CPU that is never moved to "
        "the device",
        repair,
        origins=solution.origin(made.node, "values on the device reach it here"),
        unfixed=unfixed,
    )  # fmt: skip
    return shown(solution, found, (site.node for site in group.sites))
