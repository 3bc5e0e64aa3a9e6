"""What an evaluation of a project knows: its state, which the functions of this room share."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from samedevice.inference.environment import Exits, Loop, Path, State, Trail
from samedevice.inference.focus import Definitions, PartialAnalysis, Target
from samedevice.inference.graph import Graph
from samedevice.inference.lattice import Lattice
from samedevice.inference.lines import Lines
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Class, Func, Instance, Scope
from samedevice.inference.sites import HandedIn, LeftOut, Site
from samedevice.inference.summaries import Record, Records
from samedevice.inference.unit_tests import Tests
from samedevice.inference.values import Arg, Const, Device, FunctionNode, Value
from samedevice.reading.project import Project

#: Nodes that may be copied for calls of what was evaluated before.
_COPIES = 30_000


def _tell_nobody(files: int) -> None:
    pass


@dataclass(eq=False)
class Context:
    """What is known so far, and where in the program the evaluation is."""

    project: Project
    program: frozenset[str] | None = None
    focus: PartialAnalysis | None = None

    # What comes out.
    graph: Graph = field(default_factory=Graph, init=False)
    sites: list[Site] = field(default_factory=list, init=False)
    files: dict[str, Scope] = field(default_factory=dict, init=False)
    modules: list[Instance] = field(default_factory=list, init=False)
    classes: list[Class] = field(default_factory=list, init=False)
    functions: list[Func] = field(default_factory=list, init=False)
    scopes: dict[FunctionNode, Scope] = field(default_factory=dict, init=False)
    all_scopes: dict[ast.AST, list[Scope]] = field(default_factory=dict, init=False)
    #: For each function, what was passed to it: the value, where it is written, and by whom.
    arguments: dict[ast.AST, list[HandedIn]] = field(default_factory=dict, init=False)
    #: Where the modules were that an evaluation of a function was given, by their parameters.
    modules_given: dict[Scope, dict[str, PlaceVar]] = field(default_factory=dict, init=False)
    #: How often each function was evaluated.
    contexts: dict[ast.AST, int] = field(default_factory=dict, init=False)
    evaluated: set[ast.AST] = field(default_factory=set, init=False)
    #: The variables of the environment that the program sets to the name of a device.
    variables: dict[object, Value] = field(default_factory=dict, init=False)
    #: Expensive arithmetic, and the file whose code asks for it.
    seeds: list[tuple[PlaceVar, Location, Scope, str]] = field(default_factory=list, init=False)
    #: The files whose code, when it runs, multiplies matrices or takes gradients.
    computing: set[str] = field(default_factory=set, init=False)
    #: The files whose code, when it runs, takes gradients.
    learning: set[str] = field(default_factory=set, init=False)
    #: Of a project of which a run is asked: the expressions of which nothing is known.
    unknown: dict[ast.expr, Location] = field(default_factory=dict, init=False)
    host_work: set[ast.AST] = field(default_factory=set, init=False)
    #: Calls of unknown code, and the tensors that they are given.
    answers: dict[ast.AST, list[PlaceVar]] = field(default_factory=dict, init=False)
    #: Tensors that ask for gradients, and values of which gradients are asked.
    leaves: list[PlaceVar] = field(default_factory=list, init=False)
    #: Where such are created.
    made_leaves: set[ast.AST] = field(default_factory=set, init=False)
    differentiated: list[PlaceVar] = field(default_factory=list, init=False)
    #: The nodes that each unit made, and the statements of functions that it evaluated.
    work: dict[Target, int] = field(default_factory=dict, init=False)
    #: The statements and calls that were evaluated when each unit began.
    begun: dict[Target, tuple[int, int]] = field(default_factory=dict, init=False)
    #: What evaluated each function.
    reached: dict[FunctionNode, set[Target]] = field(default_factory=dict, init=False)

    # Devices.
    consumed: dict[ast.AST, Device] = field(default_factory=dict, init=False)
    #: Expressions of devices that are used as such.
    meant: set[ast.AST] = field(default_factory=set, init=False)
    cpu_devices: list[Device] = field(default_factory=list, init=False)
    #: Those that options of the command line are by default: users choose others.
    by_default: list[PlaceVar] = field(default_factory=list, init=False)
    named_literals: set[ast.AST] = field(default_factory=set, init=False)
    stored_literals: set[ast.AST] = field(default_factory=set, init=False)
    #: Constants that stand for an argument: the call that left it out, and the parameter.
    left_out: dict[Const, LeftOut] = field(default_factory=dict, init=False)
    #: Where the user's choice of a device is known.
    offers: list[Location] = field(default_factory=list, init=False)
    #: Modules that go to the CPU and back.
    wandering: list[Location] = field(default_factory=list, init=False)
    #: Processes that compute with a module.
    forks: list[Location] = field(default_factory=list, init=False)
    #: What a module holds in something that is no part of it: it does not move along.
    held: list[PlaceVar] = field(default_factory=list, init=False)
    #: Modules with hooks, which see what it computes where it will be.
    awaiting: list[Instance] = field(default_factory=list, init=False)
    default_device: bool = field(default=False, init=False)
    #: Files that set a default device, and those that import them.
    defaults: set[str] = field(default_factory=set, init=False)
    #: Whether a class has a device among its names.
    class_devices: bool = field(default=False, init=False)
    #: The devices that `with torch.device(...)` makes the default here.
    inside: list[Arg] = field(default_factory=list, init=False)

    # Where the evaluation is.
    unit: Target = field(default=("", ""), init=False)
    running: list[str] = field(default_factory=list, init=False)
    stack: list[ast.AST] = field(default_factory=list, init=False)
    #: Calls that are being evaluated, with those of the files that import this one.
    nested: int = field(default=0, init=False)
    statement: ast.stmt | None = field(default=None, init=False)
    in_worker: int = field(default=0, init=False)
    #: What hands the code that runs here to another process.
    process: Location | None = field(default=None, init=False)
    in_constructor: int = field(default=0, init=False)
    guarded: int = field(default=0, init=False)
    #: What has to be chosen for this code to run on the accelerator.
    deciders: frozenset[object] = field(default=frozenset(), init=False)
    #: What functions answer that ask for an accelerator where there is none: True or False.
    answers_without: dict[FunctionNode, bool] = field(default_factory=dict, init=False)
    #: What runs only shows how a module works.
    shown: bool = field(default=False, init=False)
    tests: Tests = field(default_factory=Tests, init=False)
    #: What tests want to fail where there is no CUDA.
    refused: set[ast.AST] = field(default_factory=set, init=False)
    #: The functions that are made only where a test has found a device, and so run only there.
    made_under_test: set[ast.AST] = field(default_factory=set, init=False)
    symbolic: int = field(default=0, init=False)
    path: Path | None = field(default=None, init=False)
    workers: bool = field(default=False, init=False)
    loops: list[Loop] = field(default_factory=list, init=False)
    exits: list[Exits] = field(default_factory=list, init=False)
    #: Of each `try` whose body runs: what it raised.
    raising: list[list[Value]] = field(default_factory=list, init=False)
    #: Of each `try`: where it began, what it was left with.
    caught: list[tuple[int, list[State]]] = field(default_factory=list, init=False)
    returns: list[list[Value]] = field(default_factory=list, init=False)
    yields: list[list[Value]] = field(default_factory=list, init=False)
    #: To the generators whose bodies run because of it.
    sending: dict[ast.AST, Value] = field(default_factory=dict, init=False)

    # What is remembered.
    #: Models and tensors, by how the file is named that they are saved in.
    saved: dict[str, Value] = field(default_factory=dict, init=False)
    #: Classes of which objects are written as a whole: files may have some of earlier versions.
    pickled: set[Class] = field(default_factory=set, init=False)
    stored: dict[ast.stmt, list[str]] = field(default_factory=dict, init=False)
    function_attributes: dict[FunctionNode, dict[str, Value]] = field(
        default_factory=dict, init=False
    )
    #: Classes, and those of their attributes that are set to a library's class later on.
    set_later: set[tuple[ast.AST, str]] = field(default_factory=set, init=False)
    #: By names asked for: the most arguments that a method of the program's classes takes.
    own_methods: dict[str, float] = field(default_factory=dict, init=False)
    noted: set[ast.AST] = field(default_factory=set, init=False)
    #: The libraries of which files import all names: `from numpy import *`.
    stars: dict[str, list[str]] = field(default_factory=dict, init=False)
    read_in: dict[ast.stmt, set[str]] = field(default_factory=dict, init=False)
    declared: set[int] = field(default_factory=set, init=False)
    #: Calls of unknown code that are given a device, with its place: what they give may be there.
    placed: dict[ast.AST, PlaceVar] = field(default_factory=dict, init=False)
    #: Functions that code of which nothing is known calls.
    escaped: set[ast.AST] = field(default_factory=set, init=False)
    results: dict[object, Records] = field(default_factory=dict, init=False)
    templates: dict[object, dict[object, Record]] = field(default_factory=dict, init=False)
    #: Calls of the project's functions, and the statements in those that were evaluated.
    evaluations: int = field(default=0, init=False)
    statements: int = field(default=0, init=False)
    copies: int = field(default=_COPIES, init=False)
    sizes: dict[ast.AST, int] = field(default_factory=dict, init=False)
    signatures: dict[ast.AST, tuple[list[str], list[ast.expr | None]]] = field(
        default_factory=dict, init=False
    )
    words_of: dict[str, set[str]] = field(default_factory=dict, init=False)
    indexes_of: dict[frozenset[str], set[str]] = field(default_factory=dict, init=False)
    given: dict[ast.AST, tuple[str, ...]] = field(default_factory=dict, init=False)
    _definitions: dict[str, Definitions] = field(default_factory=dict, init=False)
    _lines: dict[str, Lines] = field(default_factory=dict, init=False)
    _placed: int = field(default=0, init=False)
    _counted: int = field(default=0, init=False)
    _told: int = field(default=0, init=False)
    _to_do: int = field(default=0, init=False)
    #: Called with how many more files are done.
    step: Callable[[int], None] = field(default_factory=lambda: _tell_nobody, init=False)

    def __post_init__(self) -> None:
        self.lattice = Lattice(self.graph)
        self.trail = Trail(lambda left, right: self.join(left, right), self.graph.joined)
        self.class_devices = self.focus is not None and self.focus.rest.class_devices

    def join(self, left: Value | None, right: Value) -> Value:
        """Return a value that may be either."""
        return self.lattice.join(left, right)

    def is_spent(self) -> bool:
        """Tell whether there were too many calls to make new templates for them."""
        return self.evaluations > 2000 + 20 * len(self.declared)
