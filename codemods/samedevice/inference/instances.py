"""Instances of the project's classes: made by a call, or standing for those that no code makes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import classes, functions, libraries, moving, uncalled
from samedevice.inference.events import Built
from samedevice.inference.models import Call, frameworks, nn
from samedevice.inference.nodes import Cause, Location, Place
from samedevice.inference.objects import Class, External, Func, Instance, Scope
from samedevice.inference.sites import Site
from samedevice.inference.values import NONE, UNKNOWN, Arg, Const, FunctionNode, Seq, Tensor, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


#: Classes below an abstract one for which its methods are evaluated where nothing calls them.
_HEIRS = 3


def uncalled_class(run: Interpreter, klass: Class) -> None:
    """Evaluate the methods of a class that nothing called."""
    methods = [
        value
        for value in klass.names.values()
        if isinstance(value, Func) and value.node not in run.evaluated
    ]
    built = klass.symbolic is not None and not klass.imagined
    if not built and not any(_is_worth_evaluating(run, method) for method in methods):
        return
    host = klass.family == "dataset"
    run.in_worker += host
    first, *others = (() if built else _heirs(run, klass)) or (klass,)
    if is_moved_by_library(klass):
        methods.sort(key=_sets_own, reverse=True)  # what they set, others read
    begun = _evaluate_methods(run, klass, methods, first, built)
    for heir in others:
        _evaluate_methods(run, klass, begun, heir, built, again=True)
    run.in_worker -= host
    if built and is_moved_by_library(klass):
        _moved_class(run, klass)


def _moved_class(run: Interpreter, klass: Class) -> None:
    """Evaluate what a module that a library moves does with tensors that stay behind then.

    The one that the program has built says nothing of a move. What a method sets, others read.
    """
    real, klass.symbolic = klass.symbolic, None
    instance = symbolic_instance(run, klass)
    methods = [
        value
        for value in klass.names.values()
        if isinstance(value, Func) and name(value.node) != "__init__"
    ]
    setting = [method for method in methods if _sets_own(method)]
    _evaluate_methods(run, klass, setting, klass, built=False, again=True)
    reading = [
        method
        for method in methods
        if _is_step(method) or uncalled.reads_unregistered(method, instance)
    ]
    _evaluate_methods(run, klass, reading, klass, built=False, again=True)
    klass.symbolic, klass.imagined = real, False


def _is_step(method: Func) -> bool:
    """Tell whether a library calls a method of a module that it moves, with batches."""
    moved = method.cls is not None and is_moved_by_library(method.cls)
    return moved and name(method.node).endswith("_step")


def _sets_own(method: Func) -> bool:
    """Tell whether a method sets an attribute of its object."""
    own = syntax.parameters(method.node)[:1]
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in own
        for node in syntax.walk(method.node)
    )


def _evaluate_methods(
    run: Interpreter,
    klass: Class,
    methods: list[Func],
    heir: Class,
    built: bool,
    again: bool = False,
) -> list[Func]:
    """Evaluate methods of a class for an instance of it, or of one below; return those that were.

    Those that something else has called by now are left out, unless they are evaluated `again`.
    """
    instance = heir.symbolic if heir.symbolic is not None else symbolic_instance(run, heir)
    used = {whole: whole.used for whole in instance.wholes()}
    begun: list[Func] = []
    for method in methods:
        if method.node in run.evaluated and not again:
            continue
        if not _is_worth_evaluating(run, method, instance):
            continue
        begun.append(method)
        bound: Value | None = instance
        if method.static == "staticmethod":
            bound = None
        elif method.static == "classmethod":
            bound = heir
        elif name(method.node) == "_apply" and instance.node is not None:
            bound = moving.on_the_way(run, instance, Location(method.scope.path, method.node))
        function = Func(method.node, method.scope, bound, klass, method.static)
        if klass.family == "function" and name(method.node) in ("forward", "backward"):
            if klass.context is None:
                klass.context = Instance("context")
            function = Func(method.node, method.scope, klass.context, klass)
        run.graph.open = not (built and _called_by_python(method.node))
        functions.call_symbolic(run, function)
        run.graph.open = True
    for whole, before in used.items():
        whole.used = before  # what nobody calls uses nothing
    return begun


def _heirs(run: Interpreter, klass: Class) -> list[Class]:
    """Return the classes below an abstract one that its methods run for, or none.

    Those are the ones that define what it leaves to them; of many, the first stand for all.
    """
    abstract = [
        name
        for name, value in klass.names.items()
        if isinstance(value, Func) and syntax.is_abstract(value.node)
    ]
    found: list[Class] = []
    for each in run.classes if abstract else ():
        if each is klass or klass not in each.mro() or len(found) == _HEIRS:
            continue
        own = [each.lookup(name) for name in abstract]
        if not any(isinstance(v, Func) and syntax.is_abstract(v.node) for v in own):
            found.append(each)
    return found


def _is_worth_evaluating(run: Interpreter, method: Func, owner: Value | None = None) -> bool:
    """Tell whether a method that nothing calls, of an object perhaps, has anything to judge."""
    always = name(method.node) in functions.ALWAYS
    if (
        always
        or _is_step(method)
        or run.worth_evaluating(method)
        or uncalled.reads_placed(method, owner)
    ):
        return True
    return isinstance(owner, Instance) and uncalled.reads_unregistered(method, owner)


def _called_by_python(node: FunctionNode) -> bool:
    """Tell whether Python itself calls a method of an object, with nothing else (`__bool__`)."""
    named = name(node)
    return len(node.args.args) == 1 and named.startswith("__") and named.endswith("__")


def symbolic_instance(run: Interpreter, klass: Class) -> Instance:
    """Return an instance of a class that no code constructs."""
    spot = Location(klass.scope.path, klass.node)
    made = new_object(run, klass, spot, klass.scope, of_callers=True)
    klass.symbolic, klass.imagined = made, True
    init = klass.lookup("__init__")
    if isinstance(init, Func):
        run.in_constructor += made.family == "module"
        functions.call_symbolic(run, Func(init.node, init.scope, made, init.cls))
        moving.leave_behind(run, made, spot)
        run.in_constructor -= made.family == "module"
    if made.node is not None:
        # It was built on the CPU. Whoever has it by now has moved it to wherever its inputs are.
        there = run.graph.node(spot)
        run.graph.pin(there, Place.FOLLOWS, spot)
        run.graph.pin(made.node, Place.HOST, spot, cause=Cause.UNMOVED)
        moving.rebase(run, made, there)
    return made


def classify(klass: Class) -> None:
    """Find out what kind of class this is, from its bases."""
    for base in klass.bases:
        if isinstance(base, Class):
            klass.family = klass.family or base.family
            klass.fact = klass.fact or base.fact
        elif isinstance(base, External):
            klass.family = klass.family or family_of(base.name)
            fact = torchfacts.lookup(base.name)
            if fact is not None and fact.kind in ("module", "trainer"):
                klass.fact = fact


def family_of(name: str) -> str:
    """Return the kind of a library's class, by its dotted name."""
    head, _, last = name.rpartition(".")
    if "lightning" in head.split(".")[0] and last in ("LightningModule", "LightningDataModule"):
        return "owned"
    if name in ("torch.autograd.Function", "torch.autograd.function.Function"):
        return "function"
    fact = torchfacts.lookup(name)
    if fact is None:
        return ""
    return {"module": "module", "dataset": "dataset", "optimizer": "optimizer"}.get(fact.kind, "")


def is_moved_by_library(klass: Class) -> bool:
    """Tell whether a class is of the modules that a library moves by itself, as modules move."""
    return klass.family == "owned" and any(
        isinstance(base, External) and base.name.endswith(".LightningModule")
        for each in klass.mro()
        for base in each.bases
    )


def method_of_moved(site: Site) -> Func | None:
    """Return the method that some code is in, of a module that a library moves by itself."""
    func = site.scope.function()
    return func if func is not None and func.cls and is_moved_by_library(func.cls) else None


def new_object(
    run: Interpreter, klass: Class, spot: Location, scope: Scope, *, of_callers: bool = False
) -> Instance:
    """Return a new instance of a class of the project, before its `__init__` ran.

    `of_callers`: it stands for those that others make, and have moved by the time they use them.
    """
    family = "module" if of_callers and is_moved_by_library(klass) else klass.family
    made = Instance(family, klass.node.name, klass, klass.fact)
    made.guarded = not family and run.guarded > 0
    if family == "module":
        made.node = run.graph.node(spot)
        made.stateful = klass.fact is not None and klass.fact.state
        run.modules.append(made)
    if klass.symbolic is None:
        klass.symbolic = made
    return made


def instantiate(
    run: Interpreter,
    klass: Class,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Return a new instance of a class of the project."""
    made = new_object(run, klass, spot, scope)
    if klass.family == "module":
        made.site = run.record(Built(spot, made.node, scope, klass.node.name, module=made))
        nn.made_on_default(run, made, spot, scope)
        run.snapshot(made.site, scope)
    init = klass.lookup("__init__")
    own = classes.made_by_new(run, klass, args, kwargs, spot)
    if own is not None:
        if not isinstance(own, Instance) or own.cls is None or klass not in own.cls.mro():
            return own
        made = own
    if isinstance(init, Func):
        in_constructor = run.in_constructor
        run.in_constructor = in_constructor + 1 if klass.family == "module" else in_constructor
        functions.call_func(run, Func(init.node, init.scope, made, init.cls), args, kwargs, spot)
        moving.leave_behind(run, made, spot)
        run.in_constructor = in_constructor
    elif own is None and klass.kind in classes.CONTAINERS:
        classes.fill_contents(run, made, args, kwargs, spot, scope)
    elif own is None:
        for base in (base for each in klass.mro() for base in each.bases):
            if isinstance(base, External):  # a subclass of DistributedDataParallel
                libraries.note_process_call(run, base.name, args, kwargs, spot, scope)
        classes.fill(run, made, args, kwargs, spot, scope)
        if klass.fact is not None and made.node is not None:
            nn.module_arguments(run, made, args, kwargs)
    if klass.fact is not None and klass.fact.kind == "trainer":
        frameworks.managed(run, klass.node.name, klass.fact, Call(args, kwargs, spot, scope))
    if klass.family == "dataset" and not isinstance(init, Func):
        made.args = [v for v, _ in args]
    return made


def fields_of(klass: Class) -> list[str]:
    """Return the fields of a dataclass or a named tuple, in the order of its constructor."""
    given = klass.lookup("__match_args__")
    if isinstance(given, Seq) and given.items is not None:
        return [str(item.value) for item in given.items if isinstance(item, Const)]
    return [field.name for field in classes.fields(klass) if field.positional]


def class_method(
    run: Interpreter,
    klass: Class,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call what a class inherits from a library."""
    if klass.family == "function" and name == "apply":
        forward = klass.lookup("forward")
        if isinstance(forward, Func):
            context = klass.context = Instance("context")
            result = functions.call_func(
                run, Func(forward.node, forward.scope, context, klass), args, kwargs, spot
            )
            _differentiate(run, klass, context, args, result, spot)
            return result
    if klass.family == "module":
        if name == "from_pretrained":
            made = instantiate(run, klass, [], {}, spot, scope)
            if isinstance(made, Instance):
                made.stateful = True
                nn.spread_out(run, made, kwargs, spot)
            return made
        if args and isinstance(args[0][0], Instance) and name in ("__init__", "forward"):
            if name == "__init__":
                return NONE
            return nn.call_module(run, args[0][0], args[1:], kwargs, spot, scope)
    return UNKNOWN


def _differentiate(
    run: Interpreter,
    klass: Class,
    context: Instance,
    args: list[Arg],
    result: Value,
    spot: Location,
) -> None:
    """Call the `backward` of an autograd function as torch does: with a gradient for each result.

    What it gives for an argument has to be where that is.
    """
    backward = klass.lookup("backward")
    if not isinstance(backward, Func) or run.symbolic or run.in_worker:
        return
    given: list[Arg] = []
    for each in result.items or () if isinstance(result, Seq) else (result,):
        if not isinstance(each, Tensor):
            return
        gradient = Tensor(run.graph.node(spot))
        run.graph.flow(each.node, gradient.node)
        given.append((gradient, spot))
    function = Func(backward.node, backward.scope, context, klass)
    found = functions.call_func(run, function, given, {}, spot)
    gradients = found.items if isinstance(found, Seq) else [found]
    written = _returned(backward.node)
    if gradients is None or written is None or len(written) != len(gradients):
        return
    for (value, where), back, code in zip(args, gradients, written, strict=False):
        if isinstance(value, Tensor) and isinstance(back, Tensor):
            at = Location(backward.scope.path, code)
            run.graph.meet(value.node, where, back.node, at, at, backward.node)


def _returned(function: ast.AST) -> list[ast.expr] | None:
    """Return what a function with one `return` gives, one by one."""
    statements = [node for node in syntax.walk(function) if isinstance(node, ast.Return)]
    value = statements[0].value if len(statements) == 1 else None
    if value is None:
        return None
    return [*value.elts] if isinstance(value, ast.Tuple) else [value]


def name(node: ast.AST) -> str:
    """Return the name of what a node defines, or ""."""
    return getattr(node, "name", "")
