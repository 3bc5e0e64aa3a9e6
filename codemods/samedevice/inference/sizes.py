"""Parameters that a function uses as whole numbers: sizes of what it makes, and ends of ranges.

What nobody is seen to hand in could be anything. Such a use shows that it is no tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.reading import syntax

#: What takes whole numbers alone at its first places, by the last part of its name.
_SIZES = {
    "range": 3, "Embedding": 2, "Linear": 2, "LSTM": 2, "GRU": 2, "RNN": 2, "LSTMCell": 2,
    "GRUCell": 2, "RNNCell": 2, "Conv1d": 2, "Conv2d": 2, "Conv3d": 2, "ConvTranspose1d": 2,
    "ConvTranspose2d": 2, "ConvTranspose3d": 2, "BatchNorm1d": 1, "BatchNorm2d": 1,
    "BatchNorm3d": 1, "InstanceNorm1d": 1, "InstanceNorm2d": 1, "GroupNorm": 2, "Bilinear": 3,
    "MultiheadAttention": 2, "TransformerEncoderLayer": 2, "TransformerDecoderLayer": 2,
}  # fmt: skip
#: Functions of torch whose arguments by position are all sizes, and methods that take sizes alone.
_MAKES = frozenset(("arange", "empty", "eye", "ones", "rand", "randn", "randperm", "zeros"))
_RESHAPES = frozenset(("expand", "repeat", "reshape", "unflatten", "view"))


@syntax.per_node
def used_as_sizes(function: ast.AST) -> frozenset[str]:
    """Return the names that a function uses as whole numbers and binds nowhere."""
    bound: set[str] = set()
    found: set[str] = set()
    for node in syntax.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.Subscript(value=ast.Name(id=name)):
                bound.add(name)  # a shape: what is made of it has several sizes
        found.update(name for each in _sizes(node) for name in _counted(each))
    return frozenset(found - bound)


def _counted(size: ast.expr) -> Iterator[str]:
    """Yield the names that a size is computed of: `n`, `n + 1`."""
    match size:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, right=right):
            yield from _counted(left)
            yield from _counted(right)


def _sizes(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if (
            name in _SIZES
        ):
            yield from args[: _SIZES[name]]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=args):
            if name in _MAKES:
                yield from args
        case ast.Call(func=ast.Attribute(attr=name), args=[_, _, *_] as args):
            if name in _RESHAPES:
                yield from args
