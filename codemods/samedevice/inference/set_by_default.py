"""What files set unless a user says otherwise: flags, options, texts that name CUDA."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from samedevice.reading import syntax

_CUDA = re.compile(r"cuda|gpu", re.IGNORECASE)
_NAME = re.compile(r"cuda(:\d+)?")
#: The number of a GPU, or of several, as the default of an option.
_NUMBERS = re.compile(r"\d+(,\s*\d+)*")


@dataclass
class Defaults:
    """What files set unless a user says otherwise, by name, in small letters.

    `gpus` are options with the number of a GPU, `on` and `off` flags, `cuda` what is the text
    "cuda"; what `asks` is whether there is a GPU, and no default.
    """

    gpus: set[str] = field(default_factory=set)
    on: set[str] = field(default_factory=set)
    off: set[str] = field(default_factory=set)
    cuda: set[str] = field(default_factory=set)
    asks: set[str] = field(default_factory=set)

    @classmethod
    def joined(cls, files: Iterable[Defaults]) -> Defaults:
        """Return what several files set, one program's say."""
        each = [(one.gpus, one.on, one.off, one.cuda, one.asks) for one in files]
        return cls(*(set().union(*kind) for kind in zip(*each, strict=True)))

    def learn(self, tree: ast.Module) -> None:
        """Learn what a file sets."""
        for node in syntax.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="add_argument")):
                    self._option(node)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bound(called(target), value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._bound(called(target), value)
                case ast.keyword(arg=str(name), value=value):
                    self._bound(name, value)
                case ast.arguments():
                    for name, value in syntax.defaults(node).items():
                        self._bound(name, value)
                case ast.Dict(keys=keys, values=values):
                    for key, value in zip(keys, values, strict=True):
                        if isinstance(key, ast.Constant):
                            self._bound(str(key.value), value)

    def _option(self, call: ast.Call) -> None:
        given = {each.arg: each.value for each in call.keywords}
        names = [str(a.value)[2:].replace("-", "_") for a in call.args
                 if isinstance(a, ast.Constant) and str(a.value).startswith("--")]  # fmt: skip
        dest, default, action = given.get("dest"), given.get("default"), given.get("action")
        if isinstance(dest, ast.Constant):
            names = [str(dest.value)]
        said = action.value if isinstance(action, ast.Constant) else ""
        if default is None and said in ("store_true", "store_false"):
            default = ast.Constant(said == "store_false")
        for name in names:
            if default is not None:
                self._bound(name, default)
            if isinstance(default, ast.Constant) and type(default.value) in (int, str):
                if _NUMBERS.fullmatch(str(default.value)):
                    self.gpus.add(name)

    def _bound(self, name: str, value: ast.expr) -> None:
        name = name.lower()
        if isinstance(value, ast.Constant):
            if value.value is True:
                self.on.add(name)
            elif value.value is False:
                self.off.add(name)
            elif isinstance(value.value, str) and _NAME.fullmatch(value.value):
                self.cuda.add(name)
        elif any(map(asks_availability, syntax.walk(value))):
            self.asks.add(name)

    def hold(self, test: ast.expr, positive: bool = True) -> bool:
        """Tell whether a test is what is asked for, unless somebody says otherwise."""
        if name := called(test).lower():
            chosen, other = (self.on, self.off) if positive else (self.off, self.on)
            return name in chosen and name not in other | self.asks
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.hold(inner, not positive)
            case ast.BoolOp(op=ast.And(), values=values) if positive:
                return all(self.hold(each) for each in values)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=text)]):
                named = self.cuda - self.asks
                return positive and text == "cuda" and called(left).lower() in named
            case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                # That a device was chosen does not say which.
                return positive and not _CUDA.search(ast.unparse(test.left))
        return False


@syntax.per_node
def defaults_of(tree: ast.Module) -> Defaults:
    """Return what a file sets unless a user says otherwise."""
    found = Defaults()
    found.learn(tree)
    return found


def asks_availability(node: ast.AST) -> bool:
    """Tell whether a name asks what is there: `torch.cuda.is_available`, `is_available`."""
    return isinstance(node, (ast.Attribute, ast.Name)) and called(node) == "is_available"


def called(node: ast.expr) -> str:
    """Return the last part of a dotted name, "" for what is none."""
    return syntax.dotted(node).rpartition(".")[2]
