"""Code whose text is read by other code of the project, which an edit changes under its hands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.verify.edited import Edited

_ASKING = "getsource"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Read:
    """What a project asks for its source: `inspect.getsource(lesson.multiply)`."""

    def __init__(self, project: Project) -> None:
        self._names = frozenset(_asked(project))

    def changed(self, edited: Edited) -> Iterator[tuple[ast.AST, str]]:
        """Yield what is new in functions and classes whose text is read."""
        for node in edited.new if self._names else ():
            outer = edited.parents.get(node)
            while outer is not None:
                if isinstance(outer, _DEFINITIONS) and outer.name in self._names:
                    yield node, f"the project reads the text of `{outer.name}`"
                    break
                outer = edited.parents.get(outer)


def _asked(project: Project) -> Iterator[str]:
    """Yield the names of what is asked for its source anywhere."""
    for path, source in project.sources.items():
        if _ASKING in source.text:
            for node in syntax.walk(project.tree(path) or ast.Module([], [])):
                match node:
                    case ast.Call(func=func, args=[ast.Name() | ast.Attribute() as asked]) if (
                        syntax.dotted(func).rpartition(".")[2] == _ASKING
                    ):
                        yield syntax.dotted(asked).rpartition(".")[2]
