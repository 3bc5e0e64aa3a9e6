"""One file per rule: why it exists, an example, and `find`, which asks the solution.

A rule's name is its file's name. There is no list to edit: the folder is the registry.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from samedevice.finding import Finding
from samedevice.inference import Solution

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


@dataclass(frozen=True)
class Rule:
    """A rule as the command line and the docs show it.

    `rest` is asked when all rules have spoken, with what they found; those of `after` have to be
    among them, since what is switched off says nothing. The notes of a rule of
    `style` are about right code.
    """

    name: str
    summary: str
    doc: str
    find: Callable[[Solution], Iterator[Finding]]
    rest: Callable[[Solution, Sequence[Finding]], Iterator[Finding]] | None = None
    after: frozenset[str] = frozenset()
    style: bool = False

    @property
    def why(self) -> str:
        """The first sentence of why the rule exists, "" where its text does not say."""
        _, found, rest = self.doc.partition("\nWhy: ")
        paragraph = " ".join(rest.partition("\n\n")[0].split()) if found else ""
        return _SENTENCE.split(paragraph)[0]


def page(name: str, docs_url: str) -> str:
    """Return where a rule is explained: its page on the site at `docs_url`, else a command."""
    return f"{docs_url}/reference/rules/{name}/" if docs_url else f"samedevice rules {name}"


@cache
def load() -> dict[str, Rule]:
    """Return every rule by name, in alphabetical order."""
    found: dict[str, Rule] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        doc = inspect.cleandoc(module.__doc__ or "")
        name = info.name.replace("_", "-")
        rest = getattr(module, "rest", None)
        after: frozenset[str] = getattr(module, "AFTER", frozenset())
        style: bool = getattr(module, "STYLE", False)
        found[name] = Rule(name, doc.partition("\n")[0], doc, module.find, rest, after, style)
    return found
