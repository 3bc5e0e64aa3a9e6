"""The code names an accelerator itself: `.cuda()`, `"cuda"`, `device="cuda:0"`.

Why: such a program stops on every machine without CUDA, and a hard-coded device inside a layer
is the wrong one in replicas and on a second GPU. Inside a module the value goes to the device of
its input; elsewhere to the one device of the project.

Example:

    model = Net().cuda()
    x = torch.zeros(8, 3, device="cuda")

becomes

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    model = Net().to(device)
    x = torch.zeros(8, 3, device=device)

A parameter's default becomes `None`, and the function asks for the device when it is called.

Fix safety: safe. On a CPU-only machine the program could not run before.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import (
    DeviceChosen,
    Indexed,
    Literal,
    Loaded,
    ModuleMoved,
    Move,
    Settled,
    TensorMoved,
    device_of,
)
from samedevice.inference.nodes import Location, Place
from samedevice.inference.probes import is_fallback
from samedevice.inference.sites import Group, Site, SiteGroup
from samedevice.inference.values import Device, Setting
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules import _default
from samedevice.rules._build import (
    NO_NAME,
    argument,
    edit,
    finding,
    fix,
    goes_to,
    short,
    tests_devices,
    to_device,
    written_in_place,
)
from samedevice.rules._taken_back import is_taken_back

RULE = "hard-coded-device"
_COUNTED = "a loop counts the GPUs, and gives each its share on purpose"
_RANKED = "each process has a device of its own here, and no variable holds it"
#: What a comment says that means the CPU.
_ON_PURPOSE = re.compile(
    r"(?i)\b(forc\w+|only|always|must|keep\w*|purpose|deliberate\w*|stab\w+)\b"
)
#: How often a method may bring a constant to its input.
_FEW = 2
#: Where torch answers whether there is a vendor's accelerator.
_AVAILABLE = {"cuda": "cuda", "mps": "backends.mps", "xpu": "xpu"}
#: A device that is no constant where it is used comes out of a text.
_READ = (ast.Name, ast.Attribute, ast.Subscript)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def find(solution: Solution) -> Iterator[Finding]:
    """Report device literals and moves by name."""
    for groups in solution.policy.model_parallel().values():
        yield _on_purpose(solution, groups)
    for group in _judged(solution, Literal):
        if isinstance(group.spot.node, _READ):
            continue
        if group.first.name.startswith("cpu") and solution.place(group.first.node) is Place.CENTRAL:
            if not (
                _chosen(solution, group.spot)
                or solution.is_default(group.spot.node)
                or _kept_up_to_date(solution, group.spot)
                or _said_on_purpose(solution, group.spot)
                or solution.programs.writes_cpu(group.spot.path)
            ):
                yield _chosen_cpu(solution, group)
        elif (
            not group.first.under_device_test
            and _accelerator(solution, group)
            and not _number_of_process(solution, group)
            and not _chosen(solution, group.spot)
            and not _compared(solution, group.spot)
            and not _default.is_unused(solution, group.spot)
        ):
            yield _literal(solution, group)
    for chosen in solution.groups(DeviceChosen):
        yield from _switched_on(solution, chosen)
    for decided in solution.groups(Settled):
        yield from _settled(solution, decided)
    yield from _parsed(solution)
    for group in _judged(solution, Indexed):
        if _of_rank(group) or group.first.under_device_test:
            continue
        if not solution.is_meant(group.spot.node):
            continue  # a text that only looks like a device's name
        if not _chosen(solution, group.spot):
            yield _indexed(solution, group)
    for group in _judged(solution, Move):
        if (
            group.first.name == "cuda"
            and not _of_rank(group)
            and not _under_guard(solution, group)
            and not _chosen(solution, group.spot)
        ):
            yield _move(solution, group)


def _judged(solution: Solution, event: type[Site]) -> Iterator[SiteGroup]:
    """Yield places of an event; those of a dataset, unless `dataset-touches-device` has them."""
    for group in solution.groups(event):
        if not solution.programs.pretends(group.spot):
            yield group
    for group in solution.hosted_groups(event):
        if not any(map(_of_dataset, group.sites)):
            yield group


def _of_dataset(site: Site) -> bool:
    """Tell whether something is done by a worker, or to some items only."""
    if isinstance(site, TensorMoved):
        return site.workers or site.some
    return isinstance(site, Literal) and site.workers


def _of_rank(group: SiteGroup) -> bool:
    """Tell whether a place names the device of a process; `processes-tied-to-cuda` judges it."""
    devices = [device_of(site) for site in group.sites]
    return any(device is not None and device.rank is not None for device in devices)


def _number_of_process(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a number is handed to code that each process calls with its own."""
    node = group.spot.node
    number = isinstance(node, ast.Constant) and type(node.value) is int
    return number and solution.programs.is_distributed(group.spot.path)


def _chosen(solution: Solution, spot: Location) -> bool:
    """Tell whether a test about devices decides if this code runs: it is a choice, then.

    So is the entry of a table whose key names the device, and a case that matches its name. What a
    function of `torch.cuda` is asked is the business of `cuda-only-api`.
    """
    if is_taken_back(solution, spot) or _is_meant(solution, spot):
        return True
    parents, asks = solution.programs.parents(spot.path), _somebody_chooses(solution, spot)
    node: ast.AST | None = spot.node
    while node is not None:
        parent = parents.get(node)
        if isinstance(parent, ast.Call) and node in parent.args:
            if syntax.dotted(parent.func).startswith("torch.cuda."):
                return True
        if parent is not None and solution.groups_at(Settled, parent):
            return not _leaves_without(solution, Location(spot.path, parent))
        if isinstance(parent, (ast.If, ast.IfExp)) and node is not parent.test:
            how = solution.says_how(Location(spot.path, parent))
            arms = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
            without = node in arms and _counts_several(parent.test)
            if tests_devices(parent.test) and not how and not without:
                return True
        if isinstance(parent, ast.Dict) and node in parent.values and asks:
            if _names_accelerator(parent.keys[parent.values.index(node)]):
                return True
        if isinstance(parent, ast.Try) and (node in parent.body or node in parent.orelse):
            if is_fallback(parent):
                return True
        if isinstance(parent, (ast.List, ast.Tuple)) and _tries_each(parents.get(parent)):
            return True
        if asks and isinstance(parent, ast.match_case):
            pattern = parent.pattern
            if isinstance(pattern, ast.MatchValue) and _names_accelerator(pattern.value):
                return True
        node = parent
    return False


def _counts_several(test: ast.expr) -> bool:
    """Tell whether a test asks for more than one GPU: where it does not hold there may be none."""
    match test:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() as op], comparators=[number]):
            least = 1 if isinstance(op, ast.Gt) else 2
            return (
                ast.unparse(left) == "torch.cuda.device_count()"
                and isinstance(number, ast.Constant)
                and isinstance(number.value, int)
                and number.value >= least
            )
    return False


def _is_meant(solution: Solution, spot: Location) -> bool:
    """Tell whether a place is to fail without CUDA, or only who wants a GPU comes to it.

    A class's own method `cuda` says by its name where its object goes: `self.to("cuda")`.
    """
    function = solution.programs.function_of(spot)
    if solution.is_to_fail(spot.node):
        return True
    if isinstance(function, _FUNCTION) and function.name == "cuda":
        match solution.programs.parents(spot.path).get(spot.node):
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="to")):
                return True
    return _left_before(function, solution.statement_of(spot))


def _left_before(function: ast.AST | None, statement: ast.stmt | None) -> bool:
    """Tell whether who wants no GPU has left a function by then: `if not gpu: return x`."""
    if not isinstance(function, _FUNCTION) or statement not in function.body:
        return False
    given = syntax.parameters(function)
    for each in function.body[: function.body.index(statement)]:
        match each:
            case ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)),
                body=[*_, ast.Return()] as body, orelse=[],
            ) if name in given and re.search(r"(?i)cuda|gpu", name):  # fmt: skip
                # Where this uses CUDA as well, the option says how something is done.
                return "cuda" not in "".join(map(ast.unparse, body))
    return False


def _somebody_chooses(solution: Solution, spot: Location) -> bool:
    """Tell whether somebody may choose what code at a place does.

    A program does if it asks for anything, and so do the callers of a function that nobody is seen
    to call.
    """
    groups = solution.groups_at(Literal, spot.node)
    known = groups and not any(site.callers_unknown for group in groups for site in group.sites)
    return not known or solution.programs.asks(spot.path)


def _tries_each(loop: ast.AST | None) -> bool:
    """Tell whether a loop goes on to the next device where one cannot be used."""
    return isinstance(loop, ast.For) and any(
        isinstance(part, (ast.Continue, ast.Pass))
        for each in loop.body
        if isinstance(each, ast.Try)
        for handler in each.handlers
        for part in handler.body
    )


def _said_on_purpose(solution: Solution, spot: Location) -> bool:
    """Tell whether a comment beside the CPU's name says that it is meant: `# force CPU`."""
    line = solution.span(spot).line
    lines = solution.project.sources[spot.path].text.split("\n")
    _, mark, comment = lines[line - 1].rpartition("#") if line <= len(lines) else ("", "", "")
    return bool(mark) and "cpu" in comment.lower() and _ON_PURPOSE.search(comment) is not None


def _kept_up_to_date(solution: Solution, spot: Location) -> bool:
    """Tell whether an attribute begins with a device, and another method of the class sets it anew.

    Then it says where its object is by now: when it is made, that is the CPU.
    """
    statement = solution.statement_of(spot)
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(), attr=attr)]):
            pass
        case _:
            return False
    parents = solution.programs.parents(spot.path)
    method = solution.programs.function_of(spot)
    klass = parents.get(method) if method is not None else None
    others = klass.body if isinstance(klass, ast.ClassDef) else []
    return any(
        isinstance(node, ast.Attribute) and node.attr == attr and isinstance(node.ctx, ast.Store)
        for other in others
        if isinstance(other, _FUNCTION) and other is not method
        for node in syntax.walk(other)
    )


def _names_accelerator(key: ast.AST | None) -> bool:
    """Tell whether what a table or a `match` chooses by is the name of an accelerator."""
    text = key.value if isinstance(key, ast.Constant) else None
    return isinstance(text, str) and text.lower().partition(":")[0] in (*_AVAILABLE, "gpu")


def _switched_on(solution: Solution, group: SiteGroup) -> Iterator[Finding]:
    """`"cuda" if flag else "cpu"`, where the file sets the flag to True and to nothing else.

    Who changes the file chooses; that there is a GPU the flag does not say.
    """
    spot = group.spot
    node = spot.node.args[0] if isinstance(spot.node, ast.Call) and spot.node.args else spot.node
    match node:
        case ast.IfExp(test=ast.Name(id=name) as flag, body=ast.Constant(value=str(text)) as body):
            vendor = text.partition(":")[0]
        case _:
            return
    tree = solution.programs.tree(spot.path)
    bound = [n for n in syntax.walk(tree) if isinstance(n, ast.Name) and n.id == name]
    bound = [n for n in bound if isinstance(n.ctx, ast.Store)]
    if vendor not in _AVAILABLE or not any(
        isinstance(statement, ast.Assign)
        and statement.targets == bound
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
        for statement in syntax.certain(tree.body)
    ):
        return
    torch, imports = device_names(solution).imports.torch(spot.path)
    place = Location(spot.path, flag)
    code = f"{name} and {torch}.{_AVAILABLE[vendor]}.is_available()"
    repair = Fix((edit(solution, place, "replace", code=code),), imports=imports) if torch else None
    yield finding(
        solution, RULE, Location(spot.path, body),
        f"{text!r} is chosen on every machine: `{name}` is always true", repair,
    )  # fmt: skip


def _settled(solution: Solution, group: Group[Settled]) -> Iterator[Finding]:
    """`"cuda" if ngpu > 0 else "cpu"`, where constants decide: whether there is CUDA is asked, too.

    The test keeps what it says, for who changes the constant.
    """
    node = group.spot.node
    if not any(site.taken for site in group.sites):
        return  # what no call asks for; a call that declines it keeps what it says
    if all(site.under_device_test for site in group.sites) or _leaves_without(solution, group.spot):
        return
    if isinstance(node, ast.IfExp) and not _is_used(solution, node):
        return
    torch, imports = device_names(solution).imports.torch(group.spot.path)
    held = group.first.positive
    test = group.first.test
    place = Location(group.spot.path, test)
    code = solution.code(place)
    joined = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) != held
    if joined or "{" in code or isinstance(test, (ast.IfExp, ast.Lambda, ast.NamedExpr)):
        code = "{}"  # in brackets
    code += f" {'and' if held else 'or not'} {torch}.cuda.is_available()"
    whole = edit(solution, place, "replace", code=code)
    said = short(solution.code(place))
    message = f"CUDA is used on every machine: `{said}` is always {'true' if held else 'false'}"
    if group.first.system:
        message = f"`{said}` asks for the system: that there is CUDA it does not say"
    yield finding(
        solution, RULE, place, message,
        Fix((whole,), imports=imports, erasure="cuda-only-api") if torch else None,
    )  # fmt: skip


def _leaves_without(solution: Solution, spot: Location) -> bool:
    """Tell whether a program needs the arm of a test that names CUDA.

    It ends in the other one, or uses a name that only this one gives.
    """
    node = spot.node
    if not isinstance(node, ast.If):
        return False
    if any(isinstance(part, ast.Raise) for part in syntax.walk_all(node.orelse)):
        return True
    home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
    inside = set(syntax.walk(node))
    names = [n for n in syntax.walk(home) if isinstance(n, ast.Name) and n not in inside]
    given = {n.id for n in names if isinstance(n.ctx, ast.Store) and n.lineno < node.lineno}
    given |= {arg.arg for arg in ast.walk(home) if isinstance(arg, ast.arg)}
    read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    arms = [
        {n.id for n in syntax.walk_all(arm) if isinstance(n, ast.Name) and n.id in read
         and isinstance(n.ctx, ast.Store)}
        for arm in (node.body, node.orelse)
    ]  # fmt: skip
    return not arms[0] ^ arms[1] <= given


def _is_used(solution: Solution, node: ast.IfExp) -> bool:
    """Tell whether one of two texts is used as a device, or a device is made of it."""
    return (
        solution.is_meant(node)
        or any(isinstance(arm, ast.Call) for arm in (node.body, node.orelse))
        or any(
            solution.groups_at(event, arm)
            for arm in (node.body, node.orelse)
            for event in (Literal, Indexed)
        )
    )


def _compared(solution: Solution, spot: Location) -> bool:
    """Tell whether a device is only named to compare another one with it: it decides no place."""
    parents = solution.programs.parents(spot.path)
    node = parents.get(spot.node)
    made = spot
    while isinstance(node, (ast.Call, ast.Attribute)):
        if isinstance(node, ast.Call) and not ast.unparse(node.func).endswith("device"):
            return _only_asked(solution, made)
        made = Location(spot.path, node)
        node = parents.get(node)
    return isinstance(node, ast.Compare)


def _only_asked(solution: Solution, spot: Location) -> bool:
    """Tell whether a device is handed to functions that only ask for its type, and move nothing."""
    given = list(_given_to(solution, spot))
    return bool(given) and all(_asks_only(function, name) for function, name in given)


def _asks_only(function: ast.FunctionDef, name: str) -> bool:
    parents = syntax.parents(function)
    for node in syntax.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="to" | "cuda")) | ast.keyword(arg="device"):
                return False
    uses = [n for n in syntax.walk(function) if isinstance(n, ast.Name) and n.id == name]
    return bool(uses) and all(
        isinstance(around := parents.get(use), ast.Compare)
        or isinstance(around, ast.Attribute)
        and around.attr in ("type", "index")
        for use in uses
    )


def _on_purpose(solution: Solution, groups: list[SiteGroup]) -> Finding:
    names = " and ".join(sorted({_number(group) for group in groups}))
    first = finding(
        solution, RULE, groups[0].spot,
        f"{names} are used side by side: a model that is split over GPUs on purpose stays as it is",
        None, unfixed="the program chooses a device for each layer on purpose",
    )  # fmt: skip
    return replace(first, level="note")


def _number(group: SiteGroup) -> str:
    """Return what names a GPU: `cuda:1`, or the number that the program computed."""
    device = device_of(group.first)
    if device is not None and device.spot is not None:
        return ast.unparse(device.spot.node)
    return group.first.name


def _accelerator(solution: Solution, group: SiteGroup) -> bool:
    return solution.given(group.first.node) is Place.CENTRAL


def _chosen_cpu(solution: Solution, group: SiteGroup) -> Finding:
    """The program's one device is the CPU, written out: the resolver takes its place."""
    parent = solution.programs.parents(group.spot.path).get(group.spot.node)
    repair = _choice(solution, group.spot)
    return finding(
        solution, RULE, group.spot,
        f"{short(solution.code(group.spot))} is the program's only device; an accelerator would "
        "never be used",
        repair if parent is not None else None,
    )  # fmt: skip


def _choice(solution: Solution, spot: Location) -> Fix | None:
    """Return the fix that asks for the accelerator where it is written out.

    A number is kept: who wrote it chose that GPU, and `torch.cuda.set_device` needs one.
    """
    torch, imports = device_names(solution).imports.torch(spot.path)
    vendor, code, quote = "cuda", "{}", '"'
    if isinstance(spot.node, ast.Constant) and isinstance(spot.node.value, str):
        vendor = spot.node.value.partition(":")[0].replace("cpu", "cuda")
        quote = "'" if solution.code(spot).endswith("'") else '"'
        if spot.node.value.startswith("cpu"):
            code = f"{quote}{vendor}{quote}"
    if not torch or vendor not in _AVAILABLE:
        return None
    called = isinstance(spot.node, ast.Call) and ast.unparse(spot.node.func).endswith("device")
    other = f"{quote}cpu{quote}"
    if called:  # torch.device("cuda", index)
        other = f"{torch}.device({other})"
    code = f"{code} if {torch}.{_AVAILABLE[vendor]}.is_available() else {other}"
    if isinstance(solution.programs.parents(spot.path).get(spot.node), ast.BoolOp):
        code = f"({code})"
    # What spells a device in some way is no device to who only sees its text.
    erasure = "cuda-only-api" if isinstance(spot.node, ast.Call) and not called else ""
    return Fix((edit(solution, spot, "replace", code=code),), imports=imports, erasure=erasure)


def _once_chosen(solution: Solution, spot: Location, repair: Fix | None) -> tuple[Fix | None, str]:
    """Return the fix of an assignment, or why there is none, where it is said below which GPUs
    there are: who asks for them first sees all, and what is set afterwards counts no more.

    The assignment goes below, where nothing between the two uses it.
    """
    statement = solution.statement_of(spot)
    if repair is None or statement is None:
        return repair, NO_NAME
    parents = solution.programs.parents(spot.path)
    behind, outer = parents.behind(statement), parents.get(statement)
    while isinstance(outer, ast.stmt) and statement in syntax.certain([outer]):
        behind += parents.behind(outer)
        outer = parents.get(outer)
    hides = functools.partial(solution.programs.hides_some, spot.path)
    at = next((n for n, each in enumerate(behind) if hides(each)), None)
    if at is None:
        return repair, NO_NAME
    between = [node for each in behind[: at + 1] for node in syntax.walk(each)]
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is spot.node:
            if not any(isinstance(node, ast.Name) and node.id == name for node in between):
                (chosen,) = repair.edits
                code = f"{name} = {chosen.get('code').format(solution.code(spot))}"
                below = edit(solution, Location(spot.path, behind[at]), "after", code=code)
                gone = edit(solution, Location(spot.path, statement), "delete")
                return replace(repair, edits=(gone, below)), NO_NAME
    return None, "CUDA_VISIBLE_DEVICES is set below, and would count no more"


def _makes_device(solution: Solution, call: ast.Call) -> bool:
    """Tell whether a call is `torch.device(...)` of one argument."""
    index = call.args[1:]
    return (not index or isinstance(index[0], ast.Constant)) and _ends_on_device(call)


def _ends_on_device(call: ast.Call) -> bool:
    return syntax.dotted(call.func).rpartition(".")[2] == "device"


def _literal(solution: Solution, group: SiteGroup) -> Finding:
    """Replace a device's name: by the resolver's expression where it is the definition."""
    spot, unfixed = group.spot, NO_NAME
    repair: Fix | None = None
    if isinstance(solution.programs.parents(spot.path).get(spot.node), ast.arguments):
        repair, unfixed = _default.without(solution, spot, _choice(solution, spot))
    elif solution.is_stored(spot.node):
        call = solution.programs.parents(spot.path).get(spot.node)
        followed = solution.reach.follow(group)
        if followed is not None and isinstance(call, ast.Call) and _makes_device(solution, call):
            # A helper's own device is that of its input.
            place = Location(spot.path, call)
            repair = fix(
                DeviceExpression(followed), edit(solution, place, "replace", code=followed)
            )
        else:
            place = spot
            if isinstance(call, ast.Call) and call.args[1:] and _ends_on_device(call):
                place = Location(spot.path, call)  # torch.device("cuda", 0)
            repair, unfixed = _once_chosen(solution, spot, _choice(solution, place))
    else:
        parents = solution.programs.parents(spot.path)
        parent = parents.get(spot.node)
        if isinstance(parent, ast.Call) and _makes_device(solution, parent):
            spot = Location(spot.path, parent)
        name = _name(solution, spot)
        if _is_counted(solution, group.spot):
            unfixed = "the program counts with this number, too"
        elif name is not None and _is_of_receiver(solution, spot, name):
            unfixed = "it would move to where it is"
        elif _is_picked(solution, group.spot):
            repair = _choice(solution, group.spot)
        elif _is_beside_cpu(parent, group.spot.node):
            unfixed = "the program compares devices here"
        elif name is not None and _stands_in_for(solution, spot, name):
            unfixed = f"it stands in for `{name.code}`, where that is left out"
        elif name is not None and (
            _is_another(solution, group, name)
            or _sets_it(solution, spot, name)
            or bool(name.resolvers)
            and _is_fallback(parent, group.spot.node)
        ):
            repair = _choice(solution, group.spot)
        elif name is not None:
            code = _handed(solution, spot, name)
            repair = fix(name, edit(solution, spot, "replace", code=code))
    return finding(
        solution, RULE, spot,
        f"{short(solution.code(spot))} names one vendor's device: the program cannot run without "
        "it",
        repair, unfixed=unfixed,
    )  # fmt: skip


def _handed(solution: Solution, spot: Location, name: DeviceExpression) -> str:
    """Return the code for a device that is written out, which may be an argument of a call."""
    parents = solution.programs.parents(spot.path)
    outer = parents.get(spot.node)
    call = parents.get(outer) if isinstance(outer, ast.keyword) else outer
    loads = solution.groups_at(Loaded, call) if call is not None else ()
    if not name.text and any(group.first.fact.device for group in loads):
        return f"str({name.code})"  # safetensors knows devices by their names alone
    match outer:
        case ast.keyword(arg=str(parameter)) as given:
            call = parents.get(given)
            return argument(solution, call, parameter, name) if call is not None else name.code
        case ast.Call(args=args) as call if spot.node in args:
            names = {parameter for _, parameter in _given_to(solution, spot)}
            if len(names) == 1:
                return argument(solution, call, names.pop(), name)
    return name.code


def _is_fallback(call: ast.AST | None, node: ast.AST) -> bool:
    """Tell whether a device is what settings say where they name none: `settings.get("device",
    "cuda")`. The choice is made there, then, and no other name is defined for it."""
    match call:
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str()), given]
        ):
            return given is node
    return False


def _parsed(solution: Solution) -> Iterator[Finding]:
    """Judge devices that a text says which the program parses: they stay the text's to choose.

    Whether there is CUDA is asked where such a device gets its name, unless the program asks.
    """
    asking = "is_available"
    places: dict[ast.AST, tuple[Location, Literal]] = {}
    for group in solution.groups(Literal):
        path, node = group.spot.path, group.spot.node
        if not isinstance(node, _READ) or not _accelerator(solution, group):
            continue
        if any(asking in solution.project.sources[p].text for p in solution.programs.of(path)):
            continue
        given = _given(solution, group.spot)
        places.setdefault((given or group.spot).node, (given or group.spot, group.first))
    for place, said in places.values():
        parent = solution.programs.parents(place.path).get(place.node)
        named = isinstance(parent, ast.Assign) or solution.is_stored(place.node)
        who = said.value.said_at if isinstance(said.value, Setting) else "a text that is parsed"
        yield finding(
            solution, RULE, place,
            f"{who} says that {short(solution.code(place))} is {said.name!r}: the program cannot "
            "run without it",
            _choice(solution, place) if named else _said_otherwise(solution, place),
            unfixed="the text names a device that not every machine has",
        )  # fmt: skip


def _said_otherwise(solution: Solution, spot: Location) -> Fix | None:
    """Return the fix for settings whose device is read where it is used: without CUDA they say
    another one, right behind the statement that reads them.

    That is one that binds a name once, in the function that uses it.
    """
    root: ast.AST = spot.node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        if isinstance(root, ast.Subscript) and not isinstance(root.slice, ast.Constant):
            return None
        root = root.value
    torch, imports = device_names(solution).imports.torch(spot.path)
    if not isinstance(root, ast.Name) or root is spot.node or not torch:
        return None
    home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
    parents = solution.programs.parents(spot.path)
    bound = [
        parents.get(part)
        for part in syntax.walk(home)
        if isinstance(part, ast.Name) and part.id == root.id and isinstance(part.ctx, ast.Store)
    ]
    match bound:
        case [ast.Assign(targets=[ast.Name()]) as statement] if statement in home.body:
            test = f"if not {torch}.cuda.is_available():"
            code = f'{test}\n    {ast.unparse(spot.node)} = "cpu"'.replace("'", '"')
            behind = edit(solution, Location(spot.path, statement), "after", code=code)
            return Fix((behind,), imports=imports)
    return None


def _given(solution: Solution, spot: Location) -> Location | None:
    """Return what gives a device its name, `name = config["device"]`, if one statement does."""
    if isinstance(spot.node, ast.Subscript):
        return None
    code = ast.unparse(spot.node)
    homes: list[ast.AST] = [solution.programs.tree(spot.path)]
    home = solution.programs.function_of(spot)
    if isinstance(spot.node, ast.Name) and home is not None:
        homes.insert(0, home)
    for each in homes:
        given = [
            node.value
            for node in syntax.walk(each)
            if isinstance(node, ast.Assign) and code in map(ast.unparse, node.targets)
        ]
        if given:
            return Location(spot.path, given[0]) if len(given) == 1 else None
    return None


def _is_another(solution: Solution, group: SiteGroup, name: DeviceExpression) -> bool:
    """Tell whether a name is not the one for the GPU that is written out at a place.

    Where the file has a name for that one further down, a second name would be one too many.
    """
    text, path = group.first.name, group.spot.path
    number = text.partition(":")[2]
    if name.resolvers:
        below = any(
            solution.is_stored(other.spot.node)
            for other in solution.groups(Literal)
            if other.first.name == text and other.spot.path == path
        )
        return below or number > "0" and any(each.gpu != number for each in name.resolvers)
    if number <= "0":
        return False
    site = solution.reach.site_at(group.spot)
    held = {code: value for code, value, _ in site.devices}.get(name.code) if site else None
    spot = getattr(held, "spot", None)
    if spot is None:
        return False  # what it follows
    said = [each.value for each in ast.walk(spot.node) if isinstance(each, ast.Constant)]
    return text not in said


def _is_picked(solution: Solution, spot: Location) -> bool:
    """Tell whether a name is one of a table in place, of which one is taken at once.

    `["cpu", "cuda"][use_gpu]`, `{"fast": "cuda"}[mode]`
    """
    parents = solution.programs.parents(spot.path)
    table = parents.get(spot.node)
    outer = parents.get(table) if isinstance(table, (ast.List, ast.Tuple, ast.Dict)) else None
    if isinstance(table, ast.Dict) and spot.node not in table.values:
        return False
    return isinstance(outer, ast.Subscript) and outer.value is table


def _is_counted(solution: Solution, spot: Location) -> bool:
    """Tell whether a number is not only a device: one of a list, or what a callee compares."""
    node = spot.node
    if not (isinstance(node, ast.Constant) and type(node.value) is int):
        return False
    parents = solution.programs.parents(spot.path)
    if isinstance(parents.get(node), (ast.List, ast.Tuple)):
        return True
    return any(_compares(function, name) for function, name in _given_to(solution, spot))


def _given_to(solution: Solution, spot: Location) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield the functions of the program that an argument may be given to, by the called name, each
    with its parameter."""
    parents = solution.programs.parents(spot.path)
    parent = parents.get(spot.node)
    call = parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return
    called = ast.unparse(call.func).rpartition(".")[2]
    for path in solution.programs.of(spot.path):
        for function in syntax.walk(solution.project.tree(path) or ast.Module([], [])):
            if isinstance(function, ast.FunctionDef) and function.name == called:
                given = [each.arg for each in function.args.args]
                given = given[1:] if given[:1] == ["self"] else given
                if isinstance(parent, ast.keyword):
                    yield function, parent.arg or ""
                elif spot.node in call.args[: len(given)]:
                    yield function, given[call.args.index(spot.node)]


def _sets_it(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether a method is given what its object has under the name from then on: `self.device`
    in `self.use("cuda")` says only what it was before."""
    owner, _, attr = name.code.rpartition(".")
    parents = solution.programs.parents(spot.path)
    parent = parents.get(spot.node)
    match parents.get(parent) if isinstance(parent, ast.keyword) else parent:
        case ast.Call(func=ast.Attribute(value=receiver)) if owner == ast.unparse(receiver):
            pass
        case _:
            return False
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(to, ast.Attribute) and to.attr == attr for to in node.targets)
        and any(isinstance(part, ast.Name) and part.id == given for part in ast.walk(node.value))
        for function, given in _given_to(solution, spot)
        for node in syntax.walk(function)
    )


def _compares(function: ast.FunctionDef, name: str) -> bool:
    """Tell whether a function compares a parameter with something, or computes with it."""
    return any(
        isinstance(part, ast.Name) and part.id == name
        for node in syntax.walk(function)
        if isinstance(node, (ast.Compare, ast.BinOp, ast.JoinedStr))
        for part in ast.walk(node)
    )


def _name(solution: Solution, spot: Location) -> DeviceExpression | None:
    """Return the name for a device that is written out; `x` in `x.to(...)` cannot say where."""
    call = solution.programs.parents(spot.path).get(spot.node)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if call.func.attr == "to" and spot.node in call.args:
            itself = any(map(solution.moves_itself, solution.groups_at(ModuleMoved, call)))
            return device_names(solution).name_at(Location(spot.path, call), itself=itself)
    return device_names(solution).name_at(spot)


def _is_of_receiver(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether a move to this device is one to where the object is that moves."""
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.Call(func=ast.Attribute(value=receiver, attr="to"), args=[first, *_]):
            whose = ast.unparse(receiver)
            own = (f"{whose}.device", f"next({whose}.parameters()).device")
            return first is spot.node and name.code in (*own, f"next({whose}.buffers()).device")
    return False


def _is_beside_cpu(around: ast.AST | None, device: ast.AST) -> bool:
    """Tell whether a device is a member of a list that has the CPU, too: each has its turn."""
    return isinstance(around, (ast.List, ast.Tuple, ast.Set)) and any(
        isinstance(each, ast.Constant) and each.value == "cpu"
        for each in around.elts
        if each is not device
    )


def _stands_in_for(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether a device is what is meant where a name has none: `device or "cuda"`."""
    asked: list[ast.expr] = []
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.BoolOp(values=values):
            asked = [each for each in values if each is not spot.node]
        case ast.IfExp(test=test):
            asked = [test]
    root = name.code.partition(".")[0]
    return any(
        isinstance(node, ast.Name) and node.id == root
        for each in asked
        for node in syntax.walk(each)
    )


def _indexed(solution: Solution, group: SiteGroup) -> Finding:
    """`device = f"cuda:{gpu}"`: that GPU, where there is one."""
    spot = group.spot
    parent = solution.programs.parents(spot.path).get(spot.node)
    stored = solution.is_stored(spot.node)
    index = solution.index_in(spot.node)
    repair, unfixed = _choice(solution, spot), NO_NAME
    if index is not None and solution.is_counted(spot.path, index):
        repair, unfixed = None, _COUNTED
    elif (
        not stored
        and index is not None
        and solution.policy.decided_by(spot.path, ast.unparse(index))
    ):
        call = parent if isinstance(parent, ast.Call) and _makes_device(solution, parent) else None
        place = Location(spot.path, call or spot.node)
        name = device_names(solution).name_at(place)
        repair = fix(name, edit(solution, place, "replace", code=name.code)) if name else None
    elif not stored and not isinstance(parent, (ast.Call, ast.keyword)):
        repair = None
    found = finding(
        solution, RULE, group.spot,
        f"{short(solution.code(group.spot))} names one vendor's device: the program cannot run "
        "without it",
        repair, unfixed=unfixed,
    )  # fmt: skip
    return replace(found, level="note") if unfixed == _COUNTED else found


def _move(solution: Solution, group: SiteGroup) -> Finding:
    name = goes_to(solution, group)
    repair: Fix | None = None
    unfixed = _RANKED if solution.programs.is_distributed(group.spot.path) else NO_NAME
    statement = solution.statement_of(group.spot)
    if statement is not None and _moved_on(solution, group.spot):
        repair = Fix((edit(solution, Location(group.spot.path, statement), "delete"),))
    elif _is_there(solution, group) or _is_typed(solution, group.spot):
        repair = Fix((edit(solution, group.spot, "unwrap"),))
    elif name is not None and _is_refused(solution, group, name):
        unfixed = f"`DataParallel` refuses the CPU beside a GPU, and `{name.code}` may be the CPU"
    elif name is not None and (number := _of_callers(solution, group.spot, name)):
        unfixed = f"`{number}` says which GPU it is, and `{name.code}` may be another one"
    elif name is not None:
        followed = _where_read(solution, group) if name.resolvers or name.imports else None
        repair = followed or fix(name, *to_device(solution, group.spot, name))
    return finding(
        solution, RULE, group.spot,
        f"`{short(solution.code(group.spot))}` moves to CUDA whatever machine it runs on",
        repair, unfixed=unfixed,
    )  # fmt: skip


def _of_callers(solution: Solution, spot: Location, name: DeviceExpression) -> str:
    """Return the parameter that says on which GPU something goes, where a name has nothing to do
    with what callers say: one of another file, or one that is to be defined."""
    function = solution.programs.function_of(spot)
    match spot.node:
        case ast.Call(args=[ast.Name(id=number)]) if function is not None:
            if number in syntax.parameters(function) and (name.imports or name.resolvers):
                return number
    return ""


def _where_read(solution: Solution, group: SiteGroup) -> Fix | None:
    """Return the fix that moves a constant of a module to the input that it meets, where a method
    reads it: a layer needs no device of the program for it."""
    scope, spot = group.first.scope, group.spot
    module = solution.reach.module_of(scope)
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)]) as made:
            pass
        case _:
            return None
    if module is None or module.cls is None or not solution.reach.builds(scope):
        return None
    own = syntax.walk(module.cls.node)
    said = {
        node
        for path in solution.programs.of(spot.path)
        for node in syntax.walk(solution.programs.tree(path))
        if isinstance(node, ast.Attribute) and node.attr == attr
    }
    reads = [node for node in said if isinstance(node.ctx, ast.Load)]
    if len(said) - len(reads) != 1 or not 0 < len(reads) <= _FEW or not said <= set(own):
        return None
    edits = [edit(solution, spot, "unwrap")]
    for node in sorted(reads, key=lambda node: (node.lineno, node.col_offset)):
        place = Location(spot.path, node)
        around = solution.programs.function_of(place)
        if around is solution.programs.function_of(Location(spot.path, made)):
            return None
        name = device_names(solution).name_at(place)
        if name is None or name.resolvers or name.imports or name.edits:
            return None
        if name.code.startswith(("self.", "next(")) or written_in_place(solution, place):
            return None
        edits.append(edit(solution, place, "method", code=f".to({name.code})"))
    return Fix(tuple(edits))


def _is_refused(solution: Solution, group: SiteGroup, name: DeviceExpression) -> bool:
    """Tell whether what is moved is spread over GPUs, and a name stands for the CPU where the user
    says so, too: `"cuda" if not opt.no_cuda and torch.cuda.is_available() else "cpu"`."""
    if not any(
        isinstance(site, ModuleMoved) and site.module.name.endswith(".DataParallel")
        for site in group.sites
    ):
        return False
    at = solution.reach.site_at(group.spot)
    held = [value for code, value, _ in (at.devices if at else ()) if code == name.code]
    spots = [value.spot for value in held if isinstance(value, Device) and value.spot is not None]
    return any(
        isinstance(part, (ast.Name, ast.Attribute)) and not _asks_for_cuda(part, test)
        for spot in spots
        for choice in ast.walk(solution.statement_of(spot) or spot.node)
        if isinstance(choice, ast.IfExp)
        for test in [choice.test]
        for part in ast.walk(test)
    )


def _asks_for_cuda(part: ast.AST, test: ast.expr) -> bool:
    """Tell whether a name is part of `torch.cuda.is_available` in a test."""
    return any(
        part in ast.walk(call.func)
        for call in ast.walk(test)
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("is_available")
    )


def _is_there(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether `torch.ones_like(x)` is moved, and is where `x` is: on the device."""
    match group.spot.node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=func, args=[ast.Name(), *_]) as made)):
            if any(keyword.arg in (None, "device") for keyword in made.keywords):
                return False
            return syntax.dotted(func).endswith("_like") and all(
                isinstance(site, TensorMoved)
                and site.tensor is not None
                and solution.on_device(site.tensor.node)
                for site in group.sites
            )
    return False


def _is_typed(solution: Solution, spot: Location) -> bool:
    """Tell whether what is moved gets a type of CUDA's at once: `.cuda().type(torch.cuda.X)`.

    That moves by itself, and says where to.
    """
    parents = solution.programs.parents(spot.path)
    method = parents.get(spot.node)
    match parents.get(method) if method is not None else None:
        case ast.Call(func=ast.Attribute(attr="type") as func, args=[kind]) if func is method:
            said = syntax.dotted(kind)
            return ".cuda." in said and said.endswith("Tensor")
    return False


def _moved_on(solution: Solution, spot: Location) -> bool:
    """Tell whether the statement behind `x = x.cuda()` moves `x` again, as it does by itself."""
    parents = solution.programs.parents(spot.path)
    statement = parents.get(spot.node)
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved))) as call,
        ) if name == moved and call is spot.node:
            pass
        case _:
            return False
    match next(iter(parents.behind(statement)), None):
        case ast.Assign(
            targets=[ast.Name(id=again)],
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=source), attr="to"),
                args=[ast.Name() | ast.Attribute() as where],
            ),
        ) if name == again == source:
            return tests_devices(where)
    return False


def _under_guard(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a move is inside a test for the accelerator; `cuda-branch` deals with those."""
    return all(site.under_device_test for site in group.sites)
