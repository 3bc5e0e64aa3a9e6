"""Programs in which `NAME` is used at the comment `# ?`, and what it may be there."""

from __future__ import annotations

import ast
import sys

import pytest

from samedevice.verify.binding import State, states
from samedevice.verify.callers import Callers

UNBOUND, NONE, BOUND = State.UNBOUND, State.NONE, State.BOUND
EITHER = UNBOUND | BOUND

PROGRAMS: dict[str, tuple[State, str]] = {
    "assigned": (BOUND, "NAME = 1\nNAME  # ?"),
    "never": (UNBOUND, "NAME  # ?"),
    "builtin": (BOUND, "NAME = 1\ndel NAME\nlen\nNAME = 2\nNAME  # ?"),
    "later": (UNBOUND, "NAME  # ?\nNAME = 1"),
    "deleted": (UNBOUND, "NAME = 1\ndel NAME\nNAME  # ?"),
    "annotated": (UNBOUND, "NAME: int\nNAME  # ?"),
    "annotated value": (BOUND, "NAME: int = 1\nNAME  # ?"),
    "imported": (BOUND, "import NAME.sub\nNAME  # ?"),
    "imported as": (UNBOUND, "import NAME as other\nNAME  # ?"),
    "star": (UNBOUND, "from somewhere import *\nNAME  # ?"),
    "one branch": (EITHER, "if x:\n    NAME = 1\nNAME  # ?"),
    "both branches": (BOUND, "if x:\n    NAME = 1\nelse:\n    NAME = 2\nNAME  # ?"),
    "elif": (EITHER, "if x:\n    NAME = 1\nelif y:\n    NAME = 2\nNAME  # ?"),
    "other branch raises": (BOUND, "if x:\n    NAME = 1\nelse:\n    raise E\nNAME  # ?"),
    "other branch exits": (BOUND, "if x:\n    NAME = 1\nelse:\n    sys.exit(1)\nNAME  # ?"),
    "the other branch": (UNBOUND, "if x:\n    NAME = 1\nelse:\n    NAME  # ?"),
    "always true": (BOUND, "if True:\n    NAME = 1\nNAME  # ?"),
    "asserted": (BOUND, "NAME = 1 if x else None\nassert NAME is not None\nNAME  # ?"),
    "used before": (BOUND, "if x:\n    NAME = 1\nNAME\nNAME  # ?"),
    "loop": (EITHER, "for i in x:\n    NAME = 1\nNAME  # ?"),
    "loop target": (EITHER, "for NAME in x:\n    pass\nNAME  # ?"),
    "loop that runs": (BOUND, "for NAME in (1, 2):\n    pass\nNAME  # ?"),
    "range that runs": (BOUND, "for i in range(3):\n    NAME = 1\nNAME  # ?"),
    "loop or else": (EITHER, "for i in x:\n    NAME = 1\n    break\nelse:\n    y = 1\nNAME  # ?"),
    "broken or else": (
        BOUND,
        "for i in x:\n    NAME = 1\n    break\nelse:\n    NAME = 2\nNAME  # ?",
    ),
    "break before": (EITHER, "for i in (1,):\n    if x:\n        break\n    NAME = 1\nNAME  # ?"),
    "continue before": (
        EITHER,
        "for i in (1,):\n    if x:\n        continue\n    NAME = 1\nNAME  # ?",
    ),
    "carried round": (EITHER, "while x:\n    NAME  # ?\n    NAME = 1\n"),
    "carried and bound": (BOUND, "NAME = 0\nwhile x:\n    NAME  # ?\n    NAME = 1\n"),
    "deleted at the end of a round": (EITHER, "NAME = 0\nwhile x:\n    NAME  # ?\n    del NAME\n"),
    "endless": (BOUND, "while True:\n    NAME = 1\n    if x:\n        break\nNAME  # ?"),
    "endless, left before": (
        EITHER,
        "while True:\n    if x:\n        break\n    NAME = 1\nNAME  # ?",
    ),
    "in a try": (EITHER, "try:\n    f()\n    NAME = 1\nexcept E:\n    pass\nNAME  # ?"),
    "in the handler": (EITHER, "try:\n    NAME = f()\n    g()\nexcept E:\n    NAME  # ?"),
    "in try and handler": (BOUND, "try:\n    NAME = 1\nexcept E:\n    NAME = 2\nNAME  # ?"),
    "handler leaves": (BOUND, "try:\n    NAME = f()\nexcept E:\n    raise\nNAME  # ?"),
    "try else": (BOUND, "try:\n    NAME = f()\nexcept E:\n    pass\nelse:\n    NAME  # ?"),
    "finally": (EITHER, "try:\n    NAME = f()\nfinally:\n    NAME  # ?"),
    "behind finally": (BOUND, "try:\n    NAME = f()\nfinally:\n    pass\nNAME  # ?"),
    "bound by finally": (BOUND, "try:\n    f()\nfinally:\n    NAME = 1\nNAME  # ?"),
    "exception": (UNBOUND, "try:\n    f()\nexcept E as NAME:\n    raise SystemExit\nNAME  # ?"),
    "its handler": (BOUND, "try:\n    f()\nexcept E as NAME:\n    NAME  # ?"),
    "with": (BOUND, "with f() as NAME:\n    pass\nNAME  # ?"),
    "in a with": (BOUND, "with f():\n    NAME = 1\nNAME  # ?"),
    "suppressed": (EITHER, "with suppress(E):\n    f()\n    NAME = 1\nNAME  # ?"),
    "case": (EITHER, "match x:\n    case 1:\n        NAME = 1\nNAME  # ?"),
    "every case": (
        BOUND,
        "match x:\n    case 1:\n        NAME = 1\n    case _:\n        NAME = 2\nNAME  # ?",
    ),
    "captured": (BOUND, "match x:\n    case [1, NAME]:\n        NAME  # ?"),
    "comprehension": (UNBOUND, "[NAME for NAME in x]\nNAME  # ?"),
    "inside a comprehension": (BOUND, "[NAME for NAME in x if y]  # ?"),
    "walrus": (BOUND, "f(NAME := 1)\nNAME  # ?"),
    "walrus in and": (EITHER, "x and (NAME := 1)\nNAME  # ?"),
    "walrus in a test": (BOUND, "if x and (NAME := 1):\n    NAME  # ?"),
    "walrus in a comprehension": (EITHER, "[(NAME := i) for i in x]\nNAME  # ?"),
    "none": (NONE, "NAME = None\nNAME  # ?"),
    "perhaps none": (NONE | BOUND, "NAME = 1 if x else None\nNAME  # ?"),
    "no longer none": (
        BOUND,
        "NAME = f() if x else None\nif NAME is None:\n    NAME = 1\nNAME  # ?",
    ),
    "where it is not none": (BOUND, "NAME = 1 if x else None\nif NAME is not None:\n    NAME  # ?"),
    "where it is true": (BOUND, "NAME = 1 if x else None\nif NAME and y:\n    NAME  # ?"),
    "where it is not true": (NONE | BOUND, "NAME = 1 if x else None\nif not NAME:\n    NAME  # ?"),
    "in a function": (BOUND, "NAME = 1\ndef f():\n    NAME  # ?"),
    "in a function, bound behind it": (BOUND, "def f():\n    NAME  # ?\nNAME = 1\nf()"),
    "called too early": (UNBOUND, "def f():\n    NAME  # ?\nf()\nNAME = 1"),
    "called too early by another": (
        UNBOUND,
        "def f():\n    NAME  # ?\ndef g():\n    f()\ng()\nNAME = 1",
    ),
    "called early and late": (EITHER, "def f():\n    NAME  # ?\nf()\nNAME = 1\nf()"),
    "built too early": (
        UNBOUND,
        "class C:\n    def __init__(self):\n        NAME  # ?\nc = C()\nNAME = 1",
    ),
    "a method called later": (
        BOUND,
        "class C:\n    def run(self):\n        NAME  # ?\nc = C()\nNAME = 1\nc.run()",
    ),
    "a method that the constructor calls": (
        UNBOUND,
        "class C:\n    def __init__(self):\n        self.run()\n    def run(self):\n"
        "        NAME  # ?\nc = C()\nNAME = 1",
    ),
    "a library's name is no method": (
        BOUND,
        "import torch\nclass C:\n    def device(self):\n        NAME  # ?\n"
        "NAME = torch.device(1)\n",
    ),
    "an instance called too early": (
        UNBOUND,
        "class C:\n    def forward(self):\n        NAME  # ?\nc = C()\nc()\nNAME = 1",
    ),
    "an instance called later": (
        BOUND,
        "class C:\n    def forward(self):\n        NAME  # ?\nc = C()\nNAME = 1\nc()",
    ),
    "parameter": (BOUND, "def f(NAME):\n    NAME  # ?"),
    "parameter of all the rest": (BOUND, "def f(*a, **NAME):\n    NAME  # ?"),
    "default": (UNBOUND, "def f(a=NAME):  # ?\n    pass\nNAME = 1"),
    "local": (UNBOUND, "NAME = 1\ndef f():\n    NAME  # ?\n    NAME = 2"),
    "local in one branch": (
        EITHER,
        "NAME = 1\ndef f():\n    if x:\n        NAME = 2\n    NAME  # ?",
    ),
    "global": (BOUND, "NAME = 1\ndef f():\n    global NAME\n    NAME  # ?\n    NAME = 2"),
    "set by a function": (
        BOUND,
        "def setup():\n    global NAME\n    NAME = 1\nsetup()\nNAME  # ?",
    ),
    "set in a branch of a function": (
        UNBOUND,
        "def setup():\n    global NAME\n    if x:\n        NAME = 1\nsetup()\nNAME  # ?",
    ),
    "set by a function that is not called": (
        NONE,
        "NAME = None\ndef setup():\n    global NAME\n    NAME = 1\nNAME  # ?",
    ),
    "closure": (BOUND, "def f():\n    NAME = 1\n    def g():\n        NAME  # ?\n    return g"),
    "closure before": (
        UNBOUND,
        "def f():\n    def g():\n        NAME  # ?\n    g()\n    NAME = 1",
    ),
    "closure behind": (BOUND, "def f():\n    def g():\n        NAME  # ?\n    NAME = 1\n    g()"),
    "closure under a branch": (
        EITHER,
        "def f():\n    if x:\n        NAME = 1\n    def g():\n        NAME  # ?\n    return g",
    ),
    "lambda": (BOUND, "NAME = 1\nf(lambda: NAME)  # ?"),
    "lambda, bound behind it": (UNBOUND, "f(lambda: NAME)  # ?\nNAME = 1"),
    "lambda parameter": (BOUND, "f(lambda NAME: NAME)  # ?"),
    "class body": (BOUND, "class C:\n    NAME = 1\n    NAME  # ?"),
    "class body from a method": (
        UNBOUND,
        "class C:\n    NAME = 1\n    def f(self):\n        NAME  # ?",
    ),
    "under main": (
        BOUND,
        "def f():\n    NAME  # ?\nif __name__ == '__main__':\n    NAME = 1\n    f()",
    ),
    "nested class": (
        UNBOUND,
        "class A:\n    class B:\n        NAME = 1\n        def f(self):\n            NAME  # ?",
    ),
    "async": (
        EITHER,
        "async def f():\n    async for NAME in x:\n        pass\n    NAME  # ?",
    ),
    "starred": (BOUND, "a, *NAME = x\nNAME  # ?"),
    "decorated": (UNBOUND, "@d(NAME)  # ?\ndef f():\n    pass\nNAME = 1"),
    "augmented": (UNBOUND, "NAME += 1  # ?"),
}


def _found(text: str, *, as_main: bool = True) -> State:
    tree = ast.parse(text)
    line = next(n for n, code in enumerate(text.splitlines(), 1) if code.endswith("# ?"))
    there = [
        state
        for node, state in states(Callers(tree), {"NAME"}, as_main=as_main).items()
        if node.lineno == line
    ]
    assert there, "it is not reached"
    result = State(0)
    for state in there:
        result |= state
    return result


@pytest.mark.parametrize("name", PROGRAMS)
def test_states(name: str) -> None:
    expected, text = PROGRAMS[name]
    assert _found(text) == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="`except*` came with Python 3.11")
def test_exception_groups() -> None:
    assert _found("try:\n    NAME = f()\nexcept* E:\n    pass\nNAME  # ?") == EITHER


def test_what_main_binds_is_unbound_for_importers() -> None:
    text = PROGRAMS["under main"][1]
    assert _found(text, as_main=False) == UNBOUND


def test_what_is_not_reached_has_no_state() -> None:
    tree = ast.parse("def f():\n    return\n    NAME")
    assert not states(Callers(tree), {"NAME"})
