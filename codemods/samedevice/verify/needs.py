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


class Halves:
    """What would make half of some code of a project run without CUDA, while the rest needs it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._programs = Programs(project, None)
        self._course = Course(self._programs)
        self._lines: dict[str, dict[int, str]] = {}
        self._raises: dict[str, set[int]] = {}

    def found(
        self, left: Iterable[Finding], applied: Sequence[Finding], early: bool = False
    ) -> Iterator[tuple[list[Finding], str]]:
        """Yield the fixes that would make half of some code run without CUDA, and what stays.

        `left` are the findings that nobody repairs; `early`, other fixes may still give some of
        them a repair: a name for the device, say. Only what code certainly comes to counts: a
        script, the import of a file, a function, an object's making. A demand for CUDA that says
        why stays, too, and so does a library that is built for CUDA. A file that scripts share is
        served for the sake of those that need none.
        """
        serving: dict[str, list[Finding]] = {}
        for finding in applied:
            if finding.rule in _SERVING:
                serving.setdefault(finding.path, []).append(finding)
        if not serving:
            return
        stays: dict[str, dict[int, str]] = {}
        for finding in left:
            if finding.rule != _LEFT and early or not self._needs(finding):
                continue
            stays.setdefault(finding.path, {})[finding.span.line] = _STAYS
        for program in sorted({self._programs.of(path) for path in serving}, key=min):
            lines = {path: self._needing(path) | stays.get(path, {}) for path in program}
            needs = _Needs(self._programs, self._course, program, lines)
            for path in sorted(program & serving.keys()) if needs else ():
                whole = needs.of_file(path)
                if whole:
                    yield serving[path], whole
                    continue
                for finding in serving[path]:
                    reason = needs.around(path, finding.span.line)
                    if reason:
                        yield [finding], reason

    def _needs(self, finding: Finding) -> bool:
        """Tell whether a line that nobody repairs raises on a machine without CUDA."""
        if finding.rule != _LEFT:
            return finding.rule in _NEEDING and finding.level != "note"
        path = finding.path
        if path not in self._raises:
            self._raises[path] = set(_raising(self._programs, path))
        return finding.span.line in self._raises[path]

    def _needing(self, path: str) -> dict[int, str]:
        """Return the lines of a file whose text needs CUDA, each with what it says of that."""
        if path not in self._lines:
            known = self._project.sources.get(path)
            self._lines[path] = dict(self._demands(path, known.text)) if known is not None else {}
        return self._lines[path]

    def _demands(self, path: str, text: str) -> Iterator[tuple[int, str]]:
        tree = self._programs.tree(path)
        if _COMPILES.search(text):
            for node in syntax.walk(tree):
                if isinstance(node, ast.Call) and _last(node.func) in ("load", "load_inline"):
                    if _COMPILES.search(ast.unparse(node)):
                        yield node.lineno, "compiles code for CUDA"
        built, words = self._built
        if words.search(text):
            for statement in syntax.statements(tree):
                for module in reversed(_modules(statement)):  # the first one is told
                    if {module, module.partition(".")[0]} & built:
                        if self._project.resolve(path, module) is None:
                            said = f"imports {module}, which is built for CUDA"
                            yield statement.lineno, said
        if "is_available()" in text:
            yield from ((node.lineno, _STAYS) for node in demands.believed(tree))

    @cached_property
    def _built(self) -> tuple[frozenset[str], re.Pattern[str]]:
        """The modules that are built for CUDA, and what finds their names in a text."""
        built = frozenset(_built_for_cuda(self._project)) | torchfacts.built_for_cuda()
        return built, re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(built))) + r")\b")


def _raising(programs: Programs, path: str) -> Iterator[int]:
    """Yield the lines of a file that raise without CUDA, by their text alone."""
    tree, parents = programs.tree(path), programs.parents(path)
    for asked in forced(tree, parents):
        if (
            asked.kind in _RAISING
            or asked.kind == "name"  # and no default, nor an entry of a table
            and isinstance(parents.get(asked.node), (ast.Call, ast.Assign))
        ):
            yield asked.node.lineno


class _Needs:
    """Where the code of a program certainly needs CUDA."""

    def __init__(
        self,
        programs: Programs,
        course: Course,
        program: frozenset[str],
        lines: dict[str, dict[int, str]],
    ) -> None:
        self._programs, self._course, self._program = programs, course, program
        self._known: dict[Code, str] = {}
        self._lines = {path: found for path, found in lines.items() if found}

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
