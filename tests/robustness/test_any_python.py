"""Whatever is valid Python: samedevice neither stops on it nor changes its mind about it."""

from __future__ import annotations

import ast
import keyword
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

hypothesis = pytest.importorskip("hypothesis")
hypothesmith = pytest.importorskip("hypothesmith")
from hypothesis import HealthCheck, Phase, assume, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from samedevice.migration import migrate  # noqa: E402
from samedevice.reading.config import Config  # noqa: E402

from .limit import limit  # noqa: E402

SECONDS = 30
ANYTIME = settings(
    deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)
WHOLE = "from __future__ import"  # has to come first


def rests(text: str, folder: Path) -> None:
    """Assert that a fix of `text` parses, and that a second one changes nothing."""
    try:
        ast.parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        assume(False)
    file = folder / "anything.py"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    for turn in range(2):
        with limit(SECONDS):
            outcome = migrate.migrate(migrate.read([str(file)], Config()), Config())
        assert not (turn and outcome.changes), f"a second run changes it:\n{text}"
        for change in outcome.changes:
            assert "torch" in text, f"there is no torch in it:\n{text}"
            ast.parse(change.after)
        migrate.apply(outcome)


def with_torch(text: str) -> str:
    """Return `text` with tensors in its variables, so that the inference looks at all of it."""
    names: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and node.id not in names and node.id.isidentifier():
                names.append(node.id)
    names = [name for name in names if not keyword.iskeyword(name) and name != "__debug__"][:4]
    head = ["import torch", 'device = "cuda" if torch.cuda.is_available() else "cpu"']
    head += [f"{name} = torch.zeros(2).to(device)" for name in names[::2]]
    head += [f"{name} = torch.zeros(2)" for name in names[1::2]]
    return "\n".join(head) + "\n" + text


@pytest.mark.parametrize("target", ["()", "[]", "(a, ())", "*a, ()"])
@pytest.mark.parametrize(
    "text", ["{} = f()", "for {} in f(): pass", "with f() as ({}): pass", "[0 for {} in f()]"]
)
def test_targets_without_a_name(text: str, target: str, tmp_path: Path) -> None:
    rests("import torch\n" + text.replace("{}", target), tmp_path)


@st.composite
def torch_python(draw: st.DrawFn) -> str:
    """Draw Python by its grammar, about tensors."""
    text: str = draw(hypothesmith.from_node())
    assume(WHOLE not in text)
    try:
        return with_torch(text)
    except (ValueError, SyntaxError, RecursionError):
        assume(False)
    raise AssertionError


@settings(ANYTIME, max_examples=15, derandomize=True, phases=[Phase.generate])
@given(text=torch_python())
def test_a_few(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    rests(text, tmp_path_factory.mktemp("any"))


@pytest.mark.slow
@settings(ANYTIME, max_examples=400)
@given(text=st.one_of(hypothesmith.from_node(), torch_python()))
def test_by_node(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    rests(text, tmp_path_factory.mktemp("any"))


def _generated(count: int) -> Iterator[str]:
    pysource_codegen = pytest.importorskip("pysource_codegen")
    for seed in range(count):
        yield pysource_codegen.generate(seed, node_limit=300, depth_limit=6)


@pytest.mark.slow
def test_by_codegen(tmp_path: Path) -> None:
    done = 0
    for text in _generated(300):
        for version in (text, *([with_torch(text)] if WHOLE not in text else [])):
            try:
                rests(version, tmp_path)
            except hypothesis.errors.UnsatisfiedAssumption:
                continue
            done += 1
    assert done > 100
