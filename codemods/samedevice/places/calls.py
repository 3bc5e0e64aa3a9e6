"""Evaluate calls: of the project's own functions and classes, of builtins and of containers."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce
from typing import Any

from samedevice import torchfacts
from samedevice.places import classes, operators
from samedevice.places.environment import Exits, State
from samedevice.places.expressions import INDEXED, Arg
from samedevice.places.focus import Unit
from samedevice.places.graph import Node, Place, Spot
from samedevice.places.library import Library
from samedevice.places.summaries import Given, Record, again, placeholder, shape, stores
from samedevice.places.values import (
    ARRAY,
    DEEP,
    DEVICE,
    NONE,
    NOTHING,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Doubt,
    Either,
    Ext,
    Func,
    FunctionNode,
    Iter,
    Klass,
    Method,
    Obj,
    Partial,
    Rank,
    Scope,
    Seq,
    Super,
    Tensor,
    Value,
    parameter_of,
)

#: Evaluations of one function before its results stand for the others; short ones may have more.
_CONTEXTS = 12
_LINES = 200
#: Methods that are evaluated whatever words are in them: others may depend on what they do.
_ALWAYS = ("__init__", "backward")
#: Shapes of arguments that one function has templates for; the most alike serves the others.
_VARIANTS = 16
#: Nested calls that are followed; `interpret._FRAMES` has room for them.
_DEPTH = 100


#: Members that a function is mapped over one by one; more are joined first.
_MAPPED = 8


class Calls(Library):
    """Values of calls."""

    def __init__(self) -> None:
        self.function_attributes = {}
        self.sending = {}
        self.unit: Unit = "", ""  # what is being evaluated
        self.reached: dict[FunctionNode, set[Unit]] = {}  # what evaluated each function
        self._known: set[int] = set()
        self._results: dict[object, list[Record]] = {}
        self.copies = 30_000  # nodes that may still be made anew for calls of what was evaluated
        self._templates: dict[object, dict[object, Record]] = {}
        self._evaluations = 0
        self._signatures: dict[ast.AST, tuple[list[str], list[ast.expr | None]]] = {}

    # -- arguments --------------------------------------------------------------------------

    def eval_Call(self, node: ast.Call, scope: Scope) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            if scope.self_value is not None and scope.func is not None and scope.func.cls:
                return Super(scope.func.cls, scope.self_value)
        callee = self.eval(node.func, scope)
        args: list[Arg] = []
        for arg in node.args:
            value = self.eval(arg, scope)
            if isinstance(arg, ast.Starred):
                zipped = isinstance(callee, Ext) and callee.name == "builtins.zip"
                if zipped and len(node.args) == 1 and isinstance(value, Seq):
                    columns = _columns(self.iterate(value, Spot(scope.path, arg.value), scope))
                    if columns is not None:
                        return columns
                if isinstance(value, Seq) and value.items is not None:
                    args.extend((v, Spot(scope.path, arg.value)) for v in value.items)
                else:
                    element = self.iterate(value, Spot(scope.path, arg.value), scope)
                    args.extend([(element, Spot(scope.path, arg.value))] * _room(callee, node))
            else:
                args.append((value, Spot(scope.path, arg)))
        kwargs: dict[str, Arg] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value, scope)
            spot = Spot(scope.path, keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = (value, spot)
            elif isinstance(value, Dict):
                kwargs.update({str(k): (v, spot) for k, v in value.items.items()})
                if value.element is not None:
                    kwargs.setdefault("**", (value.element, spot))
            elif value is UNKNOWN:
                kwargs.setdefault("**", (UNKNOWN, spot))
        before = len(self.sites)
        if callee is UNKNOWN and isinstance(node.func, ast.Attribute):
            layer = self.unknown_layer(node.func, args, Spot(scope.path, node), scope)
            if layer is not None:
                return layer
            return self.moved_unknown(node.func, args, kwargs, Spot(scope.path, node), scope)
        result = self.apply(callee, args, kwargs, Spot(scope.path, node), scope)
        if isinstance(callee, (Func, Either, Partial)):
            for made in self.modules_in(result) if isinstance(result, (Obj, Either)) else ():
                if made.site is None or made.site.order < before or made.node is None:
                    continue  # it was handed in
                if not made.moves and not made.site.constructing and not _computed(made.node):
                    # What a function builds and returns is moved by the one who asked for it.
                    made.site.detail["returned"] = Spot(scope.path, node)
                    self.snapshot(made.site, scope)
                    made.site.scope = scope
        return result

    def unknown_layer(
        self, func: ast.Attribute, args: list[Arg], spot: Spot, scope: Scope
    ) -> Value | None:
        """Return what `self.layer(x)` gives, a layer that a module got from code not known here."""
        owner = scope.names.get(func.value.id) if isinstance(func.value, ast.Name) else None
        if not isinstance(owner, Obj) or owner.family != "module" or owner.node is None:
            return None
        if owner.attrs.get(func.attr) is not UNKNOWN:
            return None
        operands = [(v, where) for v, where in args if isinstance(v, Tensor)]
        if not operands:
            return None
        for value, _ in operands:
            value.node.find().sure = True
        owner.stateful = True
        layer = Tensor(owner.node)
        return self.operate([(layer, Spot(spot.path, func)), *operands], spot, False)

    def apply(
        self, callee: Value, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Return the result of calling a value."""
        match callee:
            case Func():
                return self.call_func(callee, args, kwargs, spot)
            case Klass():
                return self.instantiate(callee, args, kwargs, spot, scope)
            case Obj():
                return self.call_object(callee, args, kwargs, spot, scope)
            case Method():
                return self.call_method(callee, args, kwargs, spot, scope)
            case Either(options=options):
                joined: Value | None = None
                for option in options:
                    joined = self.join(joined, self.apply(option, args, kwargs, spot, scope))
                return joined if joined is not None else UNKNOWN
            case Partial():
                given = {**callee.kwargs, **kwargs}
                return self.apply(callee.callee, [*callee.args, *args], given, spot, scope)
            case Ext(name=name):
                head, _, rest = name.partition(".")
                if head == "builtins":
                    return self.builtin(rest, args, kwargs, spot, scope)
                return self.call_external(name, args, kwargs, spot, scope)
            case Tensor():
                return self.call_parameter(callee, args, kwargs, spot)
        return callee if callee is NOTHING else UNKNOWN

    def call_parameter(
        self, callee: Tensor, args: list[Arg], kwargs: dict[str, Arg], spot: Spot
    ) -> Value:
        """Call something that a caller handed in: most likely a module or a loss."""
        callee.doubt = Doubt.OTHER  # a tensor is not called
        for value, where in (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                self.graph.meet(
                    callee.node,
                    Spot(spot.path, spot.node),
                    value.node,
                    where,
                    spot,
                    self.function(),
                )
        return self.derived(callee, spot)

    # -- the project's own functions --------------------------------------------------------

    def call_func(self, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Spot) -> Value:
        """Evaluate a function of the project with these arguments."""
        node = func.node
        if isinstance(func.bound, Obj) and not self.constructing:
            func.bound.used = True
        if len(self.stack) >= _DEPTH or self.stack.count(node) >= 2:
            return self.nearest(func, args, kwargs)
        known = self._results.setdefault(_code(func), [])
        seen = len(known)
        self._evaluations += 1
        limit = max(_CONTEXTS, _LINES // _height(node))
        if seen >= limit or (seen and self._evaluations > 2000 + 20 * len(self._known)):
            return self.by_template(func, args, kwargs, spot)
        self.contexts[node] = self.contexts.get(node, 0) + 1
        self.note_arguments(node, args, kwargs)
        record = self.evaluate(func, args, kwargs, spot)
        known.append(record)
        return record.result

    def note_arguments(self, node: FunctionNode, args: list[Arg], kwargs: dict[str, Arg]) -> None:
        """Remember what was handed in by this call, and that it did."""
        self.reached.setdefault(node, set()).add(self.unit)
        for value, where in (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                self.arguments.setdefault(node, []).append((value.node, where, self.function()))

    def evaluate(self, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Spot) -> Record:
        """Evaluate the body of a function."""
        node = func.node
        self.evaluated.add(node)
        scope = Scope(func.scope.path, node, func.scope, func.scope.globals)
        scope.func = func
        scope.call = spot
        scope.self_value = func.bound if func.bound is not None else func.scope.self_value
        if func.bound is None and func.cls is None and func.scope.func is not None:
            scope.self_value = func.scope.self_value
        self.scopes[node] = scope
        self.all_scopes.setdefault(node, []).append(scope)
        self.bind_arguments(func, args, kwargs, scope)
        nodes, meets = len(self.graph.nodes), len(self.graph.meetings)
        hosted = self._is_host_code(func)
        self.hosted += hosted
        self.stack.append(node)
        constructing = self.constructing
        if func.cls is not None and func.cls.family == "module" and _name(node) != "__init__":
            # A method that runs while the module is built still builds it; a call of another
            # module's forward does not.
            if _name(node) == "forward":
                self.constructing = 0
        if isinstance(node, ast.Lambda):
            result = self.eval(node.body, scope)
        else:
            results, yields = self.body(node.body, scope)
            result = NONE
            if yields:
                element: Value | None = None
                for value in yields:
                    element = self.join(element, value)
                result = Iter(element if element is not None else UNKNOWN)
                result.result = reduce(self.join, results) if results else NONE
                result.call = node, lambda: self.call_func(func, args, kwargs, spot)
            elif results:
                joined: Value | None = None
                for value in results:
                    joined = self.join(joined, value)
                result = joined if joined is not None else NONE
        self.constructing = constructing
        self.stack.pop()
        self.hosted -= hosted
        return Record(
            _given(func, args, kwargs), result, (nodes, len(self.graph.nodes)),
            (meets, len(self.graph.meetings)),
        )  # fmt: skip

    def body(self, body: list[ast.stmt], scope: Scope) -> tuple[list[Value], list[Value]]:
        """Evaluate a function's body; return what it returns and what it yields."""
        self._returns.append([])
        self._yields.append([])
        self.exits.append(Exits(self.trail.mark(), self.trail.forks))
        loops, self.loops = self.loops, []
        caught, self.caught = self.caught, []
        ended = self.block(body, scope)
        self.loops, self.caught = loops, caught
        exits = self.exits.pop()
        if exits.states:
            if not ended:
                exits.states.append(State(scope.names, {}))
            self.trail.merge(exits.states)
        return self._returns.pop(), self._yields.pop()

    def sent(self, generator: Iter, value: Value) -> Value:
        """Return what `generator.send(value)` gives: the body is evaluated with what it receives.

        What was sent before may be received as well.
        """
        if generator.call is None or generator.call[0] in self.sending:
            return generator.element
        node, again = generator.call
        generator.received = self.sending[node] = self.join(generator.received, value)
        found = again()
        del self.sending[node]
        return found.element if isinstance(found, Iter) else generator.element

    def _is_host_code(self, func: Func) -> bool:
        if func.cls is None or func.cls.family != "dataset":
            return False
        return _name(func.node) in ("__getitem__", "__iter__", "__getitems__")

    def nearest(self, func: Func, args: list[Arg], kwargs: dict[str, Arg]) -> Value:
        """Return what a function that is being evaluated gives, by what it gave so far."""
        known = self._results.get(_code(func))
        if not known:
            return UNKNOWN
        given = _given(func, args, kwargs)
        shapes = {name: shape(value) for name, value in given.items()}
        return again(self, max(reversed(known), key=lambda each: each.likeness(shapes)), given)

    def by_template(self, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Spot) -> Value:
        """Return what a function gives for these arguments, by one evaluation for their shape."""
        self.note_arguments(func.node, args, kwargs)
        given = _given(func, args, kwargs)
        record = self._template(func, args, kwargs, spot, given)
        result = record.result
        if isinstance(result, Obj) and result.family == "module":
            if all(result is not before for before in record.given.values()):
                return self.twin(result, self.graph.node(spot))
        return again(self, record, given)

    def _template(
        self, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, given: Given
    ) -> Record:
        """Return an evaluation with arguments that are nowhere; what it writes is taken back."""
        variants = self._templates.setdefault(_code(func), {})
        known = self._results.get(_code(func))
        shapes = {name: shape(value) for name, value in given.items()}
        key = tuple(shapes.items())
        if key in variants:
            return variants[key]
        if known and (
            len(variants) >= _VARIANTS or self._evaluations > 2000 + 20 * len(self._known)
        ):
            return max(known, key=lambda each: each.likeness(shapes))
        free = [(placeholder(self, value, where), where) for value, where in args]
        named = {k: (placeholder(self, v, where), where) for k, (v, where) in kwargs.items()}
        if isinstance(func.bound, Obj):
            bound = placeholder(self, func.bound, spot)
            func = Func(func.node, func.scope, bound, func.cls, func.static)
        scopes, sites, mark = (self.scopes, self.all_scopes), len(self.sites), self.trail.mark()
        self.scopes, self.all_scopes = dict(self.scopes), {}
        self.trail.forks += 1
        record = self.evaluate(func, free, named, spot)
        set_by_it = stores(self.trail.written(mark), record.given)
        self.trail.undo(mark)
        self.trail.close()
        self.scopes, self.all_scopes = scopes
        record = replace(record, sites=tuple(self.sites[sites:]), stores=set_by_it)
        del self.sites[sites:]
        variants[key] = record
        return record

    def twin(self, module: Obj, node: Node, depth: int = DEEP) -> Obj:
        """Return another module that was built in the same way, with its parts, all at `node`."""
        made = Obj("module", module.name, module.cls, module.fact, node)
        made.stateful, made.plain = module.stateful, module.plain
        made.args, made.kwargs = module.args, module.kwargs
        for attr, value in module.attrs.items():
            if isinstance(value, Obj) and value.family == "module" and value.parent is module:
                if depth:
                    part = made.attrs[attr] = self.twin(value, node, depth - 1)
                    part.parent = made
            elif isinstance(value, Tensor) and module.node is not None:
                same = value.node.find() is module.node.find()
                made.attrs[attr] = parameter_of(made) if same else value
            else:
                made.attrs[attr] = value
        return made

    def bind_arguments(
        self, func: Func, args: list[Arg], kwargs: dict[str, Arg], scope: Scope
    ) -> None:
        """Bind a call's arguments to the function's parameters."""
        spec = func.node.args
        names, defaults = self._signature(func.node)
        values = [value for value, _ in args]
        if func.bound is not None:
            values.insert(0, func.bound)
        left = dict(kwargs)
        spread = left.pop("**", None)  # of a mapping whose keys are not known
        if spread is not None:
            bound = func.bound is not None
            for name in names[len(values) :] if not bound else names[max(len(values), 1) :]:
                left.setdefault(name, spread)
        for index, name in enumerate(names):
            if index < len(values):
                scope.names[name] = values[index]
            elif name in left:
                scope.names[name] = left.pop(name)[0]
            else:
                scope.names[name] = self.default(name, defaults[index], func, scope)
        if spec.vararg is not None:
            scope.names[spec.vararg.arg] = Seq("tuple", values[len(names) :])
        for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if argument.arg in left:
                scope.names[argument.arg] = left.pop(argument.arg)[0]
            else:
                scope.names[argument.arg] = self.default(argument.arg, default, func, scope)
        if spec.kwarg is not None:
            scope.names[spec.kwarg.arg] = Dict({k: v for k, (v, _) in left.items()})

    def _signature(self, node: FunctionNode) -> tuple[list[str], list[ast.expr | None]]:
        """Return the names of a function's positional parameters, and their defaults."""
        known = self._signatures.get(node)
        if known is None:
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
            without = len(names) - len(node.args.defaults)
            known = self._signatures[node] = names, [None] * without + [*node.args.defaults]
        return known

    def default(self, name: str, default: ast.expr | None, func: Func, scope: Scope) -> Value:
        """Return a parameter's default, and note a device that was chosen at import."""
        if default is None:  # a decorator gives it
            spec = func.node.args
            given = (each for each in (*spec.posonlyargs, *spec.args) if each.arg == name)
            return self._of_settings(next(given, None), func.scope) or UNKNOWN
        value = self.eval(default, func.scope)
        if isinstance(value, Device) and not isinstance(default, (ast.Name, ast.Attribute)):
            made = self.site("default", Spot(func.scope.path, default), value.node, scope, name)
            made.detail["call"] = scope.call
        if isinstance(value, Const) and (value.value is None or isinstance(value.value, str)):
            if scope.call is not None and isinstance(scope.call.node, ast.Call):
                self.left_out[value] = scope.call, name
        return value

    # -- what nobody calls ------------------------------------------------------------------

    def call_symbolic(self, func: Func) -> Value:
        """Evaluate a function whose callers are not known."""
        spec = func.node.args
        arguments = [*spec.posonlyargs, *spec.args]
        positional = arguments[1:] if func.bound is not None else arguments
        _, defaults = self._signature(func.node)
        if func.bound is not None:
            defaults = defaults[1:]
        path = func.scope.path
        # What flows backward through an autograd function is a tensor.
        sure = func.cls is not None and func.cls.family == "function"
        sure = sure and _name(func.node) == "backward"
        args = [
            (
                self._of_settings(argument, func.scope)
                or self.parameter(argument, default, path, sure),
                Spot(path, argument),
            )
            for argument, default in zip(positional, defaults, strict=True)
        ]
        kwargs = {
            argument.arg: (self.parameter(argument, default, path, False), Spot(path, argument))
            for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        }
        return self.call_func(func, args, kwargs, Spot(path, func.node))

    def _of_settings(self, argument: ast.arg | None, scope: Scope) -> Value | None:
        """Return an instance for a parameter that is one of a class whose fields have defaults.

        A library's decorator makes it of the command line. Of the defaults only an accelerator is
        believed: it is written out for all who choose none. Who has "cpu" there may mean it.
        """
        if argument is None or not isinstance(argument.annotation, (ast.Name, ast.Attribute)):
            return None
        klass = self.eval(argument.annotation, scope)
        if not isinstance(klass, Klass) or klass.family or klass.bases:
            return None
        declared = classes.fields(klass)
        if not declared or isinstance(klass.lookup("__init__"), Func):
            return None
        given = [klass.names.get(field.name) for field in declared]
        if any(value is None or _is_cpu(value) for value in given):
            return None
        made = self.instantiate(klass, [], {}, Spot(scope.path, argument), scope)
        if not isinstance(made, Obj):
            return None
        for name, value in made.attrs.items():
            if isinstance(value, Const):
                if not (isinstance(value.value, str) and DEVICE.fullmatch(value.value)):
                    made.attrs[name] = SCALAR
        return made

    def parameter(
        self, argument: ast.arg, default: ast.expr | None, path: str, sure: bool
    ) -> Value:
        """Return what stands for a parameter: a tensor, as far as its use shows it to be one."""
        note = self.dotted(argument.annotation) if argument.annotation is not None else ""
        last = note.rpartition(".")[2]
        if last in ("int", "float", "str", "bool", "bytes", "Path"):
            return SCALAR
        if last in ("ndarray", "Image", "DataFrame"):
            return ARRAY
        if isinstance(default, ast.Constant) and default.value is not None:
            if not isinstance(default.value, str) or not argument.arg.endswith("device"):
                return SCALAR
        spot = Spot(path, argument)
        node = self.graph.node(spot)
        node.sure = sure or last in ("Tensor", "FloatTensor", "LongTensor")
        self.graph.pin(node, Place.FOLLOWS, spot)
        if last == "device" or argument.arg == "device":
            node.sure = True
            return Device(node, spot, resolved=True)
        if last == "Module":
            made = Obj("module", node=node)
            made.stateful = True
            return made
        return Tensor(node)

    def uncalled_class(self, klass: Klass) -> None:
        """Evaluate the methods of a class that nothing called."""
        methods = [
            value
            for value in klass.names.values()
            if isinstance(value, Func)
            and value.node not in self.evaluated
            and (_name(value.node) in _ALWAYS or self.telling(value))
        ]
        if not methods:
            return
        host = klass.family == "dataset"
        self.hosted += host
        if klass.symbolic is None:
            self.symbolic_instance(klass)
        instance = klass.symbolic
        for method in methods:
            if method.node in self.evaluated:
                continue
            bound: Value | None = instance
            if method.static == "staticmethod":
                bound = None
            elif method.static == "classmethod":
                bound = klass
            function = Func(method.node, method.scope, bound, klass, method.static)
            if klass.family == "function" and _name(method.node) in ("forward", "backward"):
                if klass.context is None:
                    klass.context = Obj("context")
                function = Func(method.node, method.scope, klass.context, klass)
            self.call_symbolic(function)
        self.hosted -= host

    def symbolic_instance(self, klass: Klass) -> Obj:
        """Return an instance of a class that nobody constructs."""
        spot = Spot(klass.scope.path, klass.node)
        made = self.new_object(klass, spot, klass.scope)
        klass.symbolic = made
        if made.node is not None:
            self.graph.pin(made.node, Place.FOLLOWS, spot)
        init = klass.lookup("__init__")
        if isinstance(init, Func):
            self.constructing += made.family == "module"
            self.call_symbolic(Func(init.node, init.scope, made, init.cls))
            self.constructing -= made.family == "module"
        return made

    # -- classes and their instances --------------------------------------------------------

    def classify(self, klass: Klass) -> None:
        """Find out what kind of class this is, from its bases."""
        for base in klass.bases:
            if isinstance(base, Klass):
                klass.family = klass.family or base.family
                klass.fact = klass.fact or base.fact
            elif isinstance(base, Ext):
                klass.family = klass.family or self.family_of(base.name)
                fact = torchfacts.lookup(base.name)
                if fact is not None and fact.kind == "module":
                    klass.fact = fact

    def family_of(self, name: str) -> str:
        """Return the kind of a library's class, by its dotted name."""
        head, _, last = name.rpartition(".")
        if "lightning" in head.split(".")[0] and last in ("LightningModule", "LightningDataModule"):
            return "owned"
        if name in ("torch.autograd.Function", "torch.autograd.function.Function"):
            return "function"
        fact = torchfacts.lookup(name)
        if fact is None:
            return ""
        return {"module": "module", "dataset": "dataset", "optimizer": "optimizer"}.get(
            fact.kind, ""
        )

    def new_object(self, klass: Klass, spot: Spot, scope: Scope) -> Obj:
        """Return a new instance of a class of the project, before its `__init__` ran."""
        made = Obj(klass.family, klass.node.name, klass, klass.fact)
        if klass.family == "module":
            made.node = self.graph.node(spot)
            made.stateful = klass.fact is not None and klass.fact.state
            self.modules.append(made)
        if klass.symbolic is None:
            klass.symbolic = made
        return made

    def instantiate(
        self, klass: Klass, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Return a new instance of a class of the project."""
        made = self.new_object(klass, spot, scope)
        if klass.family == "module":
            made.site = self.site("module", spot, made.node, scope, klass.node.name)
            made.site.detail["object"] = made
            self.made_on_default(made, spot, scope)
            self.snapshot(made.site, scope)
        init = klass.lookup("__init__")
        own = classes.made_by_new(self, klass, args, kwargs, spot)
        if own is not None:
            if not isinstance(own, Obj) or own.cls is None or klass not in own.cls.mro():
                return own
            made = own
        if isinstance(init, Func):
            constructing = self.constructing
            self.constructing = constructing + 1 if klass.family == "module" else constructing
            self.call_func(Func(init.node, init.scope, made, init.cls), args, kwargs, spot)
            self.constructing = constructing
        elif own is None and klass.kind in classes.CONTAINERS:
            classes.fill_contents(self, made, args, kwargs, spot, scope)
        elif own is None:
            classes.fill(self, made, args, kwargs, spot, scope)
            if klass.fact is not None and made.node is not None:
                self.module_arguments(made, args, kwargs)
        if klass.family == "dataset" and not isinstance(init, Func):
            made.args = [v for v, _ in args]
        return made

    def fields_of(self, klass: Klass) -> list[str]:
        """Return the fields of a dataclass or a named tuple, in the order of its constructor."""
        given = klass.lookup("__match_args__")
        if isinstance(given, Seq) and given.items is not None:
            return [str(item.value) for item in given.items if isinstance(item, Const)]
        return [field.name for field in classes.fields(klass) if field.positional]

    def call_object(
        self, callee: Obj, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call an instance: a module's `forward`, or `__call__`."""
        if callee.family == "module":
            for whole in callee.wholes():
                whole.used = True  # using a part is using the whole
            if callee.cls is not None:
                forward = callee.cls.lookup("forward") or callee.cls.lookup("__call__")
                if isinstance(forward, Func):
                    for value, where in args if callee.stateful and callee.node else ():
                        assert callee.node is not None
                        self.undecided(value, where, callee.node, scope)
                    return self.call_func(
                        Func(forward.node, forward.scope, callee, forward.cls), args, kwargs, spot
                    )
            return self.call_module(callee, args, kwargs, spot, scope)
        if callee.cls is not None:
            method = callee.cls.lookup("__call__")
            if isinstance(method, Func):
                return self.call_func(
                    Func(method.node, method.scope, callee, method.cls), args, kwargs, spot
                )
        return self.call_library_object(callee, args, kwargs, spot, scope)

    def method(self, owner: Obj, name: str, scope: Scope, where: ast.AST, *args: Value) -> Value:
        """Call a method of an instance with these values."""
        found = owner.cls.lookup(name) if owner.cls is not None else None
        if not isinstance(found, Func):
            return UNKNOWN
        spot = Spot(scope.path, where)
        return self.call_func(
            Func(found.node, found.scope, owner, found.cls), [(a, spot) for a in args], {}, spot
        )

    # -- methods ----------------------------------------------------------------------------

    def call_method(
        self, callee: Method, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call a method of a tensor, a module, a container or a library's object."""
        receiver, name = callee.receiver, callee.name
        match receiver:
            case Tensor():
                return self.tensor_method(receiver, name, args, kwargs, callee.spot, spot, scope)
            case Obj(family="module") | Obj(family="owned"):
                return self.module_method(receiver, name, args, kwargs, spot, scope)
            case Obj():
                own = classes.tuple_method(self, receiver, name, kwargs)
                if own is not None:
                    return own
                held = classes.contents(receiver)
                if held is not None:
                    inner = Method(held, name, callee.spot)
                    return self.call_method(inner, args, kwargs, spot, scope)
                return self.library_method(receiver, name, args, kwargs, spot, scope)
            case Super(obj=obj):
                if isinstance(obj, Obj) and obj.family == "module":
                    if name == "__init__":
                        self.module_arguments(obj, args, kwargs)
                        return NONE
                    if name == "forward":
                        return self.call_module(obj, args, kwargs, spot, scope)
                    return self.module_method(obj, name, args, kwargs, spot, scope)
                if name == "__new__" and args and isinstance(args[0][0], Klass):
                    made = self.new_object(args[0][0], spot, scope)
                    if made.cls is not None and made.cls.lookup("__init__") is None:
                        classes.fill(self, made, args[1:], kwargs, spot, scope)
                    return made
                held = classes.contents(obj) if isinstance(obj, Obj) else None
                if held is not None and isinstance(obj, Obj):
                    return classes.inherited(self, obj, held, name, args, kwargs, spot, scope)
                if isinstance(obj, Obj) and obj.family == "optimizer":
                    return self.library_method(obj, name, args, kwargs, spot, scope)
                if isinstance(obj, Obj) and name == "__init__":
                    for key, (value, _) in kwargs.items():
                        obj.attrs.setdefault(key, value)
                return NONE
            case Klass():
                return self.class_method(receiver, name, args, kwargs, spot, scope)
            case Seq():
                return self.sequence_method(receiver, name, args, spot, scope)
            case Dict():
                return self.dict_method(receiver, name, args, kwargs, spot, scope)
            case Iter():
                if name == "next" and not args:
                    self.site("old-name", spot, None, scope, "next")
                if name in ("send", "asend") and args:
                    return self.sent(receiver, args[0][0])
                return receiver.element if name in ("__next__", "next") else UNKNOWN
            case Const(value=text) if isinstance(text, str):
                if name in ("split", "rsplit", "splitlines"):
                    return Seq("list", None, SCALAR)
                if name == "format" and len(args) == 1 and INDEXED.fullmatch(text):
                    if isinstance(spot.node, ast.expr):
                        return self.indexed(spot.node, args[0][0], scope)
                return SCALAR
            case Device():
                return Const(None) if name == "__enter__" else SCALAR
        if receiver is ARRAY:
            return ARRAY
        return UNKNOWN

    def class_method(
        self, klass: Klass, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Call what a class inherits from a library."""
        if klass.family == "function" and name == "apply":
            forward = klass.lookup("forward")
            if isinstance(forward, Func):
                context = klass.context = Obj("context")
                return self.call_func(
                    Func(forward.node, forward.scope, context, klass), args, kwargs, spot
                )
        if klass.family == "module":
            if name == "from_pretrained":
                made = self.instantiate(klass, [], {}, spot, scope)
                if isinstance(made, Obj):
                    made.stateful = True
                return made
            if args and isinstance(args[0][0], Obj) and name in ("__init__", "forward"):
                if name == "__init__":
                    return NONE
                return self.call_module(args[0][0], args[1:], kwargs, spot, scope)
        return UNKNOWN

    def extend(self, owner: Seq, other: Value) -> None:
        """Add the members of a container to a list."""
        if isinstance(other, (Seq, Iter)):
            members = list(other.members()) if isinstance(other, Seq) else [other.element]
            for member in members:
                self.append(owner, member)

    def append(self, owner: Seq, value: Value, spot: Spot | None = None) -> None:
        """Add a member to a list: how many there are is not known any more."""
        self.trail.note(owner)
        if spot is None or not isinstance(value, Tensor):
            owner.added = None
        elif owner.added is not None and all(spot.node is not s.node for _, s in owner.added):
            owner.added = (*owner.added, (value, spot))
        for member in owner.items or ():
            owner.element = self.join(owner.element, member)
        owner.items = None
        owner.element = self.join(owner.element, value)

    def sequence_method(
        self, owner: Seq, name: str, args: list[Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call a method of a list, tuple, set or deque."""
        values = [value for value, _ in args]
        if name in ("append", "appendleft", "add") and values:
            self.append(owner, *args[0])
            return NONE
        if name == "insert" and len(values) == 2:
            self.append(owner, values[1])
            return NONE
        if name in ("extend", "update", "extendleft") and values:
            self.extend(owner, values[0])
            return NONE
        if name in ("pop", "popleft", "__getitem__"):
            return self.iterate(owner, spot, scope)
        if name in ("copy", "union", "difference", "__iter__"):
            return owner
        return NONE if name in ("sort", "reverse", "clear", "remove") else SCALAR

    def dict_method(
        self, owner: Dict, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Call a method of a dictionary."""
        joined: Value | None = None
        for member in owner.members():
            joined = self.join(joined, member)
        element = joined if joined is not None else UNKNOWN
        if name == "items":
            return Iter(Seq("tuple", [SCALAR, element]), owner)
        if name == "values":
            return Iter(element, owner)
        if name == "keys":
            return Iter(SCALAR, owner)
        if name in ("get", "pop", "setdefault") and args:
            key = args[0][0]
            if isinstance(key, Const) and key.value in owner.items:
                return owner.items[key.value]
            return self.join(args[1][0], element) if len(args) > 1 else element
        if name == "update":
            if args and isinstance(args[0][0], Dict):
                for entry, member in args[0][0].items.items():
                    self.trail.put(owner.items, entry, member)
                if args[0][0].element is not None:
                    self.trail.note(owner)
                    owner.element = self.join(owner.element, args[0][0].element)
            for entry, (member, _) in kwargs.items():
                self.trail.put(owner.items, entry, member)
            return NONE
        return owner if name == "copy" else UNKNOWN

    # -- builtins ---------------------------------------------------------------------------

    def builtin(
        self, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call a builtin function."""
        values = [value for value, _ in args]
        first = values[0] if values else UNKNOWN
        match name:
            case "len" | "int" | "float" | "str" | "bool" | "hash" | "id" | "ord" | "repr":
                own = operators.called(self, first, f"__{name}__", [], spot, scope)
                if own is not None:
                    return SCALAR
                if name == "str" and isinstance(first, Device):
                    return Device(
                        first.node, first.spot, text=True, resolved=first.resolved, rank=first.rank
                    )
                if name in ("int", "str") and isinstance(first, Rank):
                    return first
                return SCALAR
            case "range":
                return Iter(SCALAR)
            case "enumerate":
                return Iter(Seq("tuple", [SCALAR, self.iterate(first, args[0][1], scope)]), first)
            case "zip":
                members = [self.iterate(v, where, scope) for v, where in args]
                return Iter(Seq("tuple", members))
            case "map":
                if not args:
                    return UNKNOWN
                source = values[1] if len(args) == 2 else None
                if isinstance(source, Seq) and source.items and len(source.items) <= _MAPPED:
                    where = args[0][1] if isinstance(first, Ext) else spot
                    each = [(member, args[1][1]) for member in source.items]
                    return Seq("list", [self.apply(first, [e], {}, where, scope) for e in each])
                inner = [(self.iterate(v, where, scope), where) for v, where in args[1:]]
                # What a library's function makes is made where the function is named.
                where = args[0][1] if isinstance(first, Ext) else spot
                return Iter(self.apply(first, inner, {}, where, scope))
            case "filter":
                return Iter(self.iterate(values[1], spot, scope)) if len(values) > 1 else UNKNOWN
            case "iter":
                if isinstance(first, Iter):
                    return first
                return Iter(self.iterate(first, args[0][1], scope), first) if args else UNKNOWN
            case "next":
                if isinstance(first, Obj):
                    return self.method(first, "__next__", scope, spot.node)
                if len(values) > 1 and isinstance(first, Iter) and first.element is UNKNOWN:
                    if isinstance(first.source, Seq) and first.source.items == []:
                        return values[1]
                found = self.iterate(first, args[0][1], scope) if args else UNKNOWN
                return self.join(found, values[1]) if len(values) > 1 else found
            case "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed":
                kind = name if name in ("list", "tuple", "set") else "list"
                if isinstance(first, Seq):
                    return Seq(kind, list(first.items) if first.items is not None else None,
                               first.element, spot)  # fmt: skip
                if not args:
                    return Seq(kind, [], spot=spot)
                return Seq(kind, None, self.iterate(first, args[0][1], scope), spot)
            case "dict":
                made = Dict({k: v for k, (v, _) in kwargs.items()}, spot=spot)
                if isinstance(first, Dict):
                    made.items = {**first.items, **made.items}
                    made.element = first.element
                elif isinstance(first, Iter) and isinstance(first.element, Seq):
                    pair = first.element.items or []
                    made.element = pair[1] if len(pair) == 2 else None
                return made
            case "sum" | "max" | "min":
                if name != "sum" and len(values) == 1 and isinstance(first, Tensor):
                    return Tensor(first.node, scalar=True)  # compared as numbers, they are numbers
                if len(values) == 1 or (name == "sum" and values):
                    return self.iterate(first, args[0][1], scope)
                return self.join(values[0], values[1]) if len(values) > 1 else SCALAR
            case "abs" | "round" | "pow":
                return first if isinstance(first, Tensor) else SCALAR
            case "isinstance":
                return self.is_instance(first, values[1]) if len(values) == 2 else SCALAR
            case "getattr":
                return classes.got(self, args, spot, scope)
            case "setattr":
                if len(values) == 3:
                    classes.put(self, first, args[1], values[2], spot, scope)
                return NONE
            case "open" | "input" | "type" | "callable" | "hasattr" | "any" | "all" | "chr":
                return SCALAR
            case "print":
                return NONE
            case "vars":
                if isinstance(first, Obj):
                    return Dict(first.attrs)
            case "staticmethod" | "classmethod" if isinstance(first, Func):
                return Func(first.node, first.scope, None, first.cls, name)
            case "property":
                return made_property(args, kwargs)
            case "object.__new__" if isinstance(first, Klass):
                return self.new_object(first, spot, scope)
        return UNKNOWN


def made_property(args: list[Arg], kwargs: dict[str, Arg]) -> Value:
    """Return what `property(get, set)` makes."""
    get = args[0] if args else kwargs.get("fget")
    put = args[1] if len(args) > 1 else kwargs.get("fset")
    if get is None or not isinstance(get[0], Func):
        return UNKNOWN
    getter = Func(get[0].node, get[0].scope, None, get[0].cls, "property")
    if put is None or not isinstance(put[0], Func):
        return getter
    setter = Func(put[0].node, put[0].scope, None, put[0].cls, "setter")
    setter.getter = getter
    return setter


def _columns(row: Value) -> Seq | None:
    """Return what `zip(*rows)` yields for any number of rows like this one."""
    if isinstance(row, Seq):
        members = row.items
    elif isinstance(row, Obj) and not row.family:
        members = list(row.attrs.values())  # a named tuple
    else:
        return None
    return Seq("list", [Seq("tuple", None, m) for m in members]) if members else None


def _room(callee: Value, node: ast.Call) -> int:
    """Return how many parameters each starred argument of unknown length fills."""
    if not isinstance(callee, Func) or callee.node.args.vararg is not None:
        return 1
    starred = sum(isinstance(arg, ast.Starred) for arg in node.args)
    spec = callee.node.args
    free = len(spec.posonlyargs) + len(spec.args) - (callee.bound is not None)
    return max(1, (free - (len(node.args) - starred) - len(node.keywords)) // starred)


def _given(func: Func, args: list[Arg], kwargs: dict[str, Arg]) -> Given:
    """Return the values of a call by position and name, and what the function is bound to."""
    given: Given = {index: value for index, (value, _) in enumerate(args)}
    given.update((name, value) for name, (value, _) in kwargs.items())
    if func.bound is not None:
        given["self"] = func.bound
    return given


def _computed(node: Node) -> bool:
    """Tell whether something was computed with a value, under a name that it may go by, too."""
    root = node.find()
    return bool(root.meets) or any(other.find().meets for other in root.flows_to)


def _code(func: Func) -> object:
    """Return what an evaluation stands for: that of a closure, with what it closes over."""
    return func.node if func.scope.func is None else (func.node, func.scope)


def _height(node: FunctionNode) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _statement(spot: Spot) -> Any:
    return spot.node


def _name(node: ast.AST) -> str:
    return getattr(node, "name", "")


def _is_cpu(value: Value) -> bool:
    """Tell whether a value is the text that names the CPU."""
    return isinstance(value, Const) and value.value == "cpu"
