"""What keeps code on machines with CUDA: where some of it stays, the rest serves nobody."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from samedevice import torchfacts
from samedevice.finding import Finding
from samedevice.inference import demands
from samedevice.inference.forced import WORDS, Deciding, forced
from samedevice.inference.own_names import KEEPING
from samedevice.inference.programs import Programs, is_main
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.reading.syntax import Parents
from samedevice.verify.built import called, compiled, last, missing, on_gpu, packages_with
from samedevice.verify.course import Class, Code, Course, defaults
from samedevice.verify.idle import is_idle

#: Rules about what raises on a machine without CUDA, and those whose fixes serve only those.
_NEEDING = frozenset(("cuda-only-api", "hard-coded-device", "processes-tied-to-cuda"))
_SERVING = _NEEDING | frozenset(
    ("amp-tied-to-cuda", "cuda-branch", "load-without-map-location", "tensor-type")
)
#: What a call of `torch.utils.cpp_extension` says that compiles for CUDA.
_COMPILES = re.compile(
    r"\b(extra_cuda_cflags|cuda_sources)\s*=|\bwith_cuda\s*=\s*True|[\"'][^\"'\n]*\.cu[\"']"
)
#: A GPU by its number, but the first one.
_NUMBERED = re.compile(r"[\"']cuda:(?!0\b)")
#: What is told of lines that nothing could be said about, and what of them raises for certain.
_LEFT = "cuda-not-judged"
_RAISING = frozenset(("backend", "call", "move", "type"))
_BUILT = "which is built for CUDA"
_NOT_REPAIRED = "is not repaired"
_STAYS = f"{_NOT_REPAIRED}, and needs CUDA"
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_STATIC = frozenset(("staticmethod", "classmethod"))
_Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Block = ast.stmt | ast.ExceptHandler | ast.match_case
#: Calls that only keep what they are given, or do nothing without CUDA.
_KEEPING = frozenset(("autocast", "dict", "field", "update", "setdefault", "set_defaults"))
#: What processes tell each other: all of it needs CUDA, or none.
_PROCESSES = "processes-tied-to-cuda"
_TELLS = re.compile(r"(all_reduce|all_gather|reduce_scatter|broadcast)\w*")
_TALKS = re.compile(r"\b(all_|reduce|broadcast|gather|scatter|send\(|recv\(|init_process_group)")


class Halves:
    """What would make half of some code of a project run without CUDA, while the rest needs it."""

    def __init__(self, project: Project) -> None:
        self._before = _Text(project)

    def found(
        self,
        left: Iterable[Finding],
        applied: Sequence[Finding],
        after: Project | None = None,
        back: Callable[[str, int], int] | None = None,
    ) -> Iterator[tuple[list[Finding], str]]:
        """Yield the fixes that would make half of some code run without CUDA, and what stays.

        `left` are the findings that nobody repairs, at their places in the project `after` the
        fixes, of which `back` tells the lines before. Without it, other fixes may still give some
        of them a repair: a name for the device, say. A function's own code is one piece, and so is
        what code certainly comes to: a script, the import of a file, a function, an object's
        making. A demand for CUDA that says why stays, too, and so does a library that is built for
        CUDA. A file that scripts share is served for the sake of those that need none.
        """
        serving: dict[str, list[Finding]] = {}
        for finding in applied:
            if finding.rule in _SERVING:
                serving.setdefault(finding.path, []).append(finding)
        if not serving:
            return
        text = self._before if after is None else _Text(after, edited=True)
        stays: dict[str, dict[int, str]] = {}
        for finding in left:
            if (after is not None or finding.rule == _LEFT) and text.needs(finding):
                stays.setdefault(finding.path, {})[finding.span.line] = _stays(finding)
        for program in sorted({text.programs.of(path) for path in serving}, key=min):
            lines = {path: text.needing(path) | stays.get(path, {}) for path in program}
            needs = _Needs(text, program, lines, self._before, back)
            yield from self._of_program(needs, program, serving)

    def _of_program(
        self, needs: _Needs, program: frozenset[str], serving: dict[str, list[Finding]]
    ) -> Iterator[tuple[list[Finding], str]]:
        for path in sorted(program & serving.keys()) if needs else ():
            whole = needs.of_file(path)
            if whole:
                found = serving[path]
                if whole.endswith(_BUILT):  # its functions follow their inputs to any GPU
                    found = [each for each in found if not self._before.serves_others(each)]
                if found:
                    yield found, whole
                continue
            for finding in serving[path]:
                talks = finding.rule == _PROCESSES or self._before.talks(path, finding.span.line)
                reason = needs.talking(path) if talks else ""
                reason = reason or needs.around(path, self._before.around(path, finding.span.line))
                reason = reason or needs.beside(self._before.programs.tree(path), path, finding)
                if reason:
                    yield [finding], reason


class _Text:
    """What the text of a project's programs says of CUDA."""

    def __init__(self, project: Project, *, edited: bool = False) -> None:
        """Of the text before edits is not known yet what they leave of the uses of a name."""
        self._project, self._edited = project, edited
        self.programs = Programs(project, None)
        self.course = Course(self.programs, self._is_missing)
        self._lines: dict[str, dict[int, str]] = {}
        self._raises: dict[str, set[int]] = {}
        self._flagged: dict[str, frozenset[int]] = {}
        self._armed: dict[str, frozenset[ast.expr]] = {}

    def serves_others(self, finding: Finding) -> bool:
        """Tell whether a fix puts something where a value is, in a project that uses another GPU
        than the first one: whoever needs CUDA needs that, too."""
        fix = finding.fix
        follows = finding.rule == "hard-coded-device" and fix is not None and not fix.named_in()
        return follows and self._has_several

    @cached_property
    def _has_several(self) -> bool:
        return any(_NUMBERED.search(source.text) for source in self._project.sources.values())

    def where(self, path: str, line: int) -> str:
        """Return how a line is named for people."""
        known = self._project.sources.get(path)
        return f"{path}:{line}" if known is None else known.where(line)

    def around(self, path: str, line: int) -> list[tuple[str, int]]:
        """Return the names of the functions and classes around a line, the outermost first.

        Each with how many there are of that name before it.
        """
        found: list[tuple[str, int]] = []
        body = _defined(self.programs.tree(path))
        while True:
            node = next((n for n in body if n.lineno <= line <= (n.end_lineno or 0)), None)
            if node is None:
                return found
            alike = [each for each in body if each.name == node.name]
            found.append((node.name, alike.index(node)))
            body = _defined(node)

    def talks(self, path: str, line: int) -> bool:
        """Tell whether a line makes what its function tells other processes."""
        node: ast.AST | None = self.programs.tree(path)
        while node is not None:
            body = _defined(node)
            node = next((n for n in body if n.lineno <= line <= (n.end_lineno or 0)), None)
            if isinstance(node, _FUNCTION):
                return not _made_at(node, line).isdisjoint(_told(node))
        return False

    def needs(self, finding: Finding) -> bool:
        """Tell whether a line that nobody repairs raises on a machine without CUDA."""
        if finding.rule in _NEEDING:
            return finding.level != "note"
        return finding.span.line in self.raising(finding.path)

    def raising(self, path: str) -> set[int]:
        """Return the lines of a file that raise without CUDA, whatever tests are around them."""
        if path not in self._raises:
            found = _raising(self.programs, path, None, self._edited)
            self._raises[path] = {node.lineno for node in found}
        return self._raises[path]

    def flagged(self, path: str) -> frozenset[int]:
        """Return the lines of a file that raise without CUDA if the tests around them let them."""
        if path not in self._flagged:
            known = self._project.sources.get(path)
            asked = known is not None and WORDS.search(known.text) is not None
            found = _raising(self.programs, path, "ifs", self._edited) if asked else ()
            self._flagged[path] = frozenset(node.lineno for node in found)
        return self._flagged[path]

    def armed(self, path: str) -> frozenset[ast.expr]:
        """Return what in a file raises without CUDA if `a if test else b` comes to it."""
        if path not in self._armed:
            known = self._project.sources.get(path)
            asked = known is not None and WORDS.search(known.text) is not None
            found = _raising(self.programs, path, "arms", self._edited) if asked else ()
            # the name of a type raises where it is used
            self._armed[path] = frozenset(node for node in found if isinstance(node, ast.Call))
        return self._armed[path]

    def needing(self, path: str) -> dict[int, str]:
        """Return the lines of a file whose text needs CUDA, each with what it says of that."""
        if path not in self._lines:
            known = self._project.sources.get(path)
            self._lines[path] = dict(self._demands(path, known.text)) if known is not None else {}
        return self._lines[path]

    def _demands(self, path: str, text: str) -> Iterator[tuple[int, str]]:
        tree = self.programs.tree(path)
        if _COMPILES.search(text):
            for node in syntax.walk(tree):
                if isinstance(node, ast.Call) and last(node.func) in ("load", "load_inline"):
                    if _COMPILES.search(ast.unparse(node)):
                        yield node.lineno, "compiles code for CUDA"
        for name in torchfacts.OFFLOADING:
            if name in text:
                said = f"calls {name}, which needs an accelerator"
                yield from ((node.lineno, said) for node in syntax.calls(tree).get(name, ()))
        for name in torchfacts.called_on_cuda():
            if name.partition(".")[0] in text:
                said = f"calls {name}, which needs CUDA"
                yield from ((node.lineno, said) for node in called(tree, name))
        if "device_map" in text:
            said = "puts its model on a GPU by its number"
            yield from ((node.lineno, said) for node in on_gpu(tree))
        built, words = self._built
        if words.search(text):
            for statement in syntax.statements(tree):
                for module in missing(self._project, path, statement, built)[:1]:
                    yield statement.lineno, f"imports {module}, {_BUILT}"
        if "is_available()" in text:
            yield from ((node.lineno, _STAYS) for node in demands.believed(tree))

    def _is_missing(self, path: str, statement: ast.stmt) -> bool:
        """Tell whether a statement imports what is built for CUDA alone."""
        return bool(missing(self._project, path, statement, self._built[0]))

    @cached_property
    def _built(self) -> tuple[frozenset[str], re.Pattern[str]]:
        """The modules that are built for CUDA, and what finds their names in a text."""
        built = frozenset(compiled(self._project))
        built |= frozenset(packages_with(self._project, built)) | torchfacts.built_for_cuda()
        last_parts = sorted({name.rpartition(".")[2] for name in built})
        return built, re.compile(r"\b(?:" + "|".join(map(re.escape, last_parts)) + r")\b")


def _made_at(function: ast.AST, line: int) -> set[str]:
    """Return the names that a line of a function binds."""
    return {
        target.id
        for node in syntax.statements(function)
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


@syntax.per_node
def _told(function: ast.AST) -> frozenset[str]:
    """Return the names of what a function tells other processes."""
    return frozenset(
        arg.id
        for node in syntax.walk(function)
        if isinstance(node, ast.Call) and _TELLS.fullmatch(last(node.func))
        for arg in node.args
        if isinstance(arg, ast.Name)
    )


def _names_other(node: ast.expr) -> bool:
    """Tell whether a text names another accelerator than CUDA: flags for those are choices."""
    text = node.value if isinstance(node, ast.Constant) else ""
    return isinstance(text, str) and text.startswith(("mps", "xpu"))


def _stays(finding: Finding) -> str:
    """Return what a line that nobody repairs needs, in the words that name its accelerator."""
    other = next((name for name in ("MPS", "XPU") if f"names {name}" in finding.message), "CUDA")
    return _STAYS.replace("CUDA", other)


def _raising(
    programs: Programs,
    path: str,
    decides: Deciding | None,
    edited: bool,
) -> Iterator[ast.expr]:
    """Yield what in a file raises without CUDA, by its text alone, where some tests decide on it.

    Not those that a test begins: what raises there may not be come to.
    """
    tree, parents = programs.tree(path), programs.parents(path)
    tests = {node.lineno for node in syntax.statements(tree) if isinstance(node, ast.If)}
    text = programs.project.sources[path].text
    for asked in forced(tree, text, parents, decides):
        if asked.node.lineno not in tests and not (decides and _names_other(asked.node)):
            if (
                asked.kind in _RAISING
                and not (asked.kind == "type" and is_idle(programs, path, asked.node, edited))
                or asked.kind == "name"
                and _is_used(asked.node, parents, programs)
                or asked.kind == "given"
                and _is_for_device(asked.node, parents, tree, programs)
            ):
                yield asked.node


def _is_used(name: ast.expr, parents: Parents, programs: Programs) -> bool:
    """Tell whether a device's name is used where it stands: no default, nor an entry of a table.

    What an object of the project does with it is known, if anything; one of a library uses it.
    """
    outer = parents.get(name)
    if isinstance(outer, ast.keyword):
        call = parents.get(outer)
        called = last(call.func) if isinstance(call, ast.Call) else ""
        if outer.arg == "default" or called in _KEEPING:
            return False
        return called[:1].islower() or _is_of_library(called, programs)
    if isinstance(outer, ast.Call) and last(outer.func) in _KEEPING:
        return False
    return isinstance(outer, ast.Call | ast.Assign)


def _is_of_library(called: str, programs: Programs) -> bool:
    """Tell whether a class is none of the project's, and no mere table of what it is given."""
    if not called[:1].isupper() or KEEPING.search(called):
        return False
    sources = programs.project.sources.values()
    return not any(f"class {called}" in source.text for source in sources)


def _is_for_device(name: ast.expr, parents: Parents, tree: ast.Module, programs: Programs) -> bool:
    """Tell whether a device's name is given to a function as a device.

    It is where it has a number, where the file's function says so by its parameter's name, and
    where an object of a library is made with it.
    """
    call = parents.get(name)
    if not (isinstance(name, ast.Constant) and isinstance(call, ast.Call) and name in call.args):
        return False
    if ":" in str(name.value) or _is_of_library(last(call.func), programs):
        return True
    place = call.args.index(name)
    return any(
        "device" in arg.arg
        for node in syntax.walk(tree)
        if isinstance(node, _FUNCTION) and node.name == last(call.func)
        for arg in node.args.args[place : place + 1]
    )


class _Needs:
    """Where the code of a program certainly needs CUDA."""

    def __init__(
        self,
        text: _Text,
        program: frozenset[str],
        lines: dict[str, dict[int, str]],
        before: _Text,
        back: Callable[[str, int], int] | None,
    ) -> None:
        """`lines` are those that need CUDA, in each file, and `back` tells what they were `before`.

        Without it some of them may be repaired yet, and what is not certainly run is left out.
        """
        self._text, self._programs, self._course = text, text.programs, text.course
        self._program, self._before, self._back = program, before, back
        self._known: dict[Code, str] = {}
        self._lines = {path: found for path, found in lines.items() if found}

    def __bool__(self) -> bool:
        return bool(self._lines) or any(
            self._flagged(path) or self._armed(path) for path in self._program
        )

    def _flagged(self, path: str) -> frozenset[int]:
        return self._text.flagged(path) if self._back is not None else frozenset()

    def _armed(self, path: str) -> frozenset[ast.expr]:
        return self._text.armed(path) if self._back is not None else frozenset()

    def talking(self, path: str) -> str:
        """Return why what the processes that run a file tell each other needs CUDA, or ""."""
        runs = [files for _, files in self._runs if path in files] or [frozenset((path,))]
        found = [next(filter(None, map(self._talks.get, sorted(files))), "") for files in runs]
        return found[0] if all(found) else ""

    @cached_property
    def _talks(self) -> dict[str, str]:
        """For files with something between processes that needs CUDA, what that is."""
        found: dict[str, str] = {}
        for path, lines in self._lines.items():
            for node in syntax.statements(self._programs.tree(path)):
                if isinstance(node, _FUNCTION):
                    inside = range(node.lineno, (node.end_lineno or 0) + 1)
                    line = next((each for each in lines if each in inside), None)
                    if line is not None and _TALKS.search(ast.unparse(node)):
                        found.setdefault(path, self._reason(path, line))
        return found

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

    def around(self, path: str, names: Sequence[tuple[str, int]]) -> str:
        """Return why the functions or classes of these names need CUDA, "" if they do not.

        Without a name, a file's own code is meant.
        """
        node: ast.AST = self._programs.tree(path)
        cls: Class | None = None
        if not names:
            return self._own(path, node)
        for name, number in names:
            alike = [each for each in _defined(node) if each.name == name]
            if number >= len(alike):
                return ""
            node = alike[number]
            if isinstance(node, ast.ClassDef):
                cls = Class(path, node)
                continue
            reason = self._inside(Code(path, node, cls))
            if reason:
                return reason
            cls = None
        return ""

    def beside(self, tree: ast.Module, path: str, finding: Finding) -> str:
        """Return what stays in the arm of an `if` that a finding is in: the arm runs as a whole.

        `tree` is the file as it was.
        """
        for line, what in self._lines.get(path, {}).items() if self._back is not None else ():
            if what.startswith(_NOT_REPAIRED) and self._back is not None:
                first, last = _arm(tree, self._back(path, line))
                if first <= finding.span.line <= last:
                    return self._reason(path, line)
        return ""

    def _own(self, path: str, code: ast.AST) -> str:
        """Return what a function's own code, or a file's, needs that no test decides on."""
        lines = self._text.raising(path) & self._lines.get(path, {}).keys()
        if not lines or self._back is None:
            return ""
        inside = range(getattr(code, "lineno", 0), (getattr(code, "end_lineno", None) or 10**9) + 1)
        if isinstance(code, ast.Module):
            others = [range(n.lineno, (n.end_lineno or 0) + 1) for n in _defined(code)]
        else:
            others = []
        for line in sorted(lines):
            if line in inside and not any(line in other for other in others):
                return self._reason(path, line)
        return ""

    def _inside(self, code: Code) -> str:
        """Return why a function needs CUDA: itself, or the making of its object."""
        reason = self._own(code.path, code.node) or self._of(code) or self._default(code)
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
                if line in self._lines.get(path, ()) or line in self._flagged(path)
            )
            arms = (
                self._reason(path, node.lineno)
                for path, arm in self._course.chosen(code)
                for node in ast.walk(arm)
                if node in self._armed(path) and isinstance(node, ast.expr)
            )
            self._known[code] = next(found, "") or next(arms, "")
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
            for node in syntax.calls(self._programs.tree(path)).get(called, ()):
                if any(keyword.arg == name for keyword in node.keywords):
                    return True
                if place is not None and len(node.args) > place:
                    return True
        return False

    def _reason(self, path: str, line: int) -> str:
        what = self._lines.get(path, {}).get(line, _STAYS)
        where = self._before.where(path, line if self._back is None else self._back(path, line))
        return f"{os.path.basename(where)} {what}"


def _defined(code: ast.AST) -> list[_Defined]:
    """Return the functions and classes in some code, but those within others."""
    found: list[_Defined] = []
    queue = list(getattr(code, "body", ()))
    while queue:
        node = queue.pop(0)
        if isinstance(node, _Defined):
            found.append(node)
        else:
            queue = [n for n in ast.iter_child_nodes(node) if isinstance(n, _Block)] + queue
    return found


def _arm(tree: ast.Module, line: int) -> tuple[int, int]:
    """Return the first and last lines of the innermost arm of an `if` around a line; 1, 0 for none.

    Those of an `if` for the main block are a script's own code, whatever else its file does.
    """
    found = 1, 0
    body: list[ast.stmt] = tree.body
    while True:
        node = next((n for n in body if n.lineno <= line <= (n.end_lineno or 0)), None)
        if node is None:
            return found
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        body = []
        for block in filter(None, blocks):
            lines = block[0].lineno, block[-1].end_lineno or 0
            if lines[0] <= line <= lines[1]:
                body = block
                if isinstance(node, ast.If) and not is_main(node):
                    found = lines


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(last(each) in _STATIC for each in node.decorator_list)
