"""What an edit touches is judged at once, as `check` judges it once it has looked at the whole."""

from __future__ import annotations

import ast
import gc
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from samedevice import inference
from samedevice.finding import Finding
from samedevice.inference.focus import PartialAnalysis, Target
from samedevice.migration import check, glance
from samedevice.migration.check import Memory
from samedevice.reading import lines, source, syntax
from samedevice.reading.config import Config
from samedevice.reading.project import Project

from .mutations import mutated

FIXTURES = Path(__file__).parents[2] / "fixtures"

LIBRARY = """\
import torch


def mask(x):
    return x * torch.ones(x.size(0))


def alone(x):
    return x + torch.zeros(x.size(0))


def last(x):
    return x - torch.eye(x.size(0))
"""
PROGRAM = """\
import torch
from library import mask

model = torch.nn.Linear(3, 3).cuda()
for _ in range(3):
    x = model(torch.rand(4, 3))
    print(mask(x).sum(), torch.rand(4, 3) + x)
"""
TEXTS = {"library.py": LIBRARY, "program.py": PROGRAM}


class Looked:
    """A project that is typed into, and which units each glance evaluated."""

    def __init__(self, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.sources = {path: source.from_text(text, path) for path, text in texts.items()}
        self.memory = Memory()
        self.glances = glance.Glances()
        self.is_whole = False
        self.config = Config()
        self.units: list[frozenset[Target]] = []
        infer = inference.infer

        def watched(*args, **options):  # type: ignore[no-untyped-def]
            focus = args[3] if len(args) > 3 else None
            if isinstance(focus, PartialAnalysis):
                self.units.append(focus.units)
            return infer(*args, **options)

        monkeypatch.setattr(inference, "infer", watched)
        self.check()

    def project(self) -> Project:
        return Project(self.sources.values())

    def check(self) -> list[Finding]:
        return check.check(self.project(), self.config, memory=self.memory)

    def edit(self, path: str, old: str, new: str) -> list[Finding] | None:
        text = self.sources[path].text
        assert old in text
        self.sources[path] = source.from_text(text.replace(old, new), path)
        return self.glance()

    def glance(self) -> list[Finding] | None:
        found = glance.glance(self.project(), self.config, self.memory, self.glances)
        self.is_whole = found is not None and found.is_whole
        return found.findings if found is not None else None


def told(findings: list[Finding] | None) -> list[tuple[object, ...]]:
    """Return what an editor shows of findings."""
    assert findings is not None
    return [(one.path, one.span, one.rule, one.message, one.origins) for one in findings]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    return Looked(TEXTS, monkeypatch)


def test_only_the_definition_that_changed_is_judged(looked: Looked) -> None:
    found = looked.edit("library.py", "x + torch.zeros(x.size(0))", "x.exp()\n")
    assert set(looked.units) == {frozenset({("library.py", "alone")})}
    assert told(found) == told(looked.check())
    assert sum(one.path == "library.py" for one in found or ()) == 2


def test_an_edit_that_changes_nothing_elsewhere_is_judged_as_the_whole(looked: Looked) -> None:
    looked.edit("library.py", "x + torch.zeros(x.size(0))", "x + 1\n")
    assert looked.is_whole and len(looked.units) == 2  # before the edit, too
    found = looked.edit("library.py", "x + 1\n", "x + torch.zeros(2)\n")
    assert looked.is_whole and len(looked.units) == 3  # what was there before is known
    assert told(found) == told(looked.check())


HELPED = """\
import torch


def helper(x):
    return x + torch.ones(3)


def one(x):
    return helper(x.cpu())


def two(x):
    return x * torch.eye(3)


def main():
    x = torch.rand(3).cuda()
    for _ in range(3):
        x = two(x) @ x + two(x).exp()
    print(two(x), x + torch.ones(3).cuda())
"""


@pytest.mark.parametrize(
    "old, new",
    [
        ("x.cpu()", "x.cuda()"),  # another caller of the helper hands it something else
        ("return helper(x.cpu())", "return x"),  # one caller less
        ("return helper(x.cpu())", "torch.set_default_device('cuda')"),
        ("(x.cpu())", "(x.cpu())  # samedevice: ignore[dropped-move]"),
        ("return helper(x.cpu())", "global y; y = x"),
        ("def one(x)", "def one(x, y=0)"),  # its callers may say more
    ],
)
def test_an_edit_that_may_change_something_elsewhere_waits_for_the_whole(
    looked: Looked, old: str, new: str
) -> None:
    looked.sources["library.py"] = source.from_text(HELPED, "library.py")
    looked.sources["program.py"] = source.from_text("import torch, library\n", "program.py")
    looked.check()
    looked.edit("library.py", "two(x).exp()", "two(x).sin()")
    looked.check()
    assert looked.edit("library.py", old, new) is not None
    assert not looked.is_whole


LAYERS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.pool = torch.nn.AvgPool1d(3)
        self.scale = torch.ones(3)

    def forward(self, x):
        return self.pool(self.layer(x) * self.scale)
"""


def test_which_layers_a_module_has_is_its_own_affair(looked: Looked) -> None:
    """What a layer is called, and a tensor beside it, says nothing of the program as a whole."""
    looked.sources["layers.py"] = source.from_text(LAYERS, "layers.py")
    program = PROGRAM.replace("mask\n", "mask\nfrom layers import Net\n")
    looked.sources["program.py"] = source.from_text(program + LIBRARY, "program.py")
    looked.check()
    for old, new in (("AvgPool1d(3)", "Identity()"), ("torch.ones(3)", "torch.eye(3)")):
        found = looked.edit("layers.py", old, new)
        assert looked.is_whole and told(found) == told(looked.check())


def test_what_is_found_elsewhere_moves_along(looked: Looked) -> None:
    before = looked.check()
    found = looked.edit("library.py", "def alone(x):\n", "def alone(x):\n    x = x + 1\n")
    assert told(found) == told(looked.check()) != told(before)
    assert len(before) == len(found or ()) == 6
    moved = [one for one in found or () if "eye" in one.message]
    assert moved[0].span.line == 14 and moved[0].fix is None


MADE = """\
import torch


def made():
    return torch.rand(3)


def used():
    return made().numpy()
"""


def test_what_goes_wrong_or_right_in_its_callers_is_told_at_first(looked: Looked) -> None:
    looked.sources["library.py"] = source.from_text(MADE, "library.py")
    looked.sources["program.py"] = source.from_text("import library\n" + HELPED, "program.py")
    before = looked.check()
    for old, new in (("rand(3)", "rand(3).cuda()"), ("rand(3).cuda()", "\\\nrand(3)")):
        found = looked.edit("library.py", old, new)
        assert told(found) == told(looked.check()) != told(before)
        before = found or []


CHOSEN = """\
import torch


def main():
    x = torch.zeros(3).to(device)
    model = torch.nn.Linear(3, 3).cuda()
    return model(x)
"""


def test_what_an_edit_takes_away_decides_nothing_more(looked: Looked) -> None:
    """While code moves something to a device that is chosen elsewhere, no other is defined."""
    looked.sources["library.py"] = source.from_text(CHOSEN, "library.py")
    looked.sources["program.py"] = source.from_text("import library\n" + HELPED, "program.py")

    def unfixed(found: list[Finding] | None) -> list[tuple[str, str]]:
        return [(one.rule, one.unfixed) for one in found or ()]

    before = unfixed(looked.check())
    found = unfixed(looked.edit("library.py", "zeros(3).to(device)", "zeros(3)"))
    assert found == unfixed(looked.check()) != before


def test_who_calls_it_is_evaluated_too(looked: Looked) -> None:
    calls = "\n\n".join(f"def f{n}(x):\n    return x @ torch.eye({n})" for n in range(30))
    looked.sources["program.py"] = source.from_text(PROGRAM + calls, "program.py")
    looked.check()
    found = looked.edit("library.py", "torch.ones(x.size(0))", "torch.full((3,), 2.0)")
    assert set(looked.units) == {frozenset({("library.py", "mask"), ("program.py", "")})}
    assert told(found) == told(looked.check())
    (one,) = (one for one in found or () if "full" in one.message)
    assert one.rule == "tensor-not-on-input-device"


def test_statements_between_definitions_are_judged_with_all_of_the_file(looked: Looked) -> None:
    program = PROGRAM.replace("from library import mask", "import a")
    texts = {"a.py": LIBRARY, "b.py": LIBRARY + program}
    looked.sources = {path: source.from_text(text, path) for path, text in texts.items()}
    looked.check()
    found = looked.edit("a.py", "def mask", "SIZE = 3\n\n\ndef mask")
    assert {path for path, _ in looked.units[-1]} == {"a.py"}
    assert ("a.py", "") in looked.units[-1] and told(found) == told(looked.check())


def test_a_comment_above_a_definition_counts(looked: Looked) -> None:
    comment = "# samedevice: ignore[tensor-not-on-input-device]\n"
    code = "    return x + torch.zeros"
    found = looked.edit("library.py", code, "    " + comment + code)
    assert told(found) == told(looked.check())
    assert not any("zeros" in one.message for one in found or ())


def test_there_is_no_glance_without_a_look_before(looked: Looked) -> None:
    assert looked.glance() is None  # nothing has changed
    assert (
        looked.edit("library.py", "import torch\n", "import torch as torch\n") is None
    )  # all of it
    assert looked.edit("library.py", "import torch as torch\n", "import torch\n") is None
    assert looked.edit("library.py", "def alone(x):", "def alone(x:") is None  # does not parse
    looked.edit("library.py", "def alone(x:", "def alone(y, x):")
    looked.config = Config(ignore=("tensor-not-on-input-device",))
    assert looked.glance() is None  # other settings
    assert not any(one.rule == "tensor-not-on-input-device" for one in looked.check())
    looked.sources["new.py"] = source.from_text("import torch\n", "new.py")
    assert looked.glance() is None  # another file
    looked.check()
    imports = "import torch\nimport new"
    assert looked.edit("library.py", "import torch", imports) is None  # another program


def test_only_what_changed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A glance costs what its edit touches: no file is walked that it does not evaluate."""
    others = {f"other_{n}.py": f"import library\n\nuses_cuda = {n} > 0\n" for n in range(3)}
    speaks = LIBRARY + "\n\ndef more(x):\n    return x.cuda()\n"
    looked = Looked({**TEXTS, "library.py": speaks, **others}, monkeypatch)
    walked: list[ast.AST] = []
    for name in ("walk", "statements"):
        read = getattr(syntax, name)
        monkeypatch.setattr(syntax, name, lambda tree, read=read: walked.append(tree) or read(tree))
    for old, new in (("x + torch.zeros", "x + torch.ones"), ("x + torch", "x * torch")):
        walked.clear()
        assert looked.edit("library.py", old, new) is not None
        trees = {looked.sources[path].tree: path for path in looked.sources}
        seen = {trees[tree] for tree in walked if tree in trees}
        assert "library.py" in seen and not seen & set(others)


def test_a_glance_leaves_no_garbage(looked: Looked) -> None:
    gc.collect()
    gc.disable()
    try:
        for number in range(4):
            new = f"def alone(x):\n    x = x + {number}\n"
            assert looked.edit("library.py", "def alone(x):\n", new) is not None
        assert gc.collect() < 500
    finally:
        gc.enable()


def test_typing_keeps_no_text_but_the_last(looked: Looked) -> None:
    """What a file says is read once for each of its trees, and goes with the tree.

    Counted are all nodes of all trees that are left: a session may last for days.
    """
    moved = (
        "def move(batch, device):\n    if isinstance(batch, torch.Tensor):\n"
        "        return batch.to(device)\n    return [move(each, device) for each in batch]\n"
    )
    asks = "def main():\n    assert torch.cuda.is_available()\n    x = torch.rand(3).cuda()\n"
    calls = "    print(move([x], 'cuda'), somewhere, alone(x))\n"
    text = f"from os.path import *\n{LIBRARY}\n\n{moved}\n\n{asks}{calls}\n\nmain()\n"
    looked.sources["library.py"] = source.from_text(text, "library.py")
    looked.check()
    left = []
    for number in range(100, 180):
        old = f"n = {number - 1}\n    x" if number > 100 else "x"
        looked.edit("library.py", f"{old} = torch.rand(3)", f"n = {number}\n    x = torch.rand(3)")
        if number % 4 == 3:
            looked.check()
        if number in (119, 179):
            gc.collect()
            left.append(sum(isinstance(each, ast.AST) for each in gc.get_objects()))
    assert left[1] <= left[0]


def test_most_edits_at_random_are_judged_at_a_glance_as_by_a_whole_check() -> None:
    """Where nearly all is: the findings of the file that is typed into, with all that is told."""
    random_ = random.Random(11)
    glances = right = wholes = 0
    for before in sorted(FIXTURES.glob("projects/*/before")):
        sources = {
            path.as_posix(): source.read(path.as_posix()) for path in sorted(before.rglob("*.py"))
        }
        memory, config, known = Memory(), Config(), glance.Glances()
        check.check(Project(sources.values()), config, memory=memory)
        for _ in range(40):
            path = random_.choice([*sources])
            old = sources[path]
            sources[path] = source.from_text(mutated(old.text, random_), path)
            project = Project(sources.values())
            if project.tree(path) is None:
                sources[path] = old
                continue
            found = glance.glance(project, config, memory, known)
            whole = check.check(Project(sources.values()), config, memory=memory)
            if found is not None:
                glances += 1
                own = [one for one in told(found.findings) if one[0] == path]
                right += own == [one for one in told(whole) if one[0] == path]
                if found.is_whole:
                    wholes += 1
                    assert told(found.findings) == told(whole)
    assert glances > 100
    assert wholes > 50
    assert right >= 0.96 * glances  # what other files read of a settings file waits for the whole


def test_typing_without_rest_is_judged_from_glance_to_glance(looked: Looked) -> None:
    """A glance evaluates what is typed into, and not all that has changed since the last whole."""
    looked.sources["other.py"] = source.from_text("import torch, library\n" + PROGRAM, "other.py")
    looked.check()
    alone, last = frozenset({("library.py", "alone")}), frozenset({("library.py", "last")})
    edits = (("x + ", "x + 1 + ", alone), ("x - ", "x - 1 - ", last))
    for number, (old, new, units) in enumerate(edits * 3):
        looked.units.clear()
        found = looked.edit("library.py", old, new)
        assert looked.is_whole and set(looked.units) == {units}, number
        fresh = check.check(looked.project(), looked.config)
        assert told(found) == told(fresh)


def test_most_edits_at_random_without_rest_are_judged_as_by_a_whole_check() -> None:
    """Glances that stand for the whole do so one upon the other, too."""
    random_ = random.Random(5)
    wholes = chained = 0
    for before in sorted(FIXTURES.glob("projects/*/before")):
        sources = {
            path.as_posix(): source.read(path.as_posix()) for path in sorted(before.rglob("*.py"))
        }
        memory, config, known = Memory(), Config(), glance.Glances()
        check.check(Project(sources.values()), config, memory=memory)
        since = 0
        for _ in range(40):
            path = random_.choice([*sources])
            old = sources[path]
            sources[path] = source.from_text(mutated(old.text, random_), path)
            project = Project(sources.values())
            if project.tree(path) is None:
                sources[path] = old
                continue
            found = glance.glance(project, config, memory, known)
            if found is None or not found.is_whole:
                check.check(project, config, memory=memory)
                since = 0
                continue
            wholes, since = wholes + 1, since + 1
            chained += since > 1
            assert told(found.findings) == told(check.check(Project(sources.values()), config))
    assert wholes > 40 and chained > 15


@pytest.mark.parametrize("seed", range(20))
def test_lines_that_stay_are_known_where_they_are(seed: int) -> None:
    random_ = random.Random(seed)
    old = [random_.choice("abcdef") for _ in range(30)]
    new = list(old)
    for _ in range(4):
        at = random_.randrange(len(new))
        new[at : at + random_.randrange(2)] = random_.choices("abcdef", k=random_.randrange(3))
    kept = lines.kept("\n".join(old), "\n".join(new))
    assert all(old[line - 1] == new[now - 1] for line, now in kept.items())
    places_now = [kept[line] for line in sorted(kept)]
    assert places_now == sorted(set(places_now))
    assert len(kept) >= 20
    assert lines.kept("a", "a") == {1: 1} and lines.kept("a\n", "b") == {}


def test_a_project_that_is_judged_in_parts_is_judged_at_a_glance_as_well(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Project, "is_large", lambda self, limit=0: True)
    looked.sources["another.py"] = source.from_text(PROGRAM.split("for")[0], "another.py")
    looked.sources["apart.py"] = source.from_text("import torch\n", "apart.py")
    looked.check()
    for new in ("x - 1\n", "x - torch.rand(x.size(0))\n"):
        found = looked.edit("library.py", "x + torch.zeros(x.size(0))", new)
        assert looked.is_whole and told(found) == told(looked.check())
        looked.edit("library.py", new, "x + torch.zeros(x.size(0))")
        looked.check()


SHELF = """\
import torch


class Shelf:
    def __init__(self):
        self.layer = torch.nn.Linear(3, 3)


shelf = Shelf()
"""


def test_what_others_do_to_it_holds_as_before(looked: Looked) -> None:
    """What a look did not see in the text before, and the whole did, it does not see now, too."""
    looked.sources["shelf.py"] = source.from_text(SHELF, "shelf.py")
    program = PROGRAM.replace("mask\n", "mask\nfrom shelf import shelf\n")
    program += "print(shelf.layer(x))\n" + LIBRARY
    looked.sources["program.py"] = source.from_text(program, "program.py")
    looked.check()
    layer = "        self.layer"
    for old, new in ((layer, f"        # one\n{layer}"), ("\n\nshelf", "\nn = 1\nshelf")):
        found = looked.edit("shelf.py", old, new)
        assert all(path == "shelf.py" for path, _ in looked.units[-1])
        assert told(found) == told(looked.check())
        assert any(one.path == "shelf.py" for one in found or ())


def test_no_file_that_stayed_is_walked_again(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file's tree says is kept with it: a glance takes no longer in a larger program."""
    looked.sources["far.py"] = source.from_text(
        LIBRARY + "\n\nclass Far:\n    def numel(self):\n        return 3\n", "far.py"
    )
    looked.sources["program.py"] = source.from_text("import far\n" + PROGRAM, "program.py")
    looked.check()
    looked.edit("library.py", "x + torch.zeros(x.size(0))", "x + torch.zeros(x.numel())")
    walk_all, walked = syntax.walk_all, []

    def watched(trees: Iterable[ast.AST]) -> list[ast.AST]:
        trees = list(trees)
        walked.extend(trees)
        return walk_all(trees)

    monkeypatch.setattr(syntax, "walk_all", watched)
    looked.edit("library.py", "x + torch.zeros(x.numel())", "x - torch.ones(x.numel())")
    assert looked.is_whole and walked
    assert looked.sources["far.py"].tree not in walked
    assert looked.sources["program.py"].tree not in walked
