"""A clash is found and repaired at each call: the first, the 13th, the 40th, the 250th.

In large programs templates stand for calls; so they do here in the tests that are told `late`.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

import pytest

from samedevice.inference import functions
from samedevice.migration import migrate
from samedevice.migration.check import check, is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
w = torch.ones(3, device=device)


"""
GOOD, BAD = "torch.ones(3, device=device)", "torch.ones(3)"
#: Short functions are evaluated for more callers than long ones.
LONG = "\n".join(f"n{number} = {number}" for number in range(18))


def kind(definitions: str, call: str, moved: bool = False) -> tuple[str, str, bool]:
    """Return what is defined, with long bodies, and the lines of one call.

    `moved`: what may be missing is the move of a module, and not the device of a tensor.
    """
    lines = []
    for line in dedent(definitions).splitlines():
        blank = line[: len(line) - len(line.lstrip())]
        lines.append(indent(LONG, blank) if line.strip() == "LONG" else line)
    return "\n".join(lines) + "\n\n\n", dedent(call), moved


KINDS = {
    "a function": kind(
        """
        def add(a, b):
            LONG
            return a + b
        """,
        "add(w, {x})\n",
    ),
    "a chain of functions": kind(
        """
        def last(a, b):
            LONG
            return a + b

        def middle(a, b):
            LONG
            return last(a, b)

        def first(a, b):
            LONG
            return middle(a, b)
        """,
        "first(w, {x})\n",
    ),
    "a method": kind(
        """
        class Sum:
            def __init__(self, w):
                self.w = w

            def add(self, b):
                LONG
                return self.w + b
        """,
        "s{i} = Sum({x})\ns{i}.add(w)\n",
    ),
    "a method that sets an attribute": kind(
        """
        class Sum:
            def put(self, w):
                LONG
                self.w = w
        """,
        "s{i} = Sum()\ns{i}.put({x})\nr{i} = s{i}.w + w\n",
    ),
    "a method that sets an attribute of an attribute": kind(
        """
        class State:
            pass

        class Sum:
            def __init__(self):
                self.state = State()

            def put(self, w):
                LONG
                self.state.w = w
        """,
        "s{i} = Sum()\ns{i}.put({x})\nr{i} = s{i}.state.w + w\n",
    ),
    "a constructor that makes objects": kind(
        """
        class State:
            pass

        class Sum:
            def __init__(self, w):
                LONG
                self.state = State()
                self.state.w = w
        """,
        "s{i} = Sum({x})\nr{i} = s{i}.state.w + w\n",
    ),
    "a function that makes an object": kind(
        """
        class State:
            pass

        def wrap(a):
            LONG
            state = State()
            state.a = a
            return state
        """,
        "s{i} = wrap({x})\nr{i} = s{i}.a + w\n",
    ),
    "a function that fills a list": kind(
        """
        def put(into, a):
            LONG
            into.append(a)
        """,
        "l{i} = []\nput(l{i}, {x})\nr{i} = l{i}[0] + w\n",
    ),
    "a function that fills a mapping": kind(
        """
        def put(into, a):
            LONG
            into["a"] = a
        """,
        "d{i} = {{}}\nput(d{i}, {x})\nr{i} = d{i}['a'] + w\n",
    ),
    "nested modules": kind(
        """
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 3)

            def forward(self, x):
                LONG
                return self.layer(x)

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = Inner()
                self.b = nn.Sequential(Inner(), nn.ReLU())

            def forward(self, x):
                LONG
                return self.b(self.a(x))
        """,
        "m{i} = Outer().to(device)\nm{i}({x})\n",
    ),
    "a module that is not moved": kind(
        """
        class Net(nn.Module):
            def __init__(self):
                LONG
                super().__init__()
                self.layer = nn.Linear(3, 3)

            def forward(self, x):
                LONG
                return self.layer(x)
        """,
        "m{i} = Net(){move}\nm{i}(w)\n",
        moved=True,
    ),
    "an object with a module": kind(
        """
        class Trainer:
            def __init__(self, model):
                self.model = model

            def inner(self, x):
                LONG
                return self.model(x)

            def step(self, x):
                LONG
                return self.inner(x)
        """,
        "t{i} = Trainer(nn.Linear(3, 3){move})\nt{i}.step(w)\n",
        moved=True,
    ),
    "a function that builds a module": kind(
        """
        def build(d):
            LONG
            net = nn.Linear(3, 3)
            return net.to(d)
        """,
        "m{i} = build(device)\nm{i}({x})\n",
    ),
    "a closure": kind(
        """
        def make(t):
            LONG
            def add(b):
                return t + b
            return add
        """,
        "f{i} = make({x})\nf{i}(w)\n",
    ),
    "a closure that is handed in": kind(
        """
        def call(f):
            LONG
            return f(w)

        def make(t):
            return lambda b: t + b
        """,
        "call(make({x}))\n",
    ),
    "a bound method that is handed in": kind(
        """
        def call(f):
            LONG
            return f(w)

        class Sum:
            def __init__(self, w):
                self.w = w

            def add(self, b):
                return self.w + b
        """,
        "call(Sum({x}).add)\n",
    ),
    "a callback of each caller's own": kind(
        """
        def call(f, a):
            LONG
            return f(a)
        """,
        "call(lambda t: t + w, {x})\n",
    ),
    "a generator": kind(
        """
        def values(a):
            LONG
            for _ in range(3):
                yield a
        """,
        "for t{i} in values({x}):\n    r{i} = t{i} + w\n",
    ),
    "a method of a class above": kind(
        """
        class Base:
            def __init__(self, w):
                self.w = w

            def add(self, b):
                LONG
                return self.inner(b)
        """,
        "class Sum{i}(Base):\n    def inner(self, b):\n        return self.w + b\n"
        "s{i} = Sum{i}(w)\ns{i}.add({x})\n",
    ),
}


#: What templates lose: each is evaluated with objects of its first caller, does not repeat what
#: it does to their members, and makes no objects of its own. The words say which tests fail; what
#: is lost is told as undecided.
PENDING = {
    "a method that sets an attribute of an attribute": "13 250 repaired",
    "a constructor that makes objects": "13 250 repaired",
    "a function that makes an object": "13 250 repaired",
    "a function that fills a list": "13 250 repaired",
    "a function that fills a mapping": "13 250 repaired",
    "a closure": "13 250 repaired",
    "a module that is not moved": "250 repaired",
    "a closure that is handed in": "250 repaired",
    "a bound method that is handed in": "250 repaired",
    "a callback of each caller's own": "250",
    "a method of a class above": "250",
}

#: Whether a module has parameters is not known of one whose constructor a template stood for.
UNTOLD = "a module that is not moved"


def kinds(test: str) -> list[object]:
    """Return the kinds, and when templates stand; marked where this is known to fail."""
    fails = pytest.mark.xfail(strict=True, reason="a template of it does not do all that it does")
    with_templates = [
        pytest.param(name, "late", marks=fails if test in PENDING.get(name, "").split() else ())
        for name in KINDS
    ]
    return [*((name, "early") for name in KINDS), *with_templates]


@pytest.fixture(autouse=True)
def free(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let templates stand as soon as they can, if the test says so."""
    if request.getfixturevalue("when") == "late":
        monkeypatch.setattr(functions, "_FREE", 0)


def program(name: str, wrong: Callable[[int], bool], calls: int) -> str:
    """Return a program whose calls lack a device where they are `wrong`."""
    definitions, call, moved = KINDS[name]
    text = HEAD + definitions
    for number in range(calls):
        lacks = wrong(number)
        tensor = BAD if lacks and not moved else GOOD
        text += call.format(i=number, x=tensor, move="" if lacks else ".to(device)")
    return text


def found(text: str) -> list[int]:
    """Return the lines of what is found."""
    project = Project([source.from_code(text, "program.py")])
    return [finding.span.line for finding in check(project, Config()) if is_wrong(finding)]


@pytest.mark.parametrize("name", [name for name in PENDING if name != UNTOLD])
@pytest.mark.parametrize("when", ["late"])
def test_what_a_template_loses_is_told(name: str, when: str) -> None:
    def told(wrong: Callable[[int], bool]) -> list[tuple[int, str]]:
        project = Project([source.from_code(program(name, wrong, 250), "program.py")])
        return [(finding.span.line, finding.rule) for finding in check(project, Config())]

    assert told(lambda number: False) == []
    ((line, rule),) = told(lambda number: number == 249)
    assert rule == "undecided"
    assert line > program(name, lambda number: False, 249).count("\n")


@pytest.mark.parametrize(("name", "when"), kinds("13"))
def test_a_clash_is_found_at_the_13th_call_as_at_the_first(name: str, when: str) -> None:
    _found_at_last(name, 13)


@pytest.mark.parametrize(("name", "when"), kinds("250"))
def test_a_clash_is_found_at_the_250th_call_as_at_the_first(name: str, when: str) -> None:
    _found_at_last(name, 250)


def _found_at_last(name: str, calls: int) -> None:
    assert found(program(name, lambda number: False, calls)) == []
    (line,) = found(program(name, lambda number: number == calls - 1, calls))
    assert line > program(name, lambda number: False, calls - 1).count("\n")
    assert len(found(program(name, lambda number: number == 0, calls))) == 1


@pytest.mark.parametrize(("name", "when"), kinds("repaired"))
def test_every_call_is_repaired(name: str, when: str) -> None:
    text = program(name, lambda number: True, 40)
    assert len(found(text)) == 40
    outcome = migrate.migrate(Project([source.from_code(text, "program.py")]), Config())
    (change,) = outcome.changes
    repaired = change.after.decode()
    meant = program(name, lambda number: False, 40)
    for device in ("device=device", ".to(device)"):
        assert repaired.count(device) == meant.count(device)
    assert found(repaired) == []
