"""What keeps code on machines with CUDA: where some of it stays, the rest serves nobody."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from samedevice import syntax, torchfacts
from samedevice.finding import Finding
from samedevice.places import demands
from samedevice.places.forced import forced
from samedevice.places.programs import Programs, is_main
from samedevice.project import Project
from samedevice.verify.course import Class, Code, Course, defaults

#: Rules about what raises on a machine without CUDA, and those whose fixes serve only those.
_NEEDING = frozenset(("cuda-only-api", "hard-coded-device", "processes-tied-to-cuda"))
_SERVING = _NEEDING | frozenset(("amp-tied-to-cuda", "cuda-branch", "load-without-map-location"))
#: What a call of `torch.utils.cpp_extension` says that compiles for CUDA.
_COMPILES = re.compile(r"\b(extra_cuda_cflags|cuda_sources)\s*=|\bwith_cuda\s*=\s*True")
#: What is told of lines that nothing could be said about, and what of them raises for certain.
_LEFT = "cuda-not-judged"
_RAISING = frozenset(("backend", "call", "move", "type"))
_STAYS = "is not repaired, and needs CUDA"
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_STATIC = frozenset(("staticmethod", "classmethod"))


def half_done(
    project: Project, left: Iterable[Finding], applied: Sequence[Finding]
) -> Iterator[tuple[list[Finding], str]]:
    """Yield the fixes that would make half of some code run without CUDA, and what stays.

    `left` are the findings that nobody repairs. Only what code certainly comes to counts: a
    script, the import of a file, a function, an object's making. A demand for CUDA that says why
    stays, too, and so does a library that is built for CUDA. A file that scripts share is served
    for the sake of those that need none.
    """
    serving: dict[str, list[Finding]] = {}
    for finding in applied:
        if finding.rule in _SERVING:
            serving.setdefault(finding.path, []).append(finding)
    if not serving:
        return
    programs = Programs(project, None)
    lines: dict[str, set[int]] = {}
    for finding in left:
        if finding.rule in _NEEDING and finding.level != "note" or _is_forced(programs, finding):
            lines.setdefault(finding.path, set()).add(finding.span.line)
    built = frozenset(_built_for_cuda(project))
    for program in sorted({programs.of(path) for path in serving}, key=min):
        needs = _Needs(programs, program, lines, built)
        for path in sorted(program & serving.keys()) if needs else ():
            whole = needs.of_file(path)
            if whole:
                yield serving[path], whole
                continue
            for finding in serving[path]:
                reason = needs.around(path, finding.span.line)
                if reason:
                    yield [finding], reason


def _is_forced(programs: Programs, finding: Finding) -> bool:
    """Tell whether a line that is left alone raises without CUDA, by its text alone."""
    if finding.rule != _LEFT:
        return False
    tree, parents = programs.tree(finding.path), programs.parents(finding.path)
    return any(
        asked.kind in _RAISING
        or asked.kind == "name"  # and no default, nor an entry of a table
        and isinstance(parents.get(asked.node), (ast.Call, ast.Assign))
        for asked in forced(tree, parents)
        if asked.node.lineno == finding.span.line
    )


class _Needs:
    """Where the code of a program certainly needs CUDA."""

    def __init__(
        self,
        programs: Programs,
        program: frozenset[str],
        left: dict[str, set[int]],
        built: frozenset[str],
    ) -> None:
        self._programs, self._program, self._left = programs, program, left
        self._course = Course(programs)
        self._built = built | torchfacts.built_for_cuda()
        self._words = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(self._built))) + r")\b")
        self._known: dict[Code, str] = {}
        self._lines = {path: found for path in program if (found := self._needing(path))}

    def __bool__(self) -> bool:
        return bool(self._lines)

    def of_file(self, path: str) -> str:
        """Return why all that runs a file needs CUDA, "" if something does not."""
        imported = self._of(self._course.module(path))
        if imported:
            return imported
        reasons = [
            self._of(self._course.module(script, is_script=True))
            for script, files in self._runs
            if path in files
        ]
        return reasons[0] if reasons and all(reasons) else ""

    def around(self, path: str, line: int) -> str:
        """Return why the functions or classes around a line need CUDA, "" if they do not."""
        body: list[ast.stmt] = list(self._programs.tree(path).body)
        cls: Class | None = None
        while True:
            node = next((n for n in body if n.lineno <= line <= (n.end_lineno or 0)), None)
            if isinstance(node, _FUNCTION):
                reason = self._inside(Code(path, node, cls))
                if reason:
                    return reason
                cls = None
            elif isinstance(node, ast.ClassDef):
                cls = Class(path, node)
            elif node is None:
                return ""
            body = [each for each in syntax.statements(node) if each is not node]

    def _inside(self, code: Code) -> str:
        """Return why a function needs CUDA: itself, or the making of its object."""
        reason = self._of(code) or self._default(code)
        if code.of is not None and isinstance(code.node, _FUNCTION) and not _is_static(code.node):
            made = map(self._of, self._course.building(code.of))
            reason = reason or next(filter(None, made), "")
        return reason

    @cached_property
    def _runs(self) -> list[tuple[str, frozenset[str]]]:
        """The scripts of the program, each with the files that run when it does."""
        runs = dict(self._programs.runs(self._program))
        for path in sorted(self._program - runs.keys()):  # others import it, too
            if any(map(is_main, self._programs.tree(path).body)):
                runs[path] = self._program & (self._programs.reached_from(path) | {path})
        return list(runs.items())

    def _of(self, code: Code) -> str:
        """Return why some code needs CUDA, "" if it may not."""
        if code not in self._known:
            found = (
                self._reason(path, line)
                for path, line in self._course.lines(code)
                if line in self._lines.get(path, ())
            )
            self._known[code] = next(found, "")
        return self._known[code]

    def _default(self, code: Code) -> str:
        """Return what a parameter of a function needs, where no call gives it something else."""
        lines = self._lines.get(code.path, {})
        for name, default in defaults(code).items():
            if default.lineno in lines and not self._is_given(name, code):
                return self._reason(code.path, default.lineno)
        return ""

    def _is_given(self, name: str, code: Code) -> bool:
        assert not isinstance(code.node, ast.Module)
        called = code.of.node.name if code.of and code.node.name == "__init__" else code.node.name
        names = [arg.arg for arg in (*code.node.args.posonlyargs, *code.node.args.args)]
        place = names.index(name) - (code.of is not None) if name in names else None
        for path in self._program:
            if called not in self._programs.project.sources[path].text:
                continue
            for node in syntax.walk(self._programs.tree(path)):
                if isinstance(node, ast.Call) and _last(node.func) == called:
                    if any(keyword.arg == name for keyword in node.keywords):
                        return True
                    if place is not None and len(node.args) > place:
                        return True
        return False

    def _reason(self, path: str, line: int) -> str:
        what = self._lines[path][line]
        return f"{os.path.basename(path)}:{line} {what}"

    def _needing(self, path: str) -> dict[int, str]:
        """Return the lines of a file that need CUDA, each with what it says of that."""
        known = self._programs.project.sources.get(path)
        if known is None:
            return {}
        tree = self._programs.tree(path)
        found = dict.fromkeys(self._left.get(path, ()), _STAYS)
        if "is_available()" in known.text:
            found.update((node.lineno, _STAYS) for node in demands.believed(tree))
        if self._words.search(known.text):
            for statement in syntax.statements(tree):
                for module in _modules(statement):
                    if self._is_built(path, module):
                        said = f"imports {module}, which is built for CUDA"
                        found.setdefault(statement.lineno, said)
        if _COMPILES.search(known.text):
            for node in syntax.walk(tree):
                if isinstance(node, ast.Call) and _last(node.func) in ("load", "load_inline"):
                    if _COMPILES.search(ast.unparse(node)):
                        found.setdefault(node.lineno, "compiles code for CUDA")
        return found

    def _is_built(self, path: str, module: str) -> bool:
        named = {module, module.partition(".")[0]}
        return bool(named & self._built) and self._programs.project.resolve(path, module) is None


def _built_for_cuda(project: Project) -> Iterator[str]:
    """Yield the modules that a project compiles for CUDA, and that it has no other build of."""
    for path, source in project.sources.items():
        if "CUDAExtension" not in source.text:
            continue
        if "CppExtension" in source.text and "raise" not in source.text:
            continue  # which is built without CUDA
        for node in syntax.walk(project.tree(path) or ast.Module([], [])):
            if isinstance(node, ast.Call) and _last(node.func).lower().endswith("extension"):
                named = next((k.value for k in node.keywords if k.arg == "name"), None)
                match named or next(iter(node.args), None):
                    case ast.Constant(value=str(name)):
                        yield name


def _modules(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return (
        [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
    )


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(_last(each) in _STATIC for each in node.decorator_list)


def _last(node: ast.expr) -> str:
    return syntax.dotted(node).rpartition(".")[2]
