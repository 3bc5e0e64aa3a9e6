"""What is inferred for the expressions of fixtures is what they are when they run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from textwrap import dedent
from types import ModuleType

import pytest

from tests.fixtures.cases import cases

from . import known, programs
from .compare import AGREE, CONTRADICT, NEVER, UNTYPED, Compared
from .instrument import Table
from .programs import Target

#: One of that many programs is looked at in `make test`, all of them by `slow` tests.
SAMPLE = 64

#: Programs of which everything is known.
SMALL = {
    "small": {
        "main.py": """
            import torch
            from torch import nn
            import helper

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            x = torch.ones(2, 3)
            y = x.to(device)
            model = nn.Linear(3, 2).to(device)

            def double(z):
                return z + z

            print(model(double(y)))
            secret = helper.hide(x)
            print(secret[0])
            if len(secret) > 5:
                print(torch.zeros(1))
        """,
        "helper.py": """
            def hide(x):
                made = []
                exec('made.append(x)')
                return made
        """,
    },
    "wrapped": {
        "main.py": """
            import sys
            import torch
            from torch import nn

            wide = len(sys.argv) > 9
            model = nn.Linear(3, 9) if wide else nn.Linear(3, 2)
            if torch.cuda.is_available():
                model = nn.DataParallel(model).cuda()
            print(model(torch.ones(2, 3)))
        """,
    },
    "wrong": {
        "main.py": """
            import torch
            x = torch.ones(2)
            x.data = x.data.to("cuda")
            y = x + 1
        """,
    },
}

names = [f"{case.name}/{version}" for case in cases() for version in case.versions]


Look = Callable[[str], "Compared | None"]


@pytest.fixture(scope="session")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Look]:
    """Yield what runs a program, by its name, and compares; None when it told nothing."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("oracle")
    targets = {one.name: one for one in programs.fixtures(folder / "programs")}
    for name, files in SMALL.items():
        for path, text in files.items():
            (folder / name).mkdir(exist_ok=True)
            (folder / name / path).write_text(dedent(text).lstrip(), "utf-8")
        targets[name] = Target(name, folder / name, "main.py")
    server = programs.Server(folder / "reports")

    @cache
    def one(name: str) -> Compared | None:
        if name not in targets:
            pytest.skip("needs other packages")
        server.run(targets[name])
        return programs.judge(targets[name], folder / "reports")

    yield one
    server.close()


@pytest.mark.torch
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if number % SAMPLE == 0 else [pytest.mark.slow])
        for number, name in enumerate(names)
    ],
)
def test_nothing_contradicts(name: str, look: Look) -> None:
    """No tensor or module is somewhere else than was inferred, but for what is listed."""
    compared = look(name)
    got = known.lines(compared) if compared is not None else set()
    listed = known.read().get(name, set())
    assert got - listed == set(), "new contradictions"
    assert listed - got == set(), "mended: take them from known.txt"


@pytest.mark.torch
def test_what_is_counted(look: Look) -> None:
    small = look("small")
    assert small is not None
    counts: Counter[str] = Counter()
    for (what, _, verdict), count in small.counts.items():
        counts[verdict] += count if what == "tensor" else 0
    # x, x.to(), the two y, z + z and its operands, double(y), model(...), ...
    assert counts[AGREE] >= 9
    assert counts[CONTRADICT] == 0
    assert counts[NEVER] == 1, "torch.zeros(1)"
    assert counts[UNTYPED] >= 1, "secret[0]"
    untyped = [one for one in small.different if one.verdict == UNTYPED]
    assert ("main.py", 15, "secret[0]", {"cpu": 1}) in [
        (one.path, one.line, one.code, one.observed) for one in untyped
    ]


@pytest.mark.torch
def test_a_contradiction_is_one(look: Look) -> None:
    """Where the run says another place than the inference, that is a contradiction."""
    wrong = look("wrong")
    assert wrong is not None
    assert "wrong: main.py: tensor: x + 1: host" in known.lines(wrong)


@pytest.mark.torch
def test_a_wrapper_of_one_of_two_modules_is_where_that_is(look: Look) -> None:
    wrapped = look("wrapped")
    assert wrapped is not None and wrapped.left_host
    assert known.lines(wrapped) == set()


def test_a_rewritten_program_is_the_same_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, scopes, texts and frames are those of the program as it is written."""
    text = dedent('''\
        """The text."""
        from __future__ import annotations
        import dataclasses

        class Base:
            def __init__(self, x: "no name") -> None:
                self.x = x

        class Sub(Base):
            """A class."""
            names = [letter for letter in "ab"]
            def __init__(self, x=(y := 3)):
                "Its text."
                super().__init__(x)
                self.all = sorted(locals())[-1]
            @property
            def double(self):
                return self.x * 2

        @dataclasses.dataclass
        class Point:
            x: int = 1
            rest: list[int] = dataclasses.field(default_factory=list)

        def generate():
            got = yield 1
            yield got
        one = generate()
        match {"a": [1, Point(4)]}:
            case {"a": [first, Point(x=second), *_]} if second > 3:
                third = second
        with open(__file__) as file:
            lines = file.readlines()
        counts = {}
        counts["a"] = counts.get("a", 0) + 1
        del counts["a"]
        first, *others = [next(one), one.send(7)]
        text = f"{first!r:>{4 + 1}} {third=}"
        def many(a, /, b=2, *c, d=3, **e):
            return a, b, c, d, e
        result = (Sub().double, Sub.__init__.__doc__, Sub.names, third, others, text,
                  len(lines) > 5, many(1, 5, 6, z=1), __doc__, counts)
        ''')
    plain, told = ModuleType("plain"), ModuleType("told")
    table = Table()
    seen: list[object] = []
    vars(told).update(
        samedevice_see=lambda number, value, here: seen.append(number) or value,
        samedevice_enter=lambda handed: handed,
        samedevice_here=(),
    )
    for module in (plain, told):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        module.__file__ = __file__
    exec(compile(text, __file__, "exec", dont_inherit=True), vars(plain))
    exec(table.compile(text, __file__), vars(told))
    assert told.result == plain.result
    assert len(set(seen)) > 40
