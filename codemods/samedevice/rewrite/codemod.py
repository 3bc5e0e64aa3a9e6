"""Every rule as a libcst codemod, for `python -m libcst.tool codemod`.

`python -m libcst.tool codemod -x samedevice.rewrite.codemod.TensorWithoutDevice train.py` runs one
rule alone: the class is named after the rule. A codemod sees one file, so a rule that has to look
into other files finds less here than `samedevice fix` does, and a fix that reaches into another
file is left out with a warning.
"""

from __future__ import annotations

from functools import cache

import libcst as cst
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand

from .. import inference, rules
from ..finding import RENAMED, Fix, current_rule
from ..reading import source
from ..reading.project import Project
from . import rewrite


@cache
def codemod(rule: str) -> type[VisitorBasedCodemodCommand]:
    """Return the codemod of a rule; raises `KeyError` when there is no such rule."""
    found = rules.load()[current_rule(rule)]
    members = {"RULE": found, "DESCRIPTION": found.summary, "__doc__": found.doc}
    return type(_class_name(found.name), (_RuleCodemod,), members)


def __getattr__(name: str) -> type[VisitorBasedCodemodCommand]:
    for rule in (*rules.load(), *RENAMED):
        if _class_name(rule) == name:
            return codemod(rule)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _class_name(rule: str) -> str:
    return "".join(word.capitalize() for word in rule.split("-"))


class _RuleCodemod(VisitorBasedCodemodCommand):
    """Applies the safe fixes of `RULE` to a module."""

    RULE: rules.Rule

    def __init__(self, context: CodemodContext) -> None:
        super().__init__(context)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """Return the module with the rule's fixes; raises `SourceError` when it does not parse."""
        file = source.from_bytes(tree.bytes, self.context.filename or "-")
        solution = inference.infer(Project([file]))
        fixes = [found.fix for found in self.RULE.find(solution) if found.fix and found.fix.safe]
        result = rewrite(file, [fix for fix in fixes if self._is_local(fix, file.path)])
        for _, reason in result.refused:
            self.warn(f"{file.path}: a fix of {self.RULE.name} was refused: {reason}")
        if result.text == file.text:
            return tree
        return cst.parse_module(file.encode(result.text))

    def _is_local(self, fix: Fix, path: str) -> bool:
        """Tell whether a fix stays in the file."""
        paths = {item.path for items in (fix.edits, fix.imports, fix.resolvers) for item in items}
        if paths == {path} and not any(item.module_path for item in fix.resolvers):
            return True
        self.warn(f"{path}: a fix of {self.RULE.name} reaches into other files; `samedevice fix`")
        return False
