"""Evaluate what torch and other libraries do to places, by the facts kept about them."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.places import classes, models
from samedevice.places.expressions import PARTS, Arg, Expressions, parameters
from samedevice.places.graph import Node, Place, Spot
from samedevice.places.models import distributions, optimizers, options
from samedevice.places.values import (
    ARRAY,
    DEEP,
    DEVICE,
    NONE,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Doubt,
    Either,
    Ext,
    Flag,
    Func,
    Iter,
    Obj,
    Option,
    Rank,
    Scalar,
    Scope,
    Seq,
    Tensor,
    Value,
    always_tensor,
    parameter_of,
    surely_tensor,
)
from samedevice.torchfacts import Fact

_HOST = Fact("host", out="unknown")
_SHARED = Fact("share")
#: Operations that are worth an accelerator by themselves.
_HEAVY = frozenset(
    (
        "mm",
        "matmul",
        "bmm",
        "einsum",
        "addmm",
        "baddbmm",
        "conv1d",
        "conv2d",
        "conv3d",
        "linear",
        "dot",
        "mv",
        "tensordot",
    )  # fmt: skip
)
_REDUCTIONS = frozenset(["mean", "sum", "max", "min", "prod", "norm", "std", "var", "median"])
#: What a program of several processes calls with a device, or a word for one.
_OF_PROCESSES = frozenset(
    (
        "init_process_group", "init_device_mesh", "barrier", "DistributedDataParallel",
        "convert_sync_batchnorm", "set_device", "spawn",
    )
)  # fmt: skip
#: What hands a module on, or changes it where it is.
_NEUTRAL = sys.stdlib_module_names | {"torch", "pytest"}
#: Losses by name; with an argument of `_REDUCES` they may have a number for each sample.
_LOSSES = frozenset(
    ["cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"]
)
_REDUCES = frozenset(["reduction", "reduce"])
#: Methods of a tensor that take a function, to be called with its gradient or with itself.
_TENSOR_HOOKS = frozenset(("register_hook", "register_post_accumulate_grad_hook"))
_ACCELERATORS = ("cuda", "xpu", "npu", "mps", "hpu", "mlu", "musa")
#: Names of what knows the program's device.
_HOLDERS = re.compile(
    r"(?i)(arg|opt|option|conf|config|cfg|param|hparam|flag|setting|const|constant|hp)s?$|"
    r"^(self|cls|c|p|g)$|(model|net|network|module|agent|policy|trainer|learner|runner|fabric|"
    r"accelerator|engine|context|state)$"
)
_DTYPE = re.compile(r"torch\.(float|double|half|bfloat|int|long|short|uint|bool|complex)\w*")


class Library(Expressions):
    """Values of calls into libraries."""

    if TYPE_CHECKING:

        def apply(
            self, callee: Value, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
        ) -> Value: ...
        def append(self, owner: Seq, value: Value) -> None: ...
        def entered(
            self, manager: Value, spot: Spot, scope: Scope, *, asynchronous: bool = False
        ) -> Value: ...
        def register(self, owner: Obj, child: Obj) -> None: ...
        def is_instance(self, value: Value, classes: Value) -> Value: ...
        def twin(self, module: Obj, node: Node, depth: int = DEEP) -> Obj: ...
        def join_in(self, owner: Obj, child: Obj) -> None: ...
        def telling(self, func: Func) -> bool: ...
        def set_attribute(
            self, owner: Value, attr: str, value: Value, scope: Scope, statement: ast.stmt
        ) -> None: ...

    # -- devices ----------------------------------------------------------------------------

    def as_device(self, value: Value, spot: Spot, scope: Scope, *, sure: bool) -> Device | None:
        """Return the device that a value means where a device is expected.

        `sure`: nothing but a device can stand here. Returns None for no device (`None`, a dtype).
        """
        match value:
            case Device():
                other = value.otherwise
                if other is not None:
                    self.device_literal(other.value, other, spot, scope)
                if value.spot is not None:
                    self.meant.add(value.spot.node)
                return value
            case Rank():
                return self.of_rank(value, spot)
            case Tensor():
                if not value.names_device:
                    value.names_device = True
                    self.renamed(value, spot, scope)
                value.node.find().sure = True
                return Device(value.node, spot, resolved=True)
            case Const(value=None):
                return None
            case Const(value=bool()):
                return None
            case Const(value=str() as text):
                return self.device_literal(text, value, spot, scope)
            case Const(value=int() as index):
                return self.device_literal(f"cuda:{index}", value, spot, scope)
            case Ext(name=name):
                if _DTYPE.fullmatch(name):
                    return None
        if sure or isinstance(value, Scalar) or self._speaks_of_device(spot.node):
            if value is UNKNOWN and isinstance(spot.node, ast.Name):
                self.undefined(spot, scope)
            node = self.graph.node(spot)
            node.sure = False
            known = sure or self._speaks_of_device(spot.node)
            known = known and not self._of_something(spot.node)
            self.graph.pin(node, Place.CENTRAL if known else Place.UNKNOWN, spot)
            found = Device(node, spot, resolved=True)
            found.counted = isinstance(value, Scalar)
            return found
        return None

    def renamed(self, value: Tensor, spot: Spot, scope: Scope) -> None:
        """Bind a name again, now that its value is known to name a device."""
        if isinstance(spot.node, ast.Name):
            level: Scope | None = scope
            while level is not None and level.names.get(spot.node.id) is not value:
                level = level.outer
            if level is not None:
                level.names[spot.node.id] = value

    def undefined(self, spot: Spot, scope: Scope) -> None:
        """Note a name that stands for a device and is bound nowhere yet."""
        assert isinstance(spot.node, ast.Name)
        name = spot.node.id
        level: Scope | None = scope
        while level is not None:
            if name in level.names:
                return
            level = level.outer
        self.site("undefined-device", spot, None, scope, name)

    def _of_something(self, node: ast.AST) -> bool:
        """Tell whether this is the device of something unknown: of a tensor, perhaps."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="device"):
                return not _HOLDERS.search(name)
        return False

    def _speaks_of_device(self, node: ast.AST) -> bool:
        text = ""
        if isinstance(node, ast.Call):
            node = node.func
        if isinstance(node, ast.Attribute):
            text = node.attr
        elif isinstance(node, ast.Name):
            text = node.id
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            text = str(node.slice.value)
        chosen = self.project.resolver_function.partition(":")[2]
        return "device" in text.lower() or (chosen != "" and text == chosen)

    def device_literal(self, text: str, value: Const, spot: Spot, scope: Scope) -> Device | None:
        """Return the device that a string or index names, one for each place it is written."""
        if isinstance(value, Option):
            if value.device is None:
                chosen = self.graph.node(value.spot or spot)
                self.graph.pin(chosen, Place.CENTRAL, value.spot or spot)
                value.device = Device(chosen, value.spot, text=True, resolved=True)
                if value.spot is not None and DEVICE.fullmatch(str(value.value)):
                    # Who does not choose gets a device that may not be there.
                    self.stored_literals.add(value.spot.node)
                    default = self.site("literal", value.spot, chosen, scope, text)
                    default.detail.update(value=value, guarded=False)
            return value.device
        origin = value.spot or spot
        known = self.consumed.get(origin.node)
        if known is not None:
            return known
        node = self.graph.node(origin)
        found = Device(node, origin, text=True)
        match = DEVICE.fullmatch(text)
        if match:
            if match[2] and int(match[2]) > 0:
                self.graph.pin(node, Place.FIXED, origin, text)
            else:
                self.graph.pin(node, Place.CENTRAL, origin, text)
        elif text.startswith("cpu"):
            if origin.node in self.named_literals and not self.guarded:
                self.cpu_devices.append(found)
            else:
                self.graph.pin(node, Place.HOST, origin, text)
        elif text == "meta":
            self.graph.pin(node, Place.FIXED, origin, text)
        else:
            return None
        self.consumed[origin.node] = found
        site = self.site("literal", origin, node, scope, text)
        site.detail.update(value=value, workers=self.workers)
        self.snapshot(site, scope)
        return found

    # -- calls into libraries ---------------------------------------------------------------

    def call_external(
        self, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call a function or class of a library by its dotted name."""
        if name.startswith("torch.") and name.rpartition(".")[2] in _OF_PROCESSES:
            found = self.site("process", spot, None, scope, name.rpartition(".")[2])
            found.detail.update(args=args, kwargs=kwargs)
            self.snapshot(found, scope)
        handler = models.handler(name)
        if handler is not None:
            return handler(self, models.Call(args, kwargs, spot, scope))
        fact = torchfacts.lookup(name)
        if fact is None:
            for value, _ in (*args, *kwargs.values()):
                if isinstance(value, Obj) and value.family == "module":
                    if name.partition(".")[0] not in _NEUTRAL:
                        self.foreign.append(spot)
            return UNKNOWN
        result = getattr(self, "fact_" + fact.kind)(name, fact, args, kwargs, spot, scope)
        assert isinstance(result, Value)
        return result

    def named(self, fact: Fact, args: list[Arg], kwargs: dict[str, Arg]) -> dict[str, list[Arg]]:
        """Return the arguments by parameter name; a starred parameter has several."""
        found: dict[str, list[Arg]] = {}
        for index, arg in enumerate(args):
            found.setdefault(fact.parameter(index) or f"#{index}", []).append(arg)
        for name, arg in kwargs.items():
            found.setdefault(name, []).append(arg)
        return found

    def tensors_in(
        self, value: Value, spot: Spot, seen: set[Value] | None = None
    ) -> list[tuple[Tensor, Spot]]:
        """Return the tensors in a value, each with the expression it is written as, if it is.

        A container in `seen` is passed over: it may hold itself, or the same one many times.
        """
        if isinstance(value, Tensor):
            return [(value, spot)]
        seen = set() if seen is None else seen
        if value in seen:
            return []
        if isinstance(value, Seq):
            seen.add(value)
            elts = getattr(spot.node, "elts", None)
            if value.items is not None and elts is not None and len(elts) == len(value.items):
                return [
                    pair
                    for member, elt in zip(value.items, elts, strict=True)
                    for pair in self.tensors_in(member, Spot(spot.path, elt), seen)
                ]
            if isinstance(spot.node, ast.ListComp) and surely_tensor(value.element or NONE):
                spot = Spot(spot.path, spot.node.elt)
            return [p for member in value.members() for p in self.tensors_in(member, spot, seen)]
        if isinstance(value, Iter):
            return self.tensors_in(value.element, spot, seen)
        if isinstance(value, Dict):
            seen.add(value)
            return [p for member in value.members() for p in self.tensors_in(member, spot, seen)]
        return []

    def returned(self, fact: Fact, node: Node | None, spot: Spot) -> Value:
        """Return what a call gives, by the fact's `out`."""
        match fact.out:
            case "tensor" | "self" | "tensors" | "follows0" if node is not None:
                return Tensor(node)
            case "hostobject":
                return Obj("hostobject", fact=fact)
            case "scalar" | "none":
                return SCALAR if fact.out == "scalar" else NONE
            case "ndarray":
                return ARRAY
        return UNKNOWN

    def outcome(
        self, fact: Fact, result: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg]
    ) -> Value:
        """Return an operation's result, in the shape that the fact says."""
        last = name.rpartition(".")[2]
        if last in _REDUCTIONS and fact.kind == "view":
            # The first argument of `norm` is its order.
            given = args[1:] if last == "norm" else args
            result = Tensor(result.node, scalar=not given and not kwargs.keys() & {"dim", "axis"})
        elif last.endswith("_loss") or last in _LOSSES:
            result = Tensor(result.node, scalar=not kwargs.keys() & _REDUCES)
        return result

    # -- kinds of functions -----------------------------------------------------------------

    def fact_op(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """An operation whose tensor operands must agree."""
        last = name.rpartition(".")[2]
        elementwise = fact.scalars
        operands: list[tuple[Tensor, Spot]] = []
        for parameter, given in self.named(fact, args, kwargs).items():
            agree = fact.must_agree(parameter) and not (parameter == "value" and "fill" in last)
            for value, where in given:
                found = self.tensors_in(value, where)
                if agree:
                    operands.extend(found)
                    if not elementwise:
                        for tensor, _ in found:
                            tensor.node.find().sure = True
                if fact.must_be_on_host(parameter):
                    self.demand_host(value, where, scope, name)
        if not operands:
            if any(v is ARRAY for v, _ in args):
                return UNKNOWN
            return self.returned(fact, None, spot)
        if not elementwise:
            for parameter, given in self.named(fact, args, kwargs).items():
                for value, where in given if fact.must_agree(parameter) else ():
                    self.undecided(value, where, operands[0][0].node, scope)
        result = self.operate(operands, spot, elementwise)
        if len(operands) == 1 and last in ("stack", "cat", "concat", "hstack", "vstack"):
            result.node.find().agrees = True  # the members of the list must agree
        if "out" in kwargs and isinstance(kwargs["out"][0], Tensor):
            self.graph.meet(
                result.node, spot, kwargs["out"][0].node, kwargs["out"][1], spot, self.function()
            )
        if last in _HEAVY and self.made_here([t for t, _ in operands], scope):
            self.heavy(result.node, spot, scope)
        if fact.out in ("scalar", "none"):
            return SCALAR
        given = args[1:] if fact.parameter(0) in ("input", "self") else args
        return self.outcome(fact, result, name, given, kwargs)

    fact_view = fact_op
    fact_pack = fact_op
    fact_random = fact_op

    def fact_query(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A function that gives no tensor, or needs no agreement."""
        if name.endswith(("autocast", "GradScaler")):
            self.site("amp", spot, None, scope, name)
        elif fact.kind in ("cudaonly", "cudaquiet"):
            self.site("cuda-only" if fact.kind == "cudaonly" else "cuda-quiet", spot, None, scope,
                      name)  # fmt: skip
            if name == "torch.cuda.current_device":
                node = self.graph.node(spot)
                self.graph.pin(node, Place.CENTRAL, spot)
                return Device(node, spot, resolved=True)
        if name == "torch.is_tensor" and args and surely_tensor(args[0][0]):
            return Const(True)
        tensors = [p for v, w in args for p in self.tensors_in(v, w)]
        if fact.out == "tensor" and tensors:
            return Tensor(tensors[0][0].node, scalar=True)
        return self.returned(fact, None, spot)

    def fact_save(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`torch.save`: a model that is written as a whole can be told where it is read again."""
        if len(args) > 1:
            file = ast.unparse(args[1][1].node)
            known = self.saved.setdefault(file, args[0][0])
            if not isinstance(args[0][0], Obj) or known is not args[0][0]:
                self.saved[file] = UNKNOWN
        return self.fact_query(name, fact, args, kwargs, spot, scope)

    fact_pure = fact_saveimage = fact_context = fact_cudaquiet = fact_query
    fact_cudaonly = fact_query

    def fact_managed(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A framework that moves what it is handed itself."""
        for value, _ in (*args, *kwargs.values()):
            for part in self.modules_in(value):
                part.moves.append(spot)
                part.used = False  # nobody but the framework computes with it
                if part.node is not None:
                    self.graph.pin(part.node, Place.UNKNOWN, spot)
        return Obj("owned", name, fact=fact)

    def fact_container(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """An object that holds tensors under names, and moves them all by its own `.to`."""
        made = Obj("container", name, fact=fact)
        for index, (value, _) in enumerate(args):
            made.attrs[fact.parameter(index) or f"#{index}"] = value
        made.attrs.update({key: value for key, (value, _) in kwargs.items()})
        return made

    def container_method(
        self, owner: Obj, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Call a method of an object that holds tensors: all that it does itself is move them."""
        if name not in ("to", "cuda", "cpu", "clone", "pin_memory", "contiguous", "coalesce"):
            return UNKNOWN
        made = Obj("container", owner.name, fact=owner.fact)
        made.attrs.update(owner.attrs)
        device = self.moved_to(name, args, kwargs, spot, scope)
        for attr, value in owner.attrs.items():
            if device is not None and isinstance(value, Tensor):
                moved = value.copy()
                moved.node, moved.site = device.node, None
                made.attrs[attr] = moved
        return made

    def fact_to_numpy(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A function that reads a tensor of the host as an array."""
        for value, where in args[:1]:
            self.demand_host(value, where, scope, name)
        return ARRAY

    def fact_move(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`torch.Tensor.to(x, device)`: the method, called with its receiver."""
        if args and isinstance(args[0][0], Tensor):
            last = name.rpartition(".")[2]
            return self.move_tensor(args[0][0], last, args[1:], kwargs, args[0][1], spot, scope)
        return UNKNOWN

    def fact_passthrough(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A function that returns its first argument, wrapped."""
        return args[0][0] if args else UNKNOWN

    def fact_host(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A function of another library: its tensors must be on the host."""
        for value, where in (*args, *kwargs.values()):
            self.demand_host(value, where, scope, name)
        if fact.out == "hostobject":
            return Obj("hostobject", name, fact=fact)
        if fact.out == "hosttensor":
            tensors = [value for value, _ in args if isinstance(value, Tensor)]
            if tensors and all(map(always_tensor, tensors)):
                made = self.created("share", name, fact, args, {}, spot, scope)
                return Tensor(made.node, scalar=all(t.scalar for t in tensors), site=made.site)
        return ARRAY if fact.out == "ndarray" else UNKNOWN

    def demand_host(self, value: Value, where: Spot, scope: Scope, name: str) -> None:
        """Note tensors that must be on the host here."""
        direct = isinstance(value, Tensor)
        tensors = self.tensors_in(value, where)
        kind = "lengths" if name.rpartition(".")[2].startswith("pack_") else "host"
        if kind == "lengths" and not direct:
            return  # a list of numbers: a tensor is made of it on the host
        for tensor, spot in tensors:
            if tensor.doubt is Doubt.OTHER:
                continue  # a number has no `.cpu()`
            site = self.site(kind, spot, tensor.node, scope, name)
            # An expression that is the tensor itself can be moved; a container of tensors cannot.
            site.detail["whole"] = spot.node is not where.node or direct
            site.detail["tensor"] = tensor
            if isinstance(value, Seq) and value.added and surely_tensor(value.element or NONE):
                site.detail["added"] = value.added

    def fact_availability(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A question whether there is an accelerator."""
        if name.endswith(("device_count", "get_device_capability", "get_device_name")):
            return SCALAR
        return Flag(True)

    def fact_device(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`torch.device(...)`, and the functions that set a default."""
        last = name.rpartition(".")[2]
        first = args[0] if args else next(iter(kwargs.values()), None)
        if last in ("set_default_device", "set_default_tensor_type"):
            named = _tensor_type(first[0]) if first is not None else ""
            if named and ".cuda." not in named:
                return NONE  # of the CPU: it says a dtype, and no device
            self.tell_default()
            self.site("default-device", spot, None, scope, last)
            return NONE
        index = args[1:2] or ([kwargs["index"]] if "index" in kwargs else [])
        if last == "device" and first is not None and index:
            if isinstance(first[0], Const) and DEVICE.fullmatch(str(first[0].value)):
                if not isinstance(index[0][0], Const) and isinstance(spot.node, ast.expr):
                    return self.indexed(spot.node, index[0][0], scope, text=False)
        if last == "device" and first is not None:
            value, where = first
            found = self.as_device(value, where, scope, sure=True)
            if found is None:
                return UNKNOWN
            resolved = found.resolved or self.guarded > 0 or not isinstance(value, Const)
            return Device(found.node, spot, text=False, resolved=resolved, rank=found.rank)
        if last in ("current_accelerator", "current_device", "device", "xla_device"):
            node = self.graph.node(spot)
            self.graph.pin(node, Place.CENTRAL, spot)
            return Device(node, spot, resolved=True)
        return SCALAR

    # -- creations --------------------------------------------------------------------------

    def created(
        self, kind: str, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg],
        spot: Spot, scope: Scope,
    ) -> Tensor:  # fmt: skip
        """Return a new tensor, on the device that the call names or else on the host."""
        scalar = bool(
            args
            and name.endswith("tensor")
            and isinstance(args[0][0], Const)
            and not isinstance(args[0][0].value, str)
        )
        given = kwargs.get("device")
        if given is None and fact.device and "device" in fact.params:
            index = fact.params.index("device")
            given = args[index] if len(args) > index else None
        others = kwargs.get("**")  # under keys that are not known
        if given is None and others is not None and fact.device:
            if not isinstance(others[0], Device):
                return Tensor(self.graph.node(spot), scalar=scalar)
            given = others
        if given is None and kind == "create" and self.inside:
            given = self.inside[-1]
        device = self.as_device(*given, scope, sure=True) if given is not None else None
        if device is not None:
            result = Tensor(device.node, scalar=scalar)
            placed = self.site("placed", spot, device.node, scope, name)
            placed.detail.update(device=device, workers=self.workers)
            if device.node.find().pin is None or device.node.find().pin is Place.HOST:
                node = self.graph.node(spot)
                self.graph.flow(device.node, node)
                result = Tensor(node, scalar=scalar)
                site = self.site("pinned", spot, node, scope, name)
                site.detail["device"] = given
                self.snapshot(site, scope)
        else:
            node = self.graph.node(spot)
            site = self.site(kind, spot, node, scope, name)
            site.detail.update(fact=fact, args=args, kwargs=kwargs)
            if self.constructing and isinstance(scope.self_value, Obj):
                site.detail["has_state"] = scope.self_value.stateful
            self.snapshot(site, scope)
            result = Tensor(node, scalar=scalar, site=site)
            if self.default_device and kind != "share" or name.startswith("torch.cuda."):
                site.detail["default"] = self.default_device
                self.graph.pin(node, Place.CENTRAL, spot)
        pinned = kwargs.get("pin_memory")
        if pinned is not None and isinstance(pinned[1].node, ast.Constant):
            if self.truth(pinned[0]):
                self.site("cuda-only", pinned[1], None, scope, "pin_memory=")
        generator = kwargs.get("generator")
        if generator is not None and isinstance(generator[0], Obj):
            made = generator[0]
            if made.family == "generator" and made.node is not None:
                draw = self.site("draw", spot, result.node, scope, name)
                draw.detail["generator"] = made
                self.graph.meet(
                    result.node, spot, made.node, generator[1], spot, self.function(), "generator"
                )
        wants_grad = kwargs.get("requires_grad")
        if wants_grad is not None and self.truth(wants_grad[0]) is not False:
            result.leaf = True
            self.heavy(result.node, spot, scope)
        return result

    def fact_create(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A factory."""
        parameters = self.named(fact, args, kwargs)
        tensors = name == "torch.normal" and "size" not in parameters  # of means and deviations
        if tensors or any(
            isinstance(v, Tensor) for p in fact.tensors for v, _ in parameters.get(p, ())
        ):
            return self.fact_like(name, fact, args, kwargs, spot, scope)
        made = self.created("create", name, fact, args, kwargs, spot, scope)
        if name == "torch.tensor" and args:
            source = [t for t, _ in self.tensors_in(*args[0])]
            if source and source[0].node.find().sure and made.site is not None:
                made.site.detail["copies"] = True
        return made

    def fact_legacy(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`torch.FloatTensor(...)` and its kin."""
        for value, where in args:
            if isinstance(value, Tensor) and value.node.find().sure and not value.scalar:
                if not self.default_device:
                    self.demand_host(value, where, scope, name)
        return self.created("legacy", name, fact, args, kwargs, spot, scope)

    def fact_share(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A tensor over an array's memory, or a tensor that is one already."""
        if args and isinstance(args[0][0], Tensor) and "device" not in kwargs:
            if args[0][0].node.find().sure:
                return args[0][0]
        return self.created("share", name, fact, args, kwargs, spot, scope)

    def fact_like(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A creation that follows a tensor."""
        if "device" in kwargs and kwargs["device"][0] is not NONE:
            device = self.as_device(*kwargs["device"], scope, sure=True)
            if device is not None:
                return Tensor(device.node)
        tensors = [p for v, w in (*args, *kwargs.values()) for p in self.tensors_in(v, w)]
        if not tensors:
            return UNKNOWN
        if len(tensors) > 1:
            return self.operate(tensors, spot, True)
        return Tensor(tensors[0][0].node, scalar=tensors[0][0].scalar)

    def fact_load(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`torch.load` and downloads: what is in the file is not known."""
        given = kwargs.get("map_location")
        if given is None and "map_location" in fact.params:
            index = fact.params.index("map_location")
            given = args[index] if len(args) > index else None
        node = self.graph.node(spot)
        node.sure = False
        site = self.site("load", spot, node, scope, name)
        site.detail.update(mapped=given, fact=fact)
        self.snapshot(site, scope)
        device = None
        if given is not None and given[0] is not NONE:
            device = self.as_device(*given, scope, sure=False)
        if given is None or device is not None and device.node.find().pin is Place.CENTRAL:
            model = self.saved.get(ast.unparse(args[0][1].node)) if args else None
            if isinstance(model, Obj) and model.family == "module" and model.node is not None:
                site.detail["into_module"] = True
                self.graph.same(node, model.node)  # it was saved where the model is
                return self.copied(model)
        if given is not None and given[0] is not NONE:
            if device is not None:
                found = Tensor(self.graph.node(spot), site=site)
                if device.node.find().pin is Place.HOST:
                    self.graph.pin(found.node, Place.HOST, spot, "loaded")
                self.graph.batch(device.node, found.node)
                found.node.sure = False
                found.packed = True
                return found
        made = Tensor(node, site=site)
        made.packed = True
        return made

    def copied(self, model: Obj) -> Obj:
        """Return a model that was read from a file, and is where the one that was saved is."""
        assert model.node is not None
        made = self.twin(model, model.node)
        made.used, made.moves = model.used, list(model.moves)
        return made

    # -- modules ----------------------------------------------------------------------------

    def fact_module(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Construct a module of a library, or wrap one."""
        if fact.out == "follows0" and args and not isinstance(args[0][0], Seq):
            inner = args[0][0]
            if "FullyShardedDataParallel" in name:
                for part in self.modules_in(inner):
                    part.moves.append(spot)  # it moves what it wraps
            if isinstance(inner, Obj):
                wrapped = Obj("module", name, fact=fact, node=inner.node)
                wrapped.attrs["module"] = inner
                wrapped.parent = inner
                wrapped.stateful = inner.stateful
                wrapped.cls = inner.cls
                wrapped.attrs.update(inner.attrs)
                inner.parts.append(wrapped)
                inner.used = True
                return wrapped
            return inner
        made = Obj("module", name, fact=fact, node=self.graph.node(spot))
        made.attrs.update({key: kwargs[key][0] for key in _REDUCES & kwargs.keys()})
        made.stateful = fact.state
        spread = kwargs.get("device_map")
        if spread is not None and spread[0] is not NONE and made.node is not None:
            made.moves.append(spot)  # its library puts its layers where there is room
            self.graph.pin(made.node, Place.UNKNOWN, spot)
        made.site = self.site("module", spot, made.node, scope, name)
        made.site.detail["object"] = made
        self.made_on_default(made, spot, scope)
        self.snapshot(made.site, scope)
        self.modules.append(made)
        self.module_arguments(made, args, kwargs)
        given = kwargs.get("device")
        made.site.detail["device"] = given
        if given is not None and fact.device:
            device = self.as_device(*given, scope, sure=True)
            if device is not None and device.node.find().pin is not Place.HOST:
                made.moves.append(spot)
                assert made.node is not None
                self.graph.same(made.node, device.node)
        elif given is not None:
            made.moves.append(spot)  # it is told where to be; how it takes that is its own affair
        return made

    def made_on_default(self, made: Obj, spot: Spot, scope: Scope) -> None:
        """Put a new module where `set_default_device`, or `with torch.device(...)`, says."""
        if made.node is None:
            return
        if self.default_device and not self.inside:
            self.graph.pin(made.node, Place.CENTRAL, spot)
        elif self.inside:
            device = self.as_device(*self.inside[-1], scope, sure=True)
            root = device.node.find() if device is not None else None
            if root is None or root.pin is Place.HOST:
                return
            made.moves.append(spot)
            if root.pin is Place.FIXED:  # "meta": it is filled later, wherever that may be
                self.graph.pin(made.node, Place.UNKNOWN, spot)
            else:
                self.graph.same(made.node, root)

    def module_arguments(
        self, made: Obj, args: list[Arg], kwargs: dict[str, Arg], first: int = 0
    ) -> None:
        """Register what is handed to a module's constructor: modules, and tensors as buffers.

        `first` is how many parts it has already.
        """
        for index, (value, _) in enumerate((*args, *kwargs.values()), first):
            children = self.modules_in(value)
            for number, child in enumerate(children):
                self.join_in(made, child)
                made.attrs[str(index + number)] = child
            if isinstance(value, Dict):
                for key, member in value.items.items():
                    made.attrs[str(key)] = member
            if children:
                continue
            if isinstance(value, Tensor) and made.node is not None and value.node.find().sure:
                made.stateful = True
                made.kwargs[str(index)] = value
                self.graph.batch(value.node, made.node)

    def modules_in(self, value: Value | None, seen: set[Value] | None = None) -> list[Obj]:
        """Return the modules in a value: one, or those in a container."""
        if isinstance(value, Obj):
            return [value] if value.family == "module" else []
        if isinstance(value, Either):
            return [o for o in value.options if isinstance(o, Obj) and o.family == "module"]
        if isinstance(value, Iter):
            return self.modules_in(value.element, seen)
        seen = set() if seen is None else seen
        if isinstance(value, (Seq, Dict)) and value not in seen:
            seen.add(value)
            return [child for part in value.members() for child in self.modules_in(part, seen)]
        return []

    def call_module(
        self, callee: Obj, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call a module of a library: its parameters and its inputs must agree."""
        callee.used = True
        name = callee.fact.out if callee.fact is not None else ""
        operands: list[tuple[Tensor, Spot]] = []
        forward = torchfacts.lookup(f"{callee.name}.forward") if callee.fact is not None else None
        if forward is not None and (forward.free or forward.host):
            return self.fact_op(f"{callee.name}.forward", forward, args, kwargs, spot, scope)
        for value, where in (*args, *kwargs.values()):
            operands.extend(self.tensors_in(value, where))
        if callee.name.endswith(("Sequential",)) and callee.cls is None and callee.attrs:
            result: Value = args[0][0] if args else UNKNOWN
            for child in [v for v in callee.attrs.values() if isinstance(v, Obj)]:
                result = self.apply(child, [(result, args[0][1] if args else spot)], {}, spot,
                                    scope)  # fmt: skip
            return result
        for tensor, _ in operands:
            tensor.node.find().sure = True
        if callee.stateful and callee.node is not None:
            for value, where in args:
                self.undecided(value, where, callee.node, scope)
            module = Tensor(callee.node)
            operands.insert(0, (module, Spot(spot.path, getattr(spot.node, "func", spot.node))))
        if not operands:
            return UNKNOWN
        made = self.operate(operands, spot, False)
        made.scalar = name == "loss" or (
            callee.name.endswith("Loss") and not callee.attrs.keys() & _REDUCES
        )
        return made

    def undecided(self, value: Value, where: Spot, node: Node, scope: Scope) -> None:
        """Note a value of which nothing is known, and what it meets."""
        if value is UNKNOWN and isinstance(where.node, ast.expr):
            self.site("undecided", where, node, scope)

    def call_library_object(
        self, callee: Obj, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Value:
        """Call an instance of a library's class (a transform, a tokenizer)."""
        known = models.methods_of(callee)
        if known is not None:
            return known(self, callee, "__call__", models.Call(args, kwargs, spot, scope))
        if callee.fact is not None and callee.fact.kind in ("transform", "functional_transform"):
            return self.transformed(callee.fact, args, spot, scope)
        if callee.family == "hostobject":
            return self.fact_host(callee.name, _HOST, args, kwargs, spot, scope)
        return UNKNOWN

    def transformed(self, fact: Fact, args: list[Arg], spot: Spot, scope: Scope) -> Value:
        """An image transform: a tensor stays where it is, an image becomes a host tensor."""
        given = args[0][0] if args else UNKNOWN
        if fact.free:
            return Obj("hostobject", "PIL.Image.Image")  # `ToPILImage` reads tensors anywhere
        if isinstance(given, Tensor):
            return Tensor(given.node)
        if fact.out == "follows0":
            if given is UNKNOWN or isinstance(given, Obj) and given.family == "hostobject":
                return given
        return self.host_tensor(spot, scope, "transform")

    def host_tensor(self, spot: Spot, scope: Scope, name: str) -> Tensor:
        """Return a tensor that a call makes on the host, where it can be moved from."""
        node = self.graph.node(spot)
        site = self.site("share", spot, node, scope, name)
        site.detail.update(fact=_SHARED, args=[], kwargs={})
        self.snapshot(site, scope)
        return Tensor(node, site=site)

    def fact_transform(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Construct an image transform."""
        return Obj("transform", name, fact=fact)

    def fact_functional_transform(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Apply an image transform."""
        return self.transformed(fact, args, spot, scope)

    def module_method(
        self, owner: Obj, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Call a method that every module has."""
        if owner.node is None:
            return UNKNOWN
        match name:
            case "to" | "cuda" | "xpu" | "cpu" | "npu" | "mps" | "to_empty" | "type":
                self.move_module(owner, name, args, kwargs, spot, scope)
                return owner
            case "eval" | "train" | "apply" | "half" | "float" | "double" | "bfloat16":
                if name == "apply" and args and isinstance(args[0][0], Func):
                    self.apply(args[0][0], [(self.any_module(owner, spot), spot)], {}, spot, scope)
                return owner
            case "requires_grad_" | "share_memory":
                return owner
            case (
                "register_forward_hook"
                | "register_forward_pre_hook"
                | "register_backward_hook"
                | "register_full_backward_hook"
            ) if args:
                # The hook sees what goes in and comes out, which is where the module is then.
                seen = Tensor(self.graph.node())
                if not owner.awaited:
                    self.awaiting.append(owner)
                owner.awaited.append(seen.node)
                several = Seq("tuple", None, seen)
                given: list[Value] = [owner, several]
                if name != "register_forward_pre_hook":
                    given.append(seen if name == "register_forward_hook" else several)
                if "with_kwargs" in kwargs and self.truth(kwargs["with_kwargs"][0]):
                    given.insert(2, Dict())
                self.apply(args[0][0], [(value, spot) for value in given], {}, spot, scope)
                return UNKNOWN
            case "parameters" | "buffers":
                return Iter(parameter_of(owner), owner)
            case "named_parameters" | "named_buffers":
                return Iter(Seq("tuple", [SCALAR, parameter_of(owner)]), owner)
            case "modules" | "children":
                return Iter(self.any_module(owner, spot), owner)
            case "named_modules" | "named_children":
                return Iter(Seq("tuple", [SCALAR, self.any_module(owner, spot)]), owner)
            case "state_dict":
                entry = Tensor(owner.node)
                entry.owner = owner
                return Dict(element=entry)
            case "load_state_dict":
                self.put_into_module(args)
                return NONE
            case "register_buffer" | "register_parameter":
                values = [v for v, _ in args] + [v for v, _ in kwargs.values()]
                if len(values) > 1 and isinstance(values[0], Const):
                    owner.stateful = True
                    if isinstance(values[1], Tensor):
                        self.graph.batch(values[1].node, owner.node)
                        self.trail.put(owner.attrs, str(values[0].value), Tensor(owner.node))
                return NONE
            case "add_module" | "register_module":
                for child in self.modules_in(args[1][0]) if len(args) == 2 else ():
                    self.join_in(owner, child)
                if len(args) == 2 and isinstance(args[1][0], Obj):
                    part, where = args[0]
                    computed = classes.pattern(where.node)
                    if isinstance(part, Const):
                        computed = str(part.value)
                    if computed.strip("*"):
                        self.trail.put(owner.attrs, computed, args[1][0])
                return NONE
            case "append" | "extend" | "insert" | "update":
                self.module_arguments(owner, args, kwargs, len(owner.attrs))
                return NONE
            case "zero_grad" | "__init__":
                return NONE
            case "values" | "items":
                parts: list[Value] = []
                parts += dict.fromkeys(v for v in owner.attrs.values() if isinstance(v, Obj))
                if name == "items":
                    parts = [Seq("tuple", [SCALAR, part]) for part in parts]
                if parts and owner.cls is None:
                    return Seq("list", parts)
                part = self.any_module(owner, spot)
                return Iter(Seq("tuple", [SCALAR, part]) if name == "items" else part, owner)
            case "keys":
                return Iter(SCALAR)
            case "get_parameter" | "get_buffer":
                return Tensor(owner.node)
        if owner.cls is None or owner.fact is not None and owner.fact.state:
            # Another method of a library's model (`generate`, `encode`): it computes like a call,
            # and so does a part of one that a class of the project is made of.
            return self.call_module(owner, args, kwargs, spot, scope)
        return UNKNOWN

    @staticmethod
    def put_into_module(args: list[Arg]) -> None:
        """Note that a module or an optimizer copies what was loaded, wherever that is."""
        if args and isinstance(args[0][0], Tensor) and args[0][0].site is not None:
            args[0][0].site.detail["into_module"] = True

    def move_module(
        self, owner: Obj, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> None:  # fmt: skip
        """`module.to(device)`: all that it holds is there from now on."""
        device = self.moved_to(name, args, kwargs, spot, scope)
        if device is None and name == "to" and args and args[0][0] is UNKNOWN:
            owner.moves.append(spot)  # to somewhere, perhaps: nothing is known, nothing is missing
        if device is None or owner.node is None:
            return
        site = self.site("module-move", spot, owner.node, scope, name)
        site.detail.update(object=owner, device=device, type=self.legacy_type(args))
        if device.node.find().pin is Place.HOST:
            if owner.copied_from is not None:
                owner.node = self.graph.node(spot)
                self.graph.pin(owner.node, Place.HOST, spot, "module")
            elif not (owner.moves or owner.used):
                self.graph.pin(owner.node, Place.HOST, spot, "module")
            elif args and self._handed_in(args[0][1], scope):
                self.wandering.append(spot)
            elif self.surely(spot) and isinstance(self.parent_statement(spot), ast.Expr):
                # From here on it is on the host; where it computed before stays as it was.
                node = self.graph.node(spot)
                self.graph.pin(node, Place.HOST, spot, "module")
                self.rebase(owner, node)
            return  # for saving or export, otherwise
        first = not owner.moves
        owner.moves.append(spot)
        root = owner.node.find()
        if (
            self.surely(spot)
            and owner.parent is None
            and not owner.shared
            and owner.site is not None
        ):
            # Where it computed before stays as it was, and so do copies of it.
            self.graph.pin(root, Place.HOST, spot, "unmoved")
            self.rebase(owner, device.node)
            for copied in owner.copies:
                if copied.site is not None and not copied.moves:
                    copied.site.node = self.graph.node(copied.site.spot)
                    self.rebase(copied, copied.site.node)
            return
        if root.pin is Place.HOST and root.name == "module" or first and owner.used:
            self.rebase(owner, device.node)
            return
        self.graph.same(owner.node, device.node)
        for child in owner.attrs.values():
            if isinstance(child, Obj) and child.node is not None and child.parent is owner:
                root = child.node.find()
                if root.pin is Place.HOST and root.name == "module":
                    child.node = owner.node  # it moves along, wherever it was built

    def surely(self, spot: Spot) -> bool:
        """Tell whether a statement that moves a module runs whenever its program does."""
        return not (self.conditional or self.symbolic)

    def _handed_in(self, spot: Spot, scope: Scope) -> bool:
        """Tell whether a device is a parameter: `def move(device, *modules)` moves for others."""
        level: Scope | None = scope
        while level is not None and level.func is None:
            level = level.outer
        return (
            level is not None
            and level.func is not None
            and isinstance(spot.node, ast.Name)
            and spot.node.id in parameters(level.func.node)
        )

    def rebase(self, owner: Obj, node: Node) -> None:
        """Put a module, its parameters and its parts somewhere else from now on."""
        before = owner.node.find() if owner.node is not None else None
        owner.node = node
        self.arrive(owner)
        held = [value for value in owner.attrs.values() if isinstance(value, (Obj, Either))]
        for part in (*owner.parts, *(part for value in held for part in self.modules_in(value))):
            if part.node is not node:
                self.rebase(part, node)
        for attr, child in list(owner.attrs.items()):
            if isinstance(child, Tensor) and child.node.find() is before:
                moved = child.copy()
                moved.node = node
                self.trail.put(owner.attrs, attr, moved)

    def arrive(self, owner: Obj) -> None:
        """Say that what a module will compute is where it is by now."""
        for node in owner.awaited:
            self.graph.same(node, owner.node or node)
        owner.awaited.clear()

    def moved_to(
        self, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
    ) -> Device | None:
        """Return the device that `.to(...)`, `.cuda(...)`, `.cpu()` or `.type(...)` names."""
        if name == "cpu":
            node = self.graph.node(spot)
            self.graph.pin(node, Place.HOST, spot)
            return Device(node, spot)
        given = kwargs.get("device") or kwargs.get("device_id")
        if name in _ACCELERATORS:
            first = given or (args[0] if args else None)
            if first is not None and not (
                isinstance(first[0], Const) and isinstance(first[0].value, (bool, type(None)))
            ):
                found = self.as_device(*first, scope, sure=True)
                if found is not None:
                    if isinstance(first[0], Scalar) or first[0] is UNKNOWN:
                        self.offers.append(spot)  # somebody chooses a GPU by its number
                    return found
            node = self.graph.node(spot)
            self.graph.pin(node, Place.CENTRAL, spot, name)
            return Device(node, spot)
        if name == "type":
            if ".cuda." in self.legacy_type(args):
                node = self.graph.node(spot)
                self.graph.pin(node, Place.CENTRAL, spot)
                return Device(node, spot)
            return None
        if given is not None:
            return self.as_device(*given, scope, sure=True)
        if args:
            return self.as_device(*args[0], scope, sure=False)
        other = kwargs.get("other")
        return self.as_device(*other, scope, sure=True) if other is not None else None

    def _says_dtype(self, spot: Spot) -> bool:
        return "type" in self.dotted(spot.node)

    def legacy_type(self, args: list[Arg]) -> str:
        """Return the tensor type that `.type(...)` names ("torch.cuda.FloatTensor"), or ""."""
        return _tensor_type(args[0][0]) if args else ""

    # -- tensors ----------------------------------------------------------------------------

    def tensor_method(
        self, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg], callee: Spot,
        spot: Spot, scope: Scope,
    ) -> Value:  # fmt: skip
        """Call a method of a tensor."""
        receiver = Spot(spot.path, getattr(callee.node, "value", callee.node))
        fact = torchfacts.tensor_method(name)
        if fact is None:
            return self.call_parameter_method(owner, name, args, kwargs, receiver, spot, scope)
        if name in ("size", "view", "unsqueeze", "numel", "backward", "requires_grad_", "cuda",
                    "long", "float", "contiguous", "detach", "dim"):  # fmt: skip
            owner.node.find().sure = True
        if name in _TENSOR_HOOKS and args:
            # It sees the gradient, or the tensor itself: where the tensor is.
            self.apply(args[0][0], [(Tensor(owner.node), spot)], {}, spot, scope)
            return UNKNOWN
        match fact.kind:
            case "move":
                return self.move_tensor(owner, name, args, kwargs, receiver, spot, scope)
            case "to_numpy":
                forced = kwargs.get("force")
                if forced is not None and self.truth(forced[0]) is not False:
                    return ARRAY  # it copies to the CPU itself
                owner.node.find().read_there = True
                site = self.site("host", receiver, owner.node, scope, "numpy")
                site.detail.update(whole=True, tensor=owner, method=True)
                return ARRAY
            case "like":
                if name == "type_as" and args and isinstance(args[0][0], Tensor):
                    return Tensor(args[0][0].node)
                if "device" in kwargs:
                    device = self.as_device(*kwargs["device"], scope, sure=True)
                    if device is not None:
                        return Tensor(device.node)
                return Tensor(owner.node)
            case "query":
                if name == "get_device":
                    device = Device(owner.node, spot, resolved=True)
                    site = self.site("where", spot, owner.node, scope, name)
                    site.detail.update({"of": receiver.node, "device": device})
                    return device
                if name == "backward":
                    self.heavy(owner.node, spot, scope)
                    if "retain_variables" in kwargs:
                        self.site("old-name", spot, None, scope, "retain_variables")
                    gradient = args[0] if args else kwargs.get("gradient")
                    if gradient is not None and isinstance(gradient[0], Tensor):
                        self.operate([(owner, receiver), (gradient[0], gradient[1])], spot, False)
                return NONE if fact.out == "none" else SCALAR
            case "cudaonly":
                self.site("cuda-only", spot, None, scope, name)
                return owner
        operands = [(owner, receiver)]
        for parameter, given in self.named(fact, args, kwargs).items():
            for value, where in given:
                found = self.tensors_in(value, where)
                if fact.must_agree(parameter) and not (parameter == "value" and "fill" in name):
                    operands.extend(found)
                elif fact.must_be_on_host(parameter):
                    self.demand_host(value, where, scope, name)
        elementwise = fact.scalars
        result = self.operate(operands, spot, elementwise, in_place=name.endswith("_"))
        if name in _HEAVY and self.made_here([t for t, _ in operands], scope):
            self.heavy(result.node, spot, scope)
        if name == "requires_grad_":
            self.trained(owner)
            self.heavy(owner.node, spot, scope)
            return owner
        if fact.out in ("scalar", "none"):
            return SCALAR
        if fact.out == "self":
            return owner
        if name == "clone" and owner.owner is not None and not owner.owner.moves:
            # Where a copy of a parameter is depends on whether the module moves before or after.
            copied = self.site("clone", spot, self.graph.node(spot), scope, name)
            copied.detail["module"] = owner.owner
            self.snapshot(copied, scope)
            assert copied.node is not None
            return Tensor(copied.node, site=copied)
        if len(operands) == 1:
            result = Tensor(owner.node, scalar=owner.scalar)
            result.owner = owner.owner
            if owner.packed:
                result.packed, result.site = True, owner.site
        return self.outcome(fact, result, name, args, kwargs)

    def call_parameter_method(
        self, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg], receiver: Spot,
        spot: Spot, scope: Scope,
    ) -> Value:  # fmt: skip
        """Call an unknown method of something that may be no tensor at all."""
        if name in ("items",):
            return Iter(Seq("tuple", [SCALAR, self.part(owner, None)]))
        if name in ("values", "get", "pop"):
            return Iter(self.part(owner, None)) if name == "values" else self.part(owner, None)
        if name == "keys":
            return Iter(SCALAR)
        if name == "load_state_dict":
            self.put_into_module(args)
            return NONE
        made = self.derived(owner, spot) if not owner.packed else self.part(owner, name)
        if name in PARTS:
            return Iter(Seq("tuple", [SCALAR, made]) if name.startswith("named_") else made)
        return made

    def move_tensor(
        self, owner: Tensor, name: str, args: list[Arg], kwargs: dict[str, Arg], receiver: Spot,
        spot: Spot, scope: Scope,
    ) -> Value:  # fmt: skip
        """`tensor.to(...)`: a new tensor where the argument says."""
        if (
            name == "type"
            and args
            and isinstance(args[0][0], Ext)
            and (
                args[0][0].name.rpartition(".")[0] == "torch" and args[0][0].name.endswith("Tensor")
            )
        ):
            return self.host_tensor(spot, scope, args[0][0].name)  # a type of the CPU's tensors
        device = self.moved_to(name, args, kwargs, spot, scope)
        if device is None:
            if name == "to" and args and args[0][0] is UNKNOWN and not self._says_dtype(args[0][1]):
                return Tensor(self.graph.node(spot), scalar=owner.scalar)  # it may be a device
            moved = Tensor(owner.node, scalar=owner.scalar, site=owner.site)
            moved.packed, moved.leaf = owner.packed, owner.leaf
            return moved
        site = self.site("move", spot, owner.node, scope, name)
        site.detail.update(device=device, receiver=receiver, tensor=owner, workers=self.workers)
        site.detail["type"] = self.legacy_type(args)
        if owner.site is not None:
            owner.site.detail["moved"] = True
        result = Tensor(device.node, scalar=owner.scalar)
        result.parameter = owner.parameter
        if device.node.find().pin is Place.HOST:
            # What is kept on the host is kept here, not everywhere the same device is named.
            result = Tensor(self.graph.node(spot), scalar=owner.scalar)
            self.graph.flow(device.node, result.node)
            given = kwargs.get("device") or (args[0] if args else None)
            if given is not None and isinstance(given[0], Const) and given[0] in self.left_out:
                kept = self.site("pinned", spot, result.node, scope, name)
                kept.detail["device"] = given
                self.snapshot(kept, scope)
        if owner.packed:
            result = Tensor(self.graph.node(spot))
            self.graph.batch(device.node, result.node)
            result.node.sure = owner.node.find().sure
            result.site, result.packed = site, True
            if self.perhaps_module(owner) and self.parent_statement(spot) is not None:
                if isinstance(receiver.node, ast.Name):
                    self.bind(receiver.node.id, result, scope)
        return result

    def perhaps_module(self, value: Tensor) -> bool:
        """Tell whether a value is whatever a file or some other code gave: a module, perhaps."""
        return value.packed and (value.site is None or value.site.kind in ("load", "move"))

    def moved_unknown(
        self, func: ast.Attribute, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`x.cuda()` of something unknown: a tensor, or a module that is there from now on."""
        given = kwargs.get("device") or (args[0] if args else None)
        if func.attr == "to":
            match given:
                case (Device(), _):
                    pass
                case (Const(value=str() as text), _) if DEVICE.fullmatch(text):
                    pass  # no dtype has such a name
                case _:
                    return UNKNOWN
        elif func.attr != "cuda" or self.dotted(func).startswith("torch."):
            return UNKNOWN
        elif isinstance(func.value, ast.Call) and self.dotted(func.value.func).startswith("torch."):
            return UNKNOWN  # a storage, say
        owner = self.packed_unknown(Spot(spot.path, func.value))
        receiver = Spot(spot.path, func.value)
        return self.move_tensor(owner, func.attr, args, kwargs, receiver, spot, scope)

    def dropped(self, statement: ast.Expr, value: Value, scope: Scope) -> None:
        """Note a statement that moves a tensor and drops the result."""
        call = statement.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return
        if call.func.attr not in ("to", "cuda", "cpu") or not isinstance(value, Tensor):
            return
        for site in reversed(self.sites):
            if site.spot.node is call and site.kind == "move":
                moved = site.detail["tensor"]
                if moved.node.find().sure and not self.perhaps_module(moved):
                    if moved.site is not None and not moved.leaf:
                        moved.site.detail["dropped"] = True
                    found = self.site("dropped", Spot(scope.path, statement), moved.node, scope)
                    found.detail.update(move=site, leaf=moved.leaf)
                return

    def fact_parameter(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`nn.Parameter(x)` and `Variable(x)`."""
        source = args[0] if args else kwargs.get("data")
        if source is None or not isinstance(source[0], Tensor):
            return Tensor(self.graph.node(spot))
        inner = source[0]
        made = Tensor(inner.node, scalar=inner.scalar, site=inner.site)
        made.leaf = made.parameter = name.endswith("Parameter")
        wants_grad = kwargs.get("requires_grad")
        if wants_grad is not None and self.truth(wants_grad[0]) is not False:
            made.leaf = True
            self.heavy(made.node, spot, scope)
        made.packed = inner.packed
        return made

    # -- data, optimizers, random numbers ---------------------------------------------------

    def fact_optimizer(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Construct an optimizer: what it optimizes is trained."""
        made = Obj("optimizer", name, fact=fact)
        made.args = [v for v, _ in args]
        if args and fact.kind == "optimizer":
            optimizers.begin(self, made, args[0], NONE)
        owners: list[Obj] = []
        for value, where in args[:1]:
            for tensor, _ in self.tensors_in(value, where):
                self.trained(tensor)
                if tensor.owner is not None:
                    owners.append(tensor.owner)
        if owners and fact.kind == "optimizer":
            self.site("optimizer", spot, None, scope, name).detail["modules"] = owners
        return made

    def trained(self, tensor: Tensor) -> None:
        """Note a tensor that is optimized: another tensor cannot take its place."""
        tensor.leaf = True
        if tensor.site is not None:
            tensor.site.detail["trained"] = True

    fact_scheduler = fact_sampler = fact_collate = fact_optimizer

    def fact_distribution(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A distribution: its parameters must agree, and its samples are where they are."""
        given = [*args, *kwargs.values()]
        operands = [p for v, w in given for p in self.tensors_in(v, w)]
        operands += [p for each in given for p in distributions.parameters(each)]
        made = Obj("distribution", name, fact=fact)
        if operands:
            made.node = self.operate(operands, spot, True).node
        return made

    def fact_generator(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """`torch.Generator(device)`."""
        made = Obj("generator", name, fact=fact)
        given = kwargs.get("device") or (args[0] if args else None)
        device = self.as_device(*given, scope, sure=True) if given is not None else None
        made.node = device.node if device is not None else self.graph.node(spot)
        made.site = self.site("generator", spot, made.node, scope, name)
        made.site.detail["device"] = given if device is not None else None
        self.snapshot(made.site, scope)
        return made

    def fact_dataset(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A dataset: what it holds stays on the host, unless it was put on the device."""
        made = Obj("dataset", name, fact=fact)
        last = name.rpartition(".")[2]
        if last in ("random_split", "Subset", "ConcatDataset"):
            inner = args[0][0] if args else UNKNOWN
            if isinstance(inner, Seq):
                inner = self.iterate(inner, spot, scope)
            if last == "random_split":
                return Seq("list", None, inner)
            return inner
        if last == "TensorDataset":
            members = [v for v, _ in args]
            for value, where in args:
                for tensor, _ in self.tensors_in(value, where):
                    self.keep_on_host(tensor, spot)
            made.attrs["item"] = Seq("tuple", list(members))
            made.attrs["tensors"] = Seq("tuple", list(members))
        elif name.startswith("torchvision."):
            image = Tensor(self.graph.node(spot))
            made.attrs["item"] = Seq("tuple", [image, SCALAR])
        return made

    def keep_on_host(self, tensor: Tensor, spot: Spot) -> None:
        """A dataset's content is read by workers: it stays on the host."""
        root = tensor.node.find()
        if root.pin is None and root.wants_host is None:
            root.wants_host = spot

    def fact_loader(
        self, name: str, fact: Fact, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """A loader: its batches have the structure of the dataset's items, stacked."""
        made = Obj("loader", name, fact=fact)
        given = kwargs.get("dataset") or (args[0] if args else None)
        if given is None:
            return made
        dataset, where = given
        item: Value = UNKNOWN
        workers = kwargs.get("num_workers") or (args[5] if len(args) > 5 else None)
        state, self.workers = (
            self.workers,
            self.workers or (workers is not None and self.truth(workers[0]) is not False),
        )
        before = len(self.sites)
        if isinstance(dataset, Obj) and dataset.family == "dataset":
            item = self.raw_item(dataset, where, scope)
        elif isinstance(dataset, Seq):
            for tensor, _ in self.tensors_in(dataset, where):
                self.keep_on_host(tensor, spot)
            item = self.iterate(dataset, where, scope)
        elif isinstance(dataset, Tensor):
            item = dataset
            if dataset.node.find().sure and not dataset.packed:
                self.keep_on_host(dataset, spot)
            else:
                item = self.packed_unknown(spot)
        elif isinstance(dataset, Obj) and dataset.cls is not None:
            item = self.method(dataset, "__getitem__", scope, spot.node, SCALAR)
        collate = kwargs.get("collate_fn")
        if collate is None and len(args) > 6:
            collate = args[6]
        if collate is not None and isinstance(collate[0], (Func, Obj)):
            self.hosted += 1
            batch = self.apply(collate[0], [(Seq("list", None, item), where)], {}, spot, scope)
            self.hosted -= 1
        elif collate is not None and collate[0] is not NONE:
            batch = self.packed_unknown(spot)
        else:
            batch = self.collated(item, spot)
        self.workers = state
        self.mixed_items(item, spot, before)
        order = kwargs.get("generator")
        if order is not None and isinstance(order[0], Obj) and order[0].node is not None:
            order[0].node.find().wants_host = spot  # loaders shuffle on the host
            if order[0].site is not None:
                order[0].site.detail["loader"] = True
        made.attrs["batch"] = batch
        made.attrs["dataset"] = dataset
        made.kwargs = {k: v for k, (v, _) in kwargs.items()}
        pinned = kwargs.get("pin_memory")
        if pinned is not None and self.truth(pinned[0]) is not False:
            for tensor, _ in self.tensors_in(batch, spot):
                tensor.pinned = True
        return made

    def mixed_items(self, item: Value, spot: Spot, before: int) -> None:
        """Note the moves of a dataset that moves only some of its items."""
        for tensor, _ in self.tensors_in(item, spot):
            pins = {source.find().pin for source in tensor.node.find().flows_from}
            if Place.CENTRAL in pins and len(pins) > 1:
                for site in self.sites[before:]:
                    if site.kind == "move":
                        site.detail["some"] = True

    def raw_item(self, dataset: Obj, where: Spot, scope: Scope) -> Value:
        """Return an item as the dataset makes it."""
        if dataset.cls is None or dataset.cls.lookup("__getitem__") is None:
            if "item" in dataset.attrs:
                return dataset.attrs["item"]
            if dataset.cls is None or dataset.cls.lookup("__iter__") is None:
                return self.packed_unknown(where)
        self.hosted += 1
        if dataset.cls.lookup("__getitem__") is not None:
            item = self.method(dataset, "__getitem__", scope, where.node, SCALAR)
        else:
            found = self.method(dataset, "__iter__", scope, where.node)
            item = found.element if isinstance(found, Iter) else UNKNOWN
        self.hosted -= 1
        for tensor, _ in self.tensors_in(item, where):
            self.keep_on_host(tensor, where)
        return item

    def packed_unknown(self, spot: Spot) -> Tensor:
        """Return tensors in a structure that is not known."""
        made = Tensor(self.graph.node(spot))
        made.node.sure = False
        made.packed = True
        return made

    def collated(self, item: Value, spot: Spot, depth: int = DEEP) -> Value:
        """Return what torch's default collation makes of an item: arrays and numbers stacked.

        What is deeper in it than `depth` is not followed: it may hold itself.
        """
        if not depth:
            return UNKNOWN
        if isinstance(item, Seq):
            items = item.items
            if items is None:
                element = item.element and self.collated(item.element, spot, depth - 1)
                return Seq("list", None, element)
            return Seq("list", [self.collated(v, spot, depth - 1) for v in items])
        if isinstance(item, Dict):
            made = Dict({k: self.collated(v, spot, depth - 1) for k, v in item.items.items()})
            if item.element is not None:
                made.element = self.collated(item.element, spot, depth - 1)
            return made
        if item is SCALAR or item is ARRAY:
            stacked = Tensor(self.graph.node(spot))
            stacked.collated = item is SCALAR
            return stacked
        if isinstance(item, Const):
            if isinstance(item.value, str):
                return Seq("list", None, SCALAR)
            return Tensor(self.graph.node(spot))
        if isinstance(item, Tensor):
            return Tensor(item.node) if not item.packed else item
        return self.packed_unknown(spot)

    def library_attribute(self, owner: Obj, attr: str) -> Value | None:
        """Return an attribute of a library's object that is no method, if a model knows it."""
        known = models.attributes_of(owner)
        return known(self, owner, attr) if known is not None else None

    def library_method(
        self, owner: Obj, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Call a method of a library's object."""
        known = models.methods_of(owner)
        if known is not None:
            return known(self, owner, name, models.Call(args, kwargs, spot, scope))
        match owner.family:
            case "hostobject":
                self.fact_host(f"{owner.name}.{name}", _HOST, args, kwargs, spot, scope)
                return Obj("hostobject", owner.name) if not args else UNKNOWN
            case "container":
                return self.container_method(owner, name, args, kwargs, spot, scope)
            case "generator":
                return owner if name == "manual_seed" else SCALAR
            case "parser":
                return options.parser_method(owner, name, models.Call(args, kwargs, spot, scope))
            case "context":
                if name == "save_for_backward":
                    owner.attrs["saved_tensors"] = Seq("tuple", [v for v, _ in args])
                return NONE
        return UNKNOWN


def _tensor_type(value: Value) -> str:
    """Return the tensor type that a default is set to ("torch.DoubleTensor"), or ""."""
    name = value.name if isinstance(value, Ext) else ""
    if isinstance(value, Const) and isinstance(value.value, str):
        name = value.value
    return name if name.startswith("torch.") and name.endswith("Tensor") else ""
