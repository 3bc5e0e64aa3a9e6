"""Classes: attributes, properties, special methods, inheritance, dataclasses and enums."""

PROGRAMS = {
    "attribute": """
        class State:
            def __init__(self):
                self.x = torch.ones(1, 3, AT)
        model(State().x)
    """,
    "attribute set from outside": """
        class State:
            pass
        s = State()
        s.x = torch.ones(1, 3, AT)
        model(s.x)
    """,
    "attribute set again": """
        class State:
            def __init__(self):
                self.x = torch.zeros(1, 3, device=device)
        s = State()
        s.x = torch.ones(1, 3, AT)
        model(s.x)
    """,
    "attribute set by a method": """
        class State:
            def __init__(self):
                self.x = None
            def fill(self):
                self.x = torch.ones(1, 3, AT)
        s = State()
        s.fill()
        model(s.x)
    """,
    "attribute of an attribute": """
        class Inner:
            pass
        class Outer:
            def __init__(self):
                self.inner = Inner()
                self.inner.x = torch.ones(1, 3, AT)
        model(Outer().inner.x)
    """,
    "two instances": """
        class State:
            def __init__(self, x):
                self.x = x
        s, t = State(torch.zeros(1, 3, device=device)), State(torch.ones(1, 3, AT))
        model(s.x)
        model(t.x)
    """,
    "an instance handed to a function": """
        class State:
            def __init__(self, x):
                self.x = x
        def run(s):
            return model(s.x)
        run(State(torch.ones(1, 3, AT)))
    """,
    "an instance in a list": """
        class State:
            def __init__(self, x):
                self.x = x
        for s in [State(torch.ones(1, 3, AT))]:
            model(s.x)
    """,
    "an instance changed in a function": """
        class State:
            def __init__(self):
                self.x = torch.zeros(1, 3, device=device)
        def change(s):
            s.x = torch.ones(1, 3, AT)
        s = State()
        change(s)
        model(s.x)
    """,
    "class attribute": """
        class State:
            x = torch.ones(1, 3, AT)
        model(State.x)
    """,
    "class attribute by an instance": """
        class State:
            x = torch.ones(1, 3, AT)
        model(State().x)
    """,
    "class attribute set later": """
        class State:
            x = None
        State.x = torch.ones(1, 3, AT)
        model(State().x)
    """,
    "class attribute over self": """
        class State:
            x = torch.ones(1, 3, AT)
            def run(self):
                return model(self.x)
        State().run()
    """,
    "method": """
        class Maker:
            def make(self):
                return torch.ones(1, 3, AT)
        model(Maker().make())
    """,
    "a method that returns self": """
        class Maker:
            def fill(self):
                self.x = torch.ones(1, 3, AT)
                return self
        model(Maker().fill().x)
    """,
    "a bound method by a name": """
        class Maker:
            def make(self):
                return torch.ones(1, 3, AT)
        make = Maker().make
        model(make())
    """,
    "static method": """
        class Maker:
            @staticmethod
            def make():
                return torch.ones(1, 3, AT)
        model(Maker.make())
    """,
    "class method": """
        class Maker:
            @classmethod
            def make(cls):
                return torch.ones(1, 3, AT)
        model(Maker.make())
    """,
    "class method as a constructor": """
        class State:
            def __init__(self, x):
                self.x = x
            @classmethod
            def ones(cls):
                return cls(torch.ones(1, 3, AT))
        model(State.ones().x)
    """,
    "property": """
        class State:
            @property
            def x(self):
                return torch.ones(1, 3, AT)
        model(State().x)
    """,
    "property over an attribute": """
        class State:
            def __init__(self):
                self._x = torch.ones(1, 3, AT)
            @property
            def x(self):
                return self._x
        model(State().x)
    """,
    "property with a setter": """
        class State:
            @property
            def x(self):
                return self._x
            @x.setter
            def x(self, value):
                self._x = value
        s = State()
        s.x = torch.ones(1, 3, AT)
        model(s.x)
    """,
    "property() as a call": """
        class State:
            def make(self):
                return torch.ones(1, 3, AT)
            x = property(make)
        model(State().x)
    """,
    "cached_property": """
        from functools import cached_property
        class State:
            @cached_property
            def x(self):
                return torch.ones(1, 3, AT)
        model(State().x)
    """,
    "descriptor": """
        class Ones:
            def __get__(self, owner, kind=None):
                return torch.ones(1, 3, AT)
        class State:
            x = Ones()
        model(State().x)
    """,
    "inherited method": """
        class Base:
            def make(self):
                return torch.ones(1, 3, AT)
        class Maker(Base):
            pass
        model(Maker().make())
    """,
    "inherited __init__": """
        class Base:
            def __init__(self):
                self.x = torch.ones(1, 3, AT)
        class State(Base):
            pass
        model(State().x)
    """,
    "super().__init__": """
        class Base:
            def __init__(self, x):
                self.x = x
        class State(Base):
            def __init__(self):
                super().__init__(torch.ones(1, 3, AT))
        model(State().x)
    """,
    "super of a method": """
        class Base:
            def make(self):
                return torch.ones(1, 3, AT)
        class Maker(Base):
            def make(self):
                return super().make() * 2
        model(Maker().make())
    """,
    "a base that calls what a subclass defines": """
        class Base:
            def run(self):
                return model(self.make())
        class Maker(Base):
            def make(self):
                return torch.ones(1, 3, AT)
        Maker().run()
    """,
    "a mixin": """
        class Runs:
            def run(self):
                return model(self.x)
        class State(Runs):
            def __init__(self):
                self.x = torch.ones(1, 3, AT)
        State().run()
    """,
    "two bases": """
        class First:
            def make(self):
                return torch.ones(1, 3, AT)
        class Second:
            def make(self):
                return torch.zeros(1, 3, device=device)
        class Both(First, Second):
            pass
        model(Both().make())
    """,
    "a diamond": """
        class Base:
            def make(self):
                return torch.zeros(1, 3, device=device)
        class Left(Base):
            pass
        class Right(Base):
            def make(self):
                return torch.ones(1, 3, AT)
        class Both(Left, Right):
            pass
        model(Both().make())
    """,
    "abstract": """
        from abc import ABC, abstractmethod
        class Base(ABC):
            @abstractmethod
            def make(self):
                ...
            def run(self):
                return model(self.make())
        class Maker(Base):
            def make(self):
                return torch.ones(1, 3, AT)
        Maker().run()
    """,
    "one of two subclasses": """
        class Base:
            def make(self):
                raise NotImplementedError
        class First(Base):
            def make(self):
                return torch.zeros(1, 3, device=device)
        class Second(Base):
            def make(self):
                return torch.ones(1, 3, AT)
        for maker in (First(), Second()):
            model(maker.make())
    """,
    "a class in a dict": """
        class Maker:
            def make(self):
                return torch.ones(1, 3, AT)
        kinds = {"maker": Maker}
        model(kinds["maker"]().make())
    """,
    "a class made by a function": """
        def build():
            class Maker:
                def make(self):
                    return torch.ones(1, 3, AT)
            return Maker
        model(build()().make())
    """,
    "a class in a class": """
        class Outer:
            class Inner:
                x = torch.ones(1, 3, AT)
        model(Outer.Inner.x)
    """,
    "setattr with a literal": """
        class State:
            pass
        s = State()
        setattr(s, "x", torch.ones(1, 3, AT))
        model(s.x)
    """,
    "setattr with a literal prefix": """
        class State:
            pass
        s = State()
        for i in range(2):
            setattr(s, f"x{i}", torch.ones(1, 3, AT))
        model(s.x1)
    """,
    "getattr with a literal prefix": """
        class State:
            def __init__(self):
                self.x0 = torch.ones(1, 3, AT)
                self.x1 = torch.ones(1, 3, AT)
        s = State()
        for i in range(2):
            model(getattr(s, f"x{i}"))
    """,
    "getattr with a literal": """
        class State:
            x = torch.ones(1, 3, AT)
        model(getattr(State(), "x"))
    """,
    "getattr with a default": """
        class State:
            pass
        model(getattr(State(), "x", torch.ones(1, 3, AT)))
    """,
    "self.__dict__": """
        class State:
            def __init__(self, **given):
                self.__dict__.update(given)
        model(State(x=torch.ones(1, 3, AT)).x)
    """,
    "vars()": """
        class State:
            def __init__(self):
                self.x = torch.ones(1, 3, AT)
        model(vars(State())["x"])
    """,
    "slots": """
        class State:
            __slots__ = ("x",)
            def __init__(self):
                self.x = torch.ones(1, 3, AT)
        model(State().x)
    """,
    "SimpleNamespace": """
        from types import SimpleNamespace
        s = SimpleNamespace(x=torch.ones(1, 3, AT))
        model(s.x)
    """,
    "__call__": """
        class Maker:
            def __call__(self):
                return torch.ones(1, 3, AT)
        model(Maker()())
    """,
    "__getitem__": """
        class Rows:
            def __getitem__(self, index):
                return torch.ones(1, 3, AT)
        model(Rows()[0])
    """,
    "__setitem__": """
        class Rows:
            def __setitem__(self, index, value):
                self.x = value
        rows = Rows()
        rows[0] = torch.ones(1, 3, AT)
        model(rows.x)
    """,
    "__getattr__": """
        class Lazy:
            def __getattr__(self, name):
                return torch.ones(1, 3, AT)
        model(Lazy().x)
    """,
    "__setattr__": """
        class State:
            def __setattr__(self, name, value):
                object.__setattr__(self, name, value)
        s = State()
        s.x = torch.ones(1, 3, AT)
        model(s.x)
    """,
    "__iter__": """
        class Rows:
            def __iter__(self):
                yield torch.ones(1, 3, AT)
        for x in Rows():
            model(x)
    """,
    "__iter__ and __next__": """
        class Rows:
            def __init__(self):
                self.n = 0
            def __iter__(self):
                return self
            def __next__(self):
                self.n += 1
                if self.n > 1:
                    raise StopIteration
                return torch.ones(1, 3, AT)
        for x in Rows():
            model(x)
    """,
    "__len__ and __getitem__ in a loop": """
        class Rows:
            def __len__(self):
                return 2
            def __getitem__(self, index):
                if index > 1:
                    raise IndexError
                return torch.ones(1, 3, AT)
        for x in Rows():
            model(x)
    """,
    "__enter__": """
        class Holder:
            def __enter__(self):
                self.x = torch.ones(1, 3, AT)
                return self
            def __exit__(self, *error):
                pass
        with Holder() as h:
            model(h.x)
    """,
    "__add__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __add__(self, other):
                return Box(self.x + other.x)
        Box(torch.ones(1, 3, AT)) + Box(torch.zeros(1, 3, device=device))
    """,
    "the result of __add__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __add__(self, other):
                return Box(self.x + other)
        model((Box(torch.ones(1, 3, AT)) + 1).x)
    """,
    "__radd__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __radd__(self, other):
                return self.x + other
        model(1 + Box(torch.ones(1, 3, AT)))
    """,
    "__iadd__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __iadd__(self, other):
                self.x = self.x + other
                return self
        box = Box(torch.ones(1, 3, AT))
        box += torch.zeros(1, 3, device=device)
    """,
    "__mul__ and __neg__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __mul__(self, factor):
                return self.x * factor
            def __neg__(self):
                return Box(-self.x)
        model((-Box(torch.ones(1, 3, AT))) * 2)
    """,
    "__matmul__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __matmul__(self, other):
                return self.x @ other
        Box(torch.ones(1, 3, AT)) @ torch.ones(3, 1, device=device)
    """,
    "__eq__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __eq__(self, other):
                return bool((self.x == other.x).all())
        Box(torch.ones(3, AT)) == Box(torch.ones(3, device=device))
    """,
    "__lt__": """
        class Box:
            def __init__(self, x):
                self.x = x
            def __lt__(self, other):
                return bool((self.x < other.x).all())
        Box(torch.ones(3, AT)) < Box(torch.ones(3, device=device))
    """,
    "__bool__": """
        class Box:
            def __bool__(self):
                return bool(model(torch.ones(1, 3, AT)).sum() > 0)
        if Box():
            pass
    """,
    "__len__": """
        class Box:
            def __len__(self):
                return len(model(torch.ones(1, 3, AT)))
        len(Box())
    """,
    "__contains__": """
        class Box:
            def __contains__(self, x):
                return bool((model(x) > 0).any())
        torch.ones(1, 3, AT) in Box()
    """,
    "__str__": """
        class Box:
            def __str__(self):
                return str(model(torch.ones(1, 3, AT)))
        print(Box())
    """,
    "__repr__ in an f-string": """
        class Box:
            def __repr__(self):
                return str(model(torch.ones(1, 3, AT)))
        f"{Box()!r}"
    """,
    "__new__": """
        class State:
            def __new__(cls):
                made = super().__new__(cls)
                made.x = torch.ones(1, 3, AT)
                return made
        model(State().x)
    """,
    "__init_subclass__": """
        class Base:
            def __init_subclass__(cls):
                cls.x = torch.ones(1, 3, AT)
        class State(Base):
            pass
        model(State.x)
    """,
    "a metaclass": """
        class Meta(type):
            @property
            def x(cls):
                return torch.ones(1, 3, AT)
        class State(metaclass=Meta):
            pass
        model(State.x)
    """,
    "a subclass of dict": """
        class Batch(dict):
            def __getattr__(self, name):
                return self[name]
        model(Batch(x=torch.ones(1, 3, AT)).x)
    """,
    "a subclass of list": """
        class Rows(list):
            def run(self):
                for x in self:
                    model(x)
        Rows([torch.ones(1, 3, AT)]).run()
    """,
    "a subclass of UserDict": """
        from collections import UserDict
        class Batch(UserDict):
            pass
        model(Batch({"x": torch.ones(1, 3, AT)})["x"])
    """,
    "dataclass": """
        from dataclasses import dataclass
        @dataclass
        class State:
            n: int
            x: torch.Tensor
        model(State(1, torch.ones(1, 3, AT)).x)
    """,
    "dataclass by keyword": """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class State:
            n: int
            x: torch.Tensor
        model(State(x=torch.ones(1, 3, AT), n=1).x)
    """,
    "dataclass with a default factory": """
        from dataclasses import dataclass, field
        @dataclass
        class State:
            x: torch.Tensor = field(default_factory=lambda: torch.ones(1, 3, AT))
        model(State().x)
    """,
    "attrs with a factory": """
        import attr
        @attr.s(auto_attribs=True)
        class State:
            x: torch.Tensor = attr.Factory(lambda: torch.ones(1, 3, AT))
            y: torch.Tensor = attr.ib(default=attr.Factory(lambda: torch.ones(1, 3, AT)))
        model(State().y)
    """,
    "dataclass with __post_init__": """
        from dataclasses import dataclass, field
        @dataclass
        class State:
            n: int
            x: torch.Tensor = field(init=False)
            def __post_init__(self):
                self.x = torch.ones(self.n, 3, AT)
        model(State(1).x)
    """,
    "dataclass with an InitVar": """
        from dataclasses import InitVar, dataclass
        @dataclass
        class State:
            given: InitVar[torch.Tensor]
            def __post_init__(self, given):
                self.x = given
        model(State(torch.ones(1, 3, AT)).x)
    """,
    "dataclass of a dataclass": """
        from dataclasses import dataclass
        @dataclass
        class Base:
            n: int
        @dataclass
        class State(Base):
            x: torch.Tensor
        model(State(1, torch.ones(1, 3, AT)).x)
    """,
    "dataclasses.replace": """
        from dataclasses import dataclass, replace
        @dataclass
        class State:
            x: torch.Tensor
        s = State(torch.zeros(1, 3, device=device))
        model(replace(s, x=torch.ones(1, 3, AT)).x)
    """,
    "dataclass with match": """
        from dataclasses import dataclass
        @dataclass
        class State:
            x: torch.Tensor
        match State(torch.ones(1, 3, AT)):
            case State(x):
                model(x)
    """,
    "NamedTuple": """
        from typing import NamedTuple
        class Row(NamedTuple):
            n: int
            x: torch.Tensor
        model(Row(1, torch.ones(1, 3, AT)).x)
    """,
    "NamedTuple unpacked": """
        from typing import NamedTuple
        class Row(NamedTuple):
            n: int
            x: torch.Tensor
        n, x = Row(1, torch.ones(1, 3, AT))
        model(x)
    """,
    "NamedTuple with a default": """
        from typing import NamedTuple
        class Row(NamedTuple):
            n: int
            x: torch.Tensor = torch.ones(1, 3, AT)
        model(Row(1).x)
    """,
    "NamedTuple._replace": """
        from typing import NamedTuple
        class Row(NamedTuple):
            x: torch.Tensor
        model(Row(torch.zeros(1, 3, device=device))._replace(x=torch.ones(1, 3, AT)).x)
    """,
    "namedtuple": """
        from collections import namedtuple
        Row = namedtuple("Row", ["n", "x"])
        model(Row(1, torch.ones(1, 3, AT)).x)
    """,
    "namedtuple by index": """
        from collections import namedtuple
        Row = namedtuple("Row", "n x")
        model(Row(1, torch.ones(1, 3, AT))[1])
    """,
    "namedtuples that zip turns": """
        from collections import namedtuple
        Row = namedtuple("Row", ("x", "y"))
        rows = [Row(torch.ones(3, AT), 1), Row(torch.ones(3, AT), 2)]
        batch = Row(*zip(*rows))
        model(torch.stack(batch.x))
    """,
    "TypedDict": """
        from typing import TypedDict
        class Row(TypedDict):
            x: torch.Tensor
        row: Row = {"x": torch.ones(1, 3, AT)}
        model(row["x"])
    """,
    "enum with a method": """
        from enum import Enum
        class Kind(Enum):
            ONES = "ones"
            ZEROS = "zeros"
            def make(self):
                if self is Kind.ONES:
                    return torch.ones(1, 3, AT)
                return torch.zeros(1, 3, device=device)
        model(Kind("ones").make())
    """,
    "enum with a table": """
        from enum import Enum
        class Kind(Enum):
            ONES = 1
            ZEROS = 2
        table = {Kind.ONES: torch.ones(1, 3, AT), Kind.ZEROS: torch.zeros(1, 3, device=device)}
        model(table[Kind.ONES])
    """,
    "enum that holds a maker": """
        from enum import Enum
        from functools import partial
        class Kind(Enum):
            ONES = partial(torch.ones, 1, 3, AT)
        model(Kind.ONES.value())
    """,
    "Protocol": """
        from typing import Protocol
        class Makes(Protocol):
            def make(self) -> torch.Tensor: ...
        class Maker:
            def make(self):
                return torch.ones(1, 3, AT)
        def run(maker: Makes):
            return model(maker.make())
        run(Maker())
    """,
    "Generic": """
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Box(Generic[T]):
            def __init__(self, x: T):
                self.x = x
        model(Box[torch.Tensor](torch.ones(1, 3, AT)).x)
    """,
    "a decorated class": """
        def registered(cls):
            return cls
        @registered
        class Maker:
            def make(self):
                return torch.ones(1, 3, AT)
        model(Maker().make())
    """,
    "a registry": """
        known = {}
        def register(name):
            def decorate(cls):
                known[name] = cls
                return cls
            return decorate
        @register("maker")
        class Maker:
            def make(self):
                return torch.ones(1, 3, AT)
        model(known["maker"]().make())
    """,
    "a lambda as a class attribute": """
        class State:
            make = staticmethod(lambda: torch.ones(1, 3, AT))
        model(State.make())
    """,
    "isinstance of the project's class": """
        class State:
            x = torch.ones(1, 3, AT)
        class Other:
            pass
        s = State() if a else Other()
        if isinstance(s, State):
            model(s.x)
    """,
    "hasattr": """
        class State:
            pass
        s = State()
        if a:
            s.x = torch.ones(1, 3, AT)
        if hasattr(s, "x"):
            model(s.x)
    """,
    "a singleton": """
        class State:
            _made = None
            @classmethod
            def get(cls):
                if cls._made is None:
                    cls._made = cls()
                    cls._made.x = torch.ones(1, 3, AT)
                return cls._made
        model(State.get().x)
    """,
    "a weak reference": """
        import weakref
        class State:
            x = torch.ones(1, 3, AT)
        s = State()
        model(weakref.ref(s)().x)
    """,
    "a pickled copy": """
        import copy
        class State:
            def __init__(self):
                self.x = torch.ones(1, 3, AT)
        model(copy.deepcopy(State()).x)
    """,
    "a subclass of Tensor": """
        class Row(torch.Tensor):
            pass
        x = torch.ones(1, 3, AT).as_subclass(Row)
        model(x)
    """,
}
