"""Lists that a program fills with tensors and only reads on the CPU: each tensor is moved there.

A list has a name or is an attribute (`self.history`), or it is in a dict that has or is one
(`history["loss"]`, `meters[name]`), of which nothing else is known. It is followed into functions
of the program that it is handed to, and out of those that return it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Container
from dataclasses import dataclass, field

from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading import syntax

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Module)
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Owner = ast.Name | ast.Attribute
#: A list in a dict, under a key that is computed.
_ANY = object()


def collected(solution: Solution, added: Collection[Location], on_host: Container[ast.AST]) -> bool:
    """Tell whether what lists are filled with, in these places, is only read on the host."""
    follower = _Follower(solution, on_host)
    return bool(added) and all(follower.fills(where) for where in added)


@dataclass
class _Follower:
    """Follows lists and dicts of lists through a program; `_seen` are the names it is at.

    `_begun` are the statements that begin one with what goes to the CPU.
    """

    solution: Solution
    on_host: Container[ast.AST]
    _seen: set[tuple[ast.AST, str, object]] = field(default_factory=set)
    _begun: set[ast.AST] = field(default_factory=set)

    def fills(self, where: Location) -> bool:
        """Tell whether a list that is filled here is only filled, and read on the host."""
        match where.node:
            case ast.Subscript(value=ast.Attribute(attr="data"), slice=ast.Constant(value=0)):
                return False  # once a number
        match self.solution.programs.parents(where.path).get(where.node):
            case ast.Call(func=ast.Attribute(attr="append", value=owner)):
                return self._held(where.path, owner)
            case ast.List() as display:
                match self.solution.programs.parents(where.path).get(display):
                    case ast.Assign(targets=[ast.Name() | ast.Attribute() as owner]) as begun:
                        self._begun.add(begun)
                        return self._held(where.path, owner)
        return False

    def _held(self, path: str, node: ast.expr) -> bool:
        """Follow a list by the expression that stands for it where it is filled."""
        match node:
            case ast.Name(id=name):
                return self._named(path, node, name, None)
            case ast.Attribute():
                return self._attribute(path, node, None)
            case ast.Subscript(value=ast.Name() | ast.Attribute() as owner, slice=key):
                pass
            case ast.Call(
                func=ast.Attribute(attr="setdefault", value=ast.Name() | ast.Attribute() as owner),
                args=[key, ast.List(elts=[])],
            ):
                pass
            case _:
                return False
        known = key.value if isinstance(key, ast.Constant) else _ANY
        if isinstance(owner, ast.Name):
            return self._named(path, owner, owner.id, known)
        return self._attribute(path, owner, known)

    def _named(self, path: str, node: ast.AST, name: str, key: object) -> bool:
        """Follow a name in the scope that it belongs to."""
        if name in self.solution.programs.taken_from(path):
            return False
        parents = self.solution.programs.parents(path)
        scope, inside = _scope_of(name, node, parents)
        if scope is None:
            return False
        return self._uses(path, scope, name, inside, key)

    def _uses(
        self, path: str, scope: ast.AST, name: str, inside: Collection[ast.AST], key: object
    ) -> bool:
        mark = (scope, name, key)
        if mark in self._seen:
            return True
        self._seen.add(mark)
        uses = [n for n in inside if isinstance(n, ast.Name) and n.id == name]
        return bool(uses) and all(self._only_collects(path, use, key) for use in uses)

    def _attribute(self, path: str, owner: ast.Attribute, key: object) -> bool:
        """Follow the attributes of this name in a program, whatever has them."""
        mark = (owner, owner.attr, key)
        if mark in self._seen:
            return True
        found = False
        for each in self.solution.programs.of(path):
            if owner.attr in self.solution.project.sources[each].text:
                for node in syntax.walk(self.solution.programs.tree(each)):
                    if isinstance(node, ast.Attribute) and node.attr == owner.attr:
                        self._seen.add((node, owner.attr, key))
                        found = True
                        if not self._only_collects(each, node, key):
                            return False
        return found

    def _only_collects(self, path: str, owner: _Owner, key: object) -> bool:
        """Tell whether a use fills the list, begins it, reads it on the host or hands it on."""
        if key is not None:
            return self._of_dict(path, owner, key)
        return self._of_list(path, owner)

    def _of_list(self, path: str, node: ast.AST) -> bool:
        """The same of an expression that is the list."""
        if node in self.on_host:
            return True
        parents = self.solution.programs.parents(path)
        at = parents.get(node)
        match at:
            case ast.Attribute(attr="append" | "clear"):
                return True
            case ast.Call(func=ast.Name(id="len")):
                return True
            case ast.Assign() | ast.AnnAssign() | ast.Tuple() if _begins_empty(at, parents.get(at)):
                return True
            case ast.Subscript() if at in self.on_host:
                return True
            case ast.Assign() if at in self._begun:
                return True
        if at is None:
            return False
        return self._handed(path, node, at, None) or self._into_dict(path, node, at)

    def _of_dict(self, path: str, owner: _Owner, key: object) -> bool:
        """The same of a dict, for the list under a key, or for all of them."""
        parents = self.solution.programs.parents(path)
        at = parents.get(owner)
        match at:
            case ast.Subscript(value=value, slice=asked) if value is owner:
                if _ANY is not key and isinstance(asked, ast.Constant) and asked.value != key:
                    return True  # another list
                return self._of_list(path, at)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return value is not owner and _begins_dict(value, key)
            case ast.Call(func=ast.Name(id="len")):
                return True
            case ast.For(iter=over) | ast.comprehension(iter=over) if over is owner:
                return True  # over its keys
            case ast.Compare(ops=[ast.In() | ast.NotIn()]):
                return True
            case ast.Attribute(attr=method):
                call = parents.get(at)
                return isinstance(call, ast.Call) and self._by_method(path, call, method)
        return at is not None and self._handed(path, owner, at, key)

    def _by_method(self, path: str, call: ast.Call, method: str) -> bool:
        """Follow what a method of the dict gives."""
        parents = self.solution.programs.parents(path)
        if method == "keys":
            return True
        if method in ("get", "setdefault"):
            return self._of_list(path, call)
        loop = parents.get(call)
        if method not in ("items", "values") or not isinstance(loop, _LOOPS):
            return False
        target: ast.AST = loop.target
        if method == "items":
            if not (isinstance(target, ast.Tuple) and len(target.elts) == 2):
                return False
            target = target.elts[1]
        if not isinstance(target, ast.Name):
            return False
        scope = loop if not isinstance(loop, ast.comprehension) else parents.get(loop)
        assert scope is not None
        uses = (n for n in syntax.walk(scope) if isinstance(n, ast.Name) and n.id == target.id)
        return all(use is target or self._of_list(path, use) for use in uses)

    def _into_dict(self, path: str, node: ast.AST, at: ast.AST) -> bool:
        """`plot({"train": losses})`: a dict that is handed on at once."""
        if not isinstance(at, ast.Dict) or node not in at.values:
            return False
        outer = self.solution.programs.parents(path).get(at)
        return outer is not None and self._handed(path, at, outer, _ANY)

    def _handed(self, path: str, node: ast.AST, at: ast.AST, key: object) -> bool:
        """Follow what is an argument of a function of the program, or returned by one."""
        parents = self.solution.programs.parents(path)
        if isinstance(at, ast.keyword):
            call = parents.get(at)
            name, position = at.arg, None
        elif isinstance(at, ast.Call) and node in at.args:
            call, name, position = at, None, at.args.index(node)
        elif isinstance(at, ast.Return):
            return self._returned(path, at, key)
        else:
            return False
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        if any(isinstance(each, ast.Starred) for each in call.args):
            return False
        known = self._function(path, call.func.id)
        if known is None:
            return False
        where, function = known
        spec = function.args
        given = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        if position is not None:
            name = given[position] if position < len(given) else None
        elif name not in (*given, *(each.arg for each in spec.kwonlyargs)):
            name = None
        if name is None:
            return False
        inside = [part for each in function.body for part in syntax.walk(each)]
        if not any(isinstance(n, ast.Name) and n.id == name for n in inside):
            return True  # it reads nothing of it
        return self._uses(where, function, name, inside, key)

    def _returned(self, path: str, at: ast.Return, key: object) -> bool:
        """Follow a list into the names that all calls of its function give it."""
        function = self.solution.programs.function_of(Location(path, at))
        if function is None or self._function(path, function.name) != (path, function):
            return False
        calls = 0
        for each in self.solution.programs.of(path):
            if function.name not in self.solution.project.sources[each].text:
                continue
            for node in syntax.walk(self.solution.programs.tree(each)):
                if isinstance(node, ast.Attribute) and node.attr == function.name:
                    return False
                if isinstance(node, ast.Name) and node.id == function.name:
                    calls += 1
                    if not self._result(each, node, key):
                        return False
        return calls > 0

    def _result(self, path: str, name: ast.Name, key: object) -> bool:
        """Follow what a call by this name gives."""
        parents = self.solution.programs.parents(path)
        call = parents.get(name)
        if not (isinstance(call, ast.Call) and call.func is name):
            return False
        match parents.get(call):
            case ast.Assign(targets=[ast.Name(id=held) as target]):
                uses = [use for use in _own(held, target, parents) if use is not target]
                return all(
                    isinstance(use.ctx, ast.Load) and self._only_collects(path, use, key)
                    for use in uses
                )
        return key is None and self._of_list(path, call)

    def _function(self, path: str, name: str) -> tuple[str, _Function] | None:
        """Return the only function of a program that has a name."""
        found: list[tuple[str, _Function]] = []
        for each in self.solution.programs.of(path):
            if name in self.solution.project.sources[each].text:
                for node in syntax.walk(self.solution.programs.tree(each)):
                    if isinstance(node, _FUNCTIONS) and node.name == name:
                        found.append((each, node))
        return found[0] if len(found) == 1 else None


def _scope_of(
    name: str, node: ast.AST, parents: syntax.Parents
) -> tuple[ast.AST | None, set[ast.AST]]:
    """Return the function or file that a name belongs to, and what is in it; None without one."""
    scope = parents.get(node)
    while scope is not None:
        if isinstance(scope, _SCOPES):
            inside = set(syntax.walk(scope))
            declared = any(isinstance(n, ast.Global) and name in n.names for n in inside)
            if (isinstance(scope, ast.Module) or not declared) and any(
                isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
                for n in inside
            ):
                return scope, inside
        scope = parents.get(scope)
    return None, set()


def _own(name: str, node: ast.AST, parents: syntax.Parents) -> list[ast.Name]:
    """Return what a name that is bound here is called in its scope, and not in another one."""
    scope, inside = _scope_of(name, node, parents)
    return [
        each
        for each in inside
        if isinstance(each, ast.Name) and each.id == name
        if _scope_of(name, each, parents)[0] is scope
    ]


def _begins_dict(value: ast.expr, key: object) -> bool:
    """Tell whether a dict is begun in which the list of a key is empty, or made when asked."""
    match value:
        case ast.Dict(keys=keys, values=values) if key is _ANY:
            return all(isinstance(each, ast.List) and not each.elts for each in values) and all(
                keys
            )
        case ast.Dict(keys=keys, values=values):
            begun = [v for k, v in zip(keys, values, strict=True) if _is_key(k, key)]
            return len(begun) == 1 and isinstance(begun[0], ast.List) and not begun[0].elts
        case ast.Call(func=func, args=[ast.Name(id="list")], keywords=[]):
            return syntax.dotted(func).rpartition(".")[2] == "defaultdict"
    return False


def _is_key(node: ast.expr | None, key: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == key


def _begins_empty(node: ast.AST, around: ast.AST | None) -> bool:
    """Tell whether a name is given an empty list: `a = []`, or in `a, b = [], []`."""
    match node:
        case ast.Assign(value=ast.List(elts=[])) | ast.AnnAssign(value=ast.List(elts=[])):
            return True
        case ast.Tuple():
            match around:
                case ast.Assign(targets=[target], value=ast.Tuple(elts=values)):
                    empty = (isinstance(value, ast.List) and not value.elts for value in values)
                    return target is node and all(empty)
    return False
