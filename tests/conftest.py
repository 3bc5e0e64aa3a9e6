"""Toy rules that make any situation at will, and what a run has to say about skipped tests."""

import ast
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from samedevice import inference, repair, rules
from samedevice.finding import Edit, Finding, Fix, Origin, Resolver, Span
from samedevice.inference.bonds import Bonds
from samedevice.inference.missing import NOTHING_MISSING
from samedevice.migration import check
from samedevice.reading.project import Project
from samedevice.reading.source import Source
from samedevice.rules import Rule
from samedevice.verify import beside

# A shell that runs the tests in the background has its children ignore Ctrl-C, which some test.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Widths and colours are tested on a terminal that has them, wherever the tests run.
os.environ["TERM"] = "xterm"
# Kernels in C++ are built where a test is about them; many tests have a home folder of their own.
os.environ.setdefault("SAMEDEVICE_VIRTUAL_COMPILED", "0")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped or failed as expected: one line for each reason, with its files."""
    for kind in ("skipped", "xfailed"):
        found: dict[str, Counter[str]] = {}
        for report in terminalreporter.stats.get(kind, ()):
            if kind == "skipped":
                reason = str(report.longrepr[-1]).removeprefix("Skipped: ")
                reason = re.sub(r"could not import '(\S+)': .*", r"needs \1", reason)
            else:
                reason = "known not to pass yet"
            found.setdefault(reason, Counter())[report.nodeid.partition("::")[0]] += 1
        if found:
            terminalreporter.section(kind, sep="=", bold=True)
        for reason, files in sorted(found.items(), key=lambda one: -one[1].total()):
            places = ", ".join(sorted(files)[:3]) + (", ..." if len(files) > 3 else "")
            terminalreporter.line(f"{files.total():5} {reason} ({places})")


def calls(project: Project, name: str) -> Iterator[tuple[Source, ast.Call]]:
    """Yield the calls of `name` in a project."""
    for source in project.sources.values():
        tree = project.tree(source.path)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
                yield source, node


def zeros(project: Project) -> Iterator[Finding]:
    """A safe fix in one place, with a resolver."""
    for source, node in calls(project, "torch.zeros"):
        if not any(keyword.arg == "device" for keyword in node.keywords):
            span = source.span(node)
            edit = Edit(source.path, span, "keyword", (("name", "device"), ("value", "device")))
            fix = Fix((edit,), resolvers=(Resolver(source.path, "device"),))
            origin = Origin(source.path, Span(1, 0, 1, 1), "the file starts")
            message = "this tensor is created on the CPU"
            yield Finding(source.path, span, "zeros", message, (origin,), fix)


def empty(project: Project) -> Iterator[Finding]:
    """An unsafe fix."""
    for source, node in calls(project, "torch.empty"):
        if not node.keywords:
            span = source.span(node)
            edit = Edit(source.path, span, "keyword", (("name", "device"), ("value", "'cpu'")))
            fix = Fix((edit,), safe=False, reason="the numbers are others")
            yield Finding(source.path, span, "empty", "this tensor is anywhere", fix=fix)


def mystery(project: Project) -> Iterator[Finding]:
    """No fix."""
    for source, node in calls(project, "mystery"):
        yield Finding(
            source.path, source.span(node), "mystery", "who knows", unfixed="it is not known"
        )


def remark(project: Project) -> Iterator[Finding]:
    """A note, which asks for nothing."""
    for source, node in calls(project, "remark"):
        yield Finding(source.path, source.span(node), "remark", "all is well", level="note")


def together(project: Project) -> Iterator[Finding]:
    """One fix over all files that call `torch.full`; a second argument of 13 makes it wrong."""
    edits = []
    for source, node in calls(project, "torch.full"):
        if not node.keywords:
            args = ("name", "device"), ("value", "'cpu'")
            edits.append(Edit(source.path, source.span(node), "keyword", args))
            last = node.args[-1]
            if isinstance(last, ast.Constant) and last.value == 13:
                edits.append(Edit(source.path, source.span(last), "replace", (("code", "14"),)))
    if edits:
        yield Finding(edits[0].path, edits[0].span, "together", "all or none", fix=Fix((*edits,)))


def restless(project: Project) -> Iterator[Finding]:
    """A fix that never has enough."""
    for source, node in calls(project, "torch.ones"):
        span = source.span(node)
        move = f".to('cuda:{source.text.count('.to(')}')"  # another one in each round
        fix = Fix((Edit(source.path, span, "method", (("code", move),)),))
        yield Finding(source.path, span, "restless", "not yet", fix=fix)


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the toy rules in place of the real ones."""
    finds: list[Callable[[Project], Iterator[Finding]]]
    finds = [zeros, empty, mystery, remark, together, restless]
    known = {
        find.__name__: Rule(
            name=find.__name__,
            summary=str(find.__doc__),
            doc=f"{find.__doc__}\n\n    torch.{find.__name__}()\n",
            find=find,  # type: ignore[arg-type]  # the toys read the project itself
        )
        for find in finds
    }
    monkeypatch.setattr(rules, "load", lambda: known)

    def infer(project: Project, program: frozenset[str], *_: object, **__: object) -> Project:
        first = min(project.about_torch)
        return project if first in program else project.like(())  # once is enough

    monkeypatch.setattr(inference, "infer", infer)
    # what stands in for a solution is asked and told to let go, as one is
    monkeypatch.setattr(repair, "rest", lambda project: None)
    monkeypatch.setattr(Project, "release", lambda project: None, raising=False)
    monkeypatch.setattr(
        Project, "incomplete", lambda project, found: [NOTHING_MISSING] * len(found), raising=False
    )
    watcher = SimpleNamespace(doubts=lambda *_: {})
    monkeypatch.setattr(Project, "watcher", watcher, raising=False)
    monkeypatch.setattr(check, "tally", lambda project: {})
    monkeypatch.setattr(beside, "bonds", lambda project: Bonds())
    monkeypatch.setattr(beside, "staying", lambda project: ())
    monkeypatch.setattr(beside, "nameless", lambda *_: ())
    policy = SimpleNamespace(for_the_cpu=frozenset())
    monkeypatch.setattr(Project, "policy", policy, raising=False)
