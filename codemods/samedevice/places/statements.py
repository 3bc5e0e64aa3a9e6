"""Evaluate statements that bind names: assignments, imports and definitions."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from samedevice.places import classes, demands, operators
from samedevice.places.flow import Flow
from samedevice.places.graph import Spot
from samedevice.places.models.functional import DISPATCHED
from samedevice.places.values import (
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Ext,
    Flag,
    Func,
    Klass,
    Method,
    Namespace,
    Obj,
    Partial,
    Scope,
    Seq,
    Tensor,
    Value,
)


class Statements(Flow):
    """Statements in a row; each tells whether control never goes on behind it."""

    def block(self, body: Iterable[ast.stmt], scope: Scope) -> bool:
        """Evaluate statements in order until one of them ends the flow."""
        guarded = self.guarded
        ended = False
        for statement in body:
            method = self._exec.get(type(statement))
            if method is not None and method(statement, scope):
                ended = True
                break
        self.guarded = guarded
        return ended

    def exec_Expr(self, node: ast.Expr, scope: Scope) -> bool:
        self.statement = node
        value = self.eval(node.value, scope)
        self.dropped(node, value, scope)
        return False

    def exec_Assign(self, node: ast.Assign, scope: Scope) -> bool:
        if node not in self._noted:
            self._noted.add(node)
            self.note_literal(node.value)
            self.note_stored(node.value)
        value = self.switch(node.targets[0], self.eval(node.value, scope))
        for target in node.targets:
            self.assign(target, value, scope, node)
        if len(node.targets) == 1:
            if isinstance(node.targets[0], ast.Name):
                self.remember_test(node.targets[0].id, node.value, scope)
                if value is SCALAR:
                    self.remember_key(node.targets[0].id, node.value, scope)
            self.offer(node.targets[0], value, scope, node)
            if isinstance(value, Flag) and isinstance(node.targets[0], ast.Name):
                self.site("flag", Spot(scope.path, node), None, scope, node.targets[0].id)
        return False

    def note_literal(self, node: ast.expr) -> None:
        """A device that gets a name is the program's choice; one used on the spot is meant."""
        if isinstance(node, ast.Call) and len(node.args) == 1:
            if self.dotted(node.func).rpartition(".")[2] != "device":
                return
            node = node.args[0]
        if isinstance(node, (ast.JoinedStr, ast.BinOp, ast.Call)) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            self.named_literals.add(node)

    def note_stored(self, node: ast.expr) -> None:
        """A device in a config or returned by a helper is the program's choice, too."""
        if isinstance(node, ast.Dict):
            for value in node.values:
                self.note_stored(value)
            return
        if isinstance(node, ast.Call) and len(node.args) == 1:
            if self.dotted(node.func).rpartition(".")[2] == "device":
                node = node.args[0]
        self.stored_literals.add(node)

    def exec_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> bool:
        if node.value is not None:
            self.note_stored(node.value)
            value = self.switch(node.target, self.eval(node.value, scope))
            self.assign(node.target, value, scope, node)
            self.offer(node.target, value, scope, node)
        return False

    def exec_AugAssign(self, node: ast.AugAssign, scope: Scope) -> bool:
        old = self.eval(node.target, scope)
        new = self.eval(node.value, scope)
        spot = Spot(scope.path, node)
        own = operators.binary(self, node.op, old, new, spot, scope, in_place=True)
        if own is not None:
            self.assign(node.target, own, scope, node)
            return False
        if isinstance(old, Seq):
            self.extend(old, new)
            return False
        if isinstance(old, Dict) and isinstance(new, Dict):
            self.dict_method(old, "update", [(new, spot)], {}, spot, scope)
            return False
        value = self.binary(
            old, Spot(scope.path, node.target), new, Spot(scope.path, node.value), spot, True
        )
        if not (isinstance(old, Tensor) and isinstance(node.target, ast.Subscript)):
            self.assign(node.target, value, scope, node)
        return False

    def exec_Assert(self, node: ast.Assert, scope: Scope) -> bool:
        test = self.eval(node.test, scope)
        if isinstance(test, Flag) and test.positive and demands.says_why(node, scope.node):
            self.guarded += 1  # to the end of this block
        self.narrow(node.test, scope, True)
        return False

    def exec_Global(self, node: ast.Global, scope: Scope) -> bool:
        scope.writes = (scope.writes or set()) | set(node.names)
        return False

    exec_Nonlocal = exec_Global

    def exec_Delete(self, node: ast.Delete, scope: Scope) -> bool:
        for target in node.targets:
            match target:
                case ast.Name(id=name):
                    scope.names.drop(name)
                case ast.Attribute(value=inner, attr=attr):
                    owner = self.eval(inner, scope)
                    if isinstance(owner, Obj) and attr in owner.attrs:
                        self.trail.note(owner.attrs, attr)
                        del owner.attrs[attr]
                case ast.Subscript(value=inner, slice=index):
                    owner, key = self.eval(inner, scope), self.eval(index, scope)
                    if isinstance(owner, Dict) and isinstance(key, Const):
                        if key.value in owner.items:
                            self.trail.note(owner.items, key.value)
                            del owner.items[key.value]
        return False

    def exec_Import(self, node: ast.Import, scope: Scope) -> bool:
        for alias in node.names:
            path = self.project.resolve(scope.path, alias.name)
            if path is not None:
                self.file(path)
            if alias.asname:
                self.bind(alias.asname, self.imported(alias.name, path), scope)
                continue
            head = alias.name.split(".")[0]
            first = self.project.resolve(scope.path, head)
            if first is not None:
                self.file(first)
            self.bind(head, self.imported(head, first), scope)
        return False

    def exec_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> bool:
        module = node.module or ""
        path = self.project.resolve(scope.path, module, node.level)
        names = self.file(path).names if path is not None else None
        for alias in node.names:
            if alias.name == "*":
                if names is not None:
                    for name, value in list(names.items()):
                        if not name.startswith("_"):
                            scope.names[name] = value
                continue
            found: Value | None = names.get(alias.name) if names is not None else None
            if found is None:
                inner = f"{module}.{alias.name}" if module else alias.name
                sub = self.project.resolve(scope.path, inner, node.level)
                if sub is not None and sub != path:
                    found = Namespace(sub, self.file(sub))
                elif names is None and not node.level:
                    found = Ext(inner)
                else:
                    found = UNKNOWN
            self.bind(alias.asname or alias.name, found, scope)
        return False

    def imported(self, name: str, path: str | None) -> Value:
        """Return what an imported module is: a file of the project, or a library."""
        return Namespace(path, self.file(path)) if path is not None else Ext(name)

    def exec_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
        func = Func(node, scope)
        value: Value = func
        for decorator in node.decorator_list:
            name = self.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            last = name.rpartition(".")[2]
            if last in ("setter", "deleter") and name.partition(".")[0] == node.name:
                known = scope.names.get(node.name)
                if last == "deleter" and known is not None:
                    value = known
                elif isinstance(known, Func):
                    func.static, func.getter = last, known.getter or known
            elif last in ("staticmethod", "classmethod", "property", "cached_property", "setter"):
                func.static = last
            else:
                value = self.decorated(value, decorator, scope)
        if scope.cls is not None and scope.node is scope.cls.node:
            func.cls = scope.cls
        elif id(node) not in self._known:
            self._known.add(id(node))
            self.functions.append(func)
        self.bind(node.name, value, scope)
        return False

    exec_AsyncFunctionDef = exec_FunctionDef

    def decorated(self, value: Value, decorator: ast.expr, scope: Scope) -> Value:
        """Return what a decorator of the project makes of a function or class."""
        wrapper = self.eval(decorator, scope)
        registers = wrapper.callee if isinstance(wrapper, Partial) else wrapper
        if isinstance(registers, Method):
            owner = registers.receiver
            if not (isinstance(owner, Obj) and owner.family == DISPATCHED):
                return value
        elif isinstance(registers, Ext):
            if registers.name != "functools.singledispatch":
                return value
        elif not isinstance(wrapper, Func):
            return value
        spot = Spot(scope.path, decorator)
        made = self.apply(wrapper, [(value, spot)], {}, spot, scope)
        dispatched = isinstance(made, Obj) and made.family == DISPATCHED
        return made if isinstance(made, (Func, Klass)) or dispatched else value

    def exec_ClassDef(self, node: ast.ClassDef, scope: Scope) -> bool:
        klass = Klass(node, scope, [self.eval(base, scope) for base in node.bases])
        self.classify(klass)
        body = Scope(scope.path, node, scope, scope.globals)
        body.cls = klass
        body.names = klass.names
        self.block(node.body, body)
        klass.names = body.names
        classes.declare(self, klass, scope)
        if any(isinstance(value, Device) for value in klass.names.values()):
            self.class_devices = True
        if id(node) not in self._known:
            self._known.add(id(node))
            self.classes.append(klass)
        value: Value = klass
        for decorator in node.decorator_list:
            value = self.decorated(value, decorator, scope)
        self.bind(node.name, value, scope)
        return False
