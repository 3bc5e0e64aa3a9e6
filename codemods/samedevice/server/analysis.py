"""A folder and the editor's unsaved texts -> findings, fixes and places. Knows no protocol."""

from __future__ import annotations

import ast
import io
import os
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..finding import Finding, Span
from ..inference.focus import Definitions
from ..inference.trace import Life, Trace, trace
from ..migration import baseline, check
from ..migration.baseline import Baseline
from ..migration.cache import Cache
from ..migration.check import Memory, Step
from ..migration.glance import Glances, close_up, glance
from ..reading import config, files, source
from ..reading.config import Config
from ..reading.lines import Lines, kept, moved, place
from ..reading.project import Project
from ..reading.source import Source, SourceError
from ..reading.suppress import Suppressions

if TYPE_CHECKING:  # it loads libcst, which a session needs only when something is to be fixed
    from ..migration import migrate
    from ..migration.migrate import Key


@dataclass(frozen=True)
class Settings:
    """What the editor's user has set, under the names of the settings; see docs/editors.md."""

    inlay_hints: str = "clashes"
    unsafe: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    resolver: str = ""


@dataclass(frozen=True)
class Analysis:
    """What is known of one folder with its unsaved texts.

    `project` has, for a text that does not parse, the last one that did; `broken` has that text
    as it is now, and what is wrong with it. `findings` are at their places in the texts of now;
    `old` are those of them that the project's baseline has. `lines` has, for each of the `broken`
    and of the `later`, where the lines of the text that was judged are in the text of now.

    `later` are texts of now that are not judged yet: what is known of them is of the texts before,
    in lines that are left. It is to be shown, not to be fixed, though findings have their fixes.
    `is_whole`: a whole check says the same of the texts that were judged.
    """

    project: Project
    config: Config
    findings: tuple[Finding, ...]
    memory: Memory
    broken: Mapping[str, tuple[Source, SourceError]] = field(default_factory=dict)
    old: frozenset[Finding] = frozenset()
    lines: Mapping[str, Lines] = field(default_factory=dict)
    later: Mapping[str, Source] = field(default_factory=dict)
    is_whole: bool = True
    _traces: dict[frozenset[str], Trace] = field(default_factory=dict, compare=False)

    @cached_property
    def now(self) -> Project:
        """The project with every text as it is, whether it parses or not."""
        if not self.broken:
            return self.project
        current = {path: text for path, (text, _) in self.broken.items()}
        sources = {**self.project.sources, **current}
        return self.project.like(sources.values())

    def source(self, path: str) -> Source | None:
        """Return a file as it is now; None when it is not one of the project."""
        if path in self.later:
            return self.later[path]
        if path in self.broken:
            return self.broken[path][0]
        return self.project.sources.get(path)

    def of(self, path: str) -> list[Finding]:
        """Return the findings in a file, in reading order."""
        return [finding for finding in self.findings if finding.path == path]

    def fix(self, finding: Finding) -> dict[str, Source]:
        """Return the files that the fix of one finding changes, as they become.

        Raises `ValueError` with the reason when it cannot be made.
        """
        from ..migration import migrate

        changed, refused = migrate.once(self.project, [finding], self.config)
        if not changed:
            why = refused.get(migrate.key(finding), "the fix would change nothing")
            raise ValueError(why)
        self._parsed(changed)
        return changed

    def fix_all(
        self, path: str, rule: str = "", step: Step = lambda files: None
    ) -> dict[str, Source]:
        """Return the files that change when all of a file's findings (of `rule`) are fixed."""
        from ..migration import migrate

        outcome = migrate.migrate(
            self.project, self.config, _Declined(path, rule), step, self.memory
        )
        changed = {change.path: outcome.sources[change.path] for change in outcome.changes}
        self._parsed(changed)
        return changed

    def centralize(self, step: Step = lambda files: None) -> migrate.Outcome:
        """Return what `samedevice fix` would make of the texts as they are."""
        from ..migration import migrate

        return migrate.migrate(self.now, self.config, step=step, memory=self.memory)

    def _parsed(self, changed: Mapping[str, Source]) -> None:
        for path in changed:
            if path in self.broken:
                raise ValueError(f"{self.broken[path][1]}")

    def suppress(self, finding: Finding) -> str | None:
        """Return the file's text with a comment that leaves `finding` alone; None if none fits."""
        text = self.source(finding.path)
        if text is None or finding.path in self.broken:
            return None
        lines = text.text.split("\n")
        first, last = finding.span.line - 1, finding.span.end_line - 1
        comment = f"# samedevice: ignore[{finding.rule}]"
        above = lines[first][: len(lines[first]) - len(lines[first].lstrip())] + comment
        attempts: list[tuple[list[str], int]] = []
        for at in dict.fromkeys((first, last)):
            head, opening, tail = lines[at].rpartition("# samedevice: ignore[")
            if opening:
                longer = f"{head}{opening}{finding.rule}, {tail}"
                attempts.append(([*lines[:at], longer, *lines[at + 1 :]], 0))
            longer = f"{lines[at].rstrip()}  {comment}"
            attempts.append(([*lines[:at], longer, *lines[at + 1 :]], 0))
        attempts.append(([*lines[:first], above, *lines[first:]], 1))
        wanted = ast.dump(text.tree)
        for attempt, shift in attempts:
            new = source.from_text("\n".join(attempt), finding.path)
            span = replace(
                finding.span,
                line=finding.span.line + shift,
                end_line=finding.span.end_line + shift,
            )
            try:
                same = ast.dump(new.tree) == wanted
            except SourceError:
                continue
            if same and Suppressions({finding.path: new}).covers(finding.path, span, finding.rule):
                return new.text
        return None

    def lives(self, path: str) -> list[Life]:
        """Return where the values of a file live, each with the chain of sites that says so.

        For a text that does not parse now: those of the last one that did, in lines that are left.
        """
        known = self.known_lives(path)
        if known is not None or path not in self.project.sources:
            return known or []
        program = self.project.programs[path]
        made = trace(self.project, program)
        self._traces.clear()  # one is enough: the one of the file that is looked at
        self._traces[program] = made
        return self._of(made, path)

    def known_lives(self, path: str) -> list[Life] | None:
        """Return what `lives` does if it takes no inference, else None."""
        known = self._traces.get(self.project.programs.get(path, frozenset()))
        return self._of(known, path) if known is not None else None

    def _of(self, known: Trace, path: str) -> list[Life]:
        found = known.lives(path)
        return found if not self.lines else list(self._kept(path, found))

    def _kept(self, path: str, lives: list[Life]) -> Iterator[Life]:
        for life in lives:
            span = place(path, life.span, self.lines)
            if span is not None:
                chain = [
                    replace(event, span=there)
                    for event in life.chain
                    if (there := place(event.path, event.span, self.lines)) is not None
                ]
                yield replace(life, span=span, chain=tuple(chain))

    def names(self, path: str) -> set[Span]:
        """Return the names in a file that are given a value, but `_`: targets and parameters."""
        text = self.project.sources.get(path)
        if text is None or self.project.tree(path) is None:
            return set()
        found = set()
        for node in ast.walk(text.tree):
            if isinstance(node, ast.Name) and node.id == "_":
                continue
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                found.add(text.span(node))
            elif isinstance(node, ast.arg):
                span = text.span(node)
                end = span.column + len(node.arg)
                found.add(replace(span, end_line=span.line, end_column=end))
        return {there for span in found if (there := place(path, span, self.lines)) is not None}

    def changed(self, path: str, lines: Iterable[int]) -> list[int]:
        """Return which lines of a file are not as they were when it was judged."""
        if path not in self.later:
            return []
        kept, last = set(self.lines[path].values()), self.later[path].text.count("\n") + 1
        return [line for line in lines if line <= last and line not in kept]

    def around(self, path: str, line: int) -> frozenset[int]:
        """Return the lines of the definition that one is in, or of all that is in none."""
        tree, text = self.project.tree(path), self.source(path)
        if tree is None or text is None or path in self.broken:
            return frozenset((line,))
        known = Definitions.of(tree)
        name = known.at(line)
        count = text.text.count("\n") + 1
        return frozenset(each for each in range(1, count + 1) if known.at(each) == name)

    def in_texts(self, texts: Mapping[str, str]) -> Analysis:
        """Return what this says of texts as they have become, which takes no inference."""
        later: dict[str, Source] = {}
        shown: dict[str, Lines] = {}
        lines = dict(self.lines)
        for path, text in texts.items():
            before = self.source(path)
            if before is None or path.endswith(".ipynb"):
                continue
            now = _from_editor(text, path)
            if now.text != before.text:
                later[path] = now
                shown[path] = kept(before.text, now.text)
                lines[path] = kept(self.project.sources[path].text, now.text)
        if not later:
            return self
        findings = tuple(moved(self.findings, shown, fixes=True))
        old = frozenset(moved(self.old, shown, fixes=True))
        return replace(self, findings=findings, old=old, lines=lines, later=later)


class _Declined:
    """The findings that *fix all* leaves: those of other files, and of other rules."""

    def __init__(self, path: str, rule: str) -> None:
        self._path = path
        self._rule = rule

    def __contains__(self, key: object) -> bool:
        assert isinstance(key, tuple)
        path, _, rule, _ = key
        return path != self._path or bool(self._rule) and rule != self._rule


@dataclass(frozen=True)
class _Texts:
    """The texts of a folder under its settings; `open` are the paths of those in the editor.

    `sources` has the last text that parsed for each of the `broken`.
    """

    state: object
    config: Config
    sources: dict[str, Source]
    broken: dict[str, tuple[Source, SourceError]]
    open: frozenset[str]


class Folder:
    """A workspace folder, or one file that lies in none, and what was last known of it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._config = Config()
        self._baseline = Baseline("")
        self._listed: list[str] | None = None
        self._disk: dict[str, tuple[tuple[int, int], Source | None]] = {}
        self._buffers: dict[str, tuple[str, Source]] = {}
        self._good: dict[str, Source] = {}
        self._last: tuple[object, Analysis] | None = None
        self._glanced: tuple[object, Analysis] | None = None
        self._project: Project | None = None
        self._memory = Memory()
        self._glances = Glances()
        self._traced: Analysis | None = None
        self._near: tuple[object, Analysis] | None = None

    def soon(self, buffers: Mapping[str, str]) -> Analysis | None:
        """Return what was last known, in the texts of now, without waiting for what is being done.

        None before anything is known.
        """
        last = self._last
        return last[1].in_texts(buffers) if last is not None else None

    def traced(self, buffers: Mapping[str, str], path: str) -> tuple[Analysis, list[Life]] | None:
        """Return what was last known of where the values of a file live, in the texts of now.

        Those in lines that have changed since are left out. None where that was not asked yet.
        """
        for known in (self._last[1] if self._last is not None else None, self._traced):
            now = known.in_texts(buffers) if known is not None else None
            lives = now.known_lives(path) if now is not None else None
            if now is not None and lives is not None:
                return now, lives
        return None

    def close_up(
        self, buffers: Mapping[str, str], settings: Settings, path: str, line: int,
        step: Step = lambda files: None,
    ) -> tuple[Analysis, list[Life]] | None:  # fmt: skip
        """Return where the values live in the definition around a line, and in what has changed.

        It takes as long as a glance. None where that needs the whole; see `glance.close_up`.
        """
        texts = self._now(buffers, settings)
        project = self._of(texts)
        analysis = self._analysis(project, texts, [])
        if path in analysis.lines:  # it does not parse: a line of the last text that did
            back = {now: before for before, now in analysis.lines[path].items()}
            line = back.get(line, line)
        asked = texts.state, path, line
        if self._near is None or self._near[0] != asked:
            found = close_up(
                project, texts.config, self._memory, self._glances, path, line, step
            )  # fmt: skip
            if found is None:
                return None
            self._near = asked, replace(analysis, _traces={project.programs[path]: found})
        known = self._near[1]
        return known, known.lives(path)

    def lives_soon(
        self, buffers: Mapping[str, str], settings: Settings, path: str, lines: Iterable[int],
        step: Step = lambda files: None,
    ) -> list[tuple[Analysis, list[Life]]] | None:  # fmt: skip
        """Return what can be said without the whole of where values in some lines of a file live.

        That is what was last known and, for the definitions in which lines have changed, a look at
        these. None where it was not asked yet, only the whole can tell, or all of it is known.
        """
        whole, known = self.soon(buffers), self.traced(buffers, path)
        if known is None or whole is None or not whole.later:
            return None
        analysis, lives = known
        left = analysis.changed(path, lines)
        found: list[tuple[Analysis, list[Life]]] = []
        while left:
            look = self.close_up(buffers, settings, path, left[0], step)
            if look is None:
                return None
            around = look[0].around(path, left[0])
            found.append((look[0], [one for one in look[1] if one.span.line in around]))
            lives = [one for one in lives if one.span.line not in around]
            left = [line for line in left[1:] if line not in around]
        return [(analysis, lives), *found]

    def keep_trace(self, analysis: Analysis) -> None:
        """Remember what has traced the values of a file, until another one has."""
        self._traced = analysis

    def refresh(self) -> None:
        """Look at the files and settings on the disk again at the next analysis."""
        self._listed = None

    def analyse(
        self, buffers: Mapping[str, str], settings: Settings, step: Step = lambda files: None
    ) -> Analysis:
        """Return what is known now, with the texts `buffers` for what is on the disk.

        `step` is called often; what it raises ends the analysis. Raises `ConfigError` for settings
        that cannot be used.
        """
        texts = self._now(buffers, settings)
        if self._last is None or self._last[0] != texts.state:
            project = self._of(texts)
            cache = self._cache(project, texts) if self._last is None else None
            findings = check.check(project, texts.config, step, self._memory, cache)
            if cache is not None and self._is_saved():
                cache.write()
            self._last = texts.state, self._analysis(project, texts, findings)
        return self._last[1]

    def glance(
        self, buffers: Mapping[str, str], settings: Settings, step: Step = lambda files: None
    ) -> Analysis | None:
        """Return what `analyse` is most likely to, but fast; see `glance.glance`.

        None when only `analyse` can tell. Its findings are to be shown, not to be fixed; where it
        `is_whole`, `analyse` need not be waited for.
        """
        texts = self._now(buffers, settings)
        for known in (self._last, self._glanced):
            if known is not None and known[0] == texts.state:
                return known[1]
        project = self._of(texts)
        found = glance(project, texts.config, self._memory, self._glances, step)
        if found is None:
            return None
        glanced = self._analysis(project, texts, found.findings)
        self._glanced = texts.state, replace(glanced, is_whole=found.is_whole)
        return self._glanced[1]

    def _cache(self, project: Project, texts: _Texts) -> Cache:
        """Return what earlier sessions found: what did not change since need not be judged."""
        return Cache(project, replace(texts.config, unsafe=False))

    def _is_saved(self) -> bool:
        """Tell whether the editor has nothing that is not on the disk."""
        saved = {path: text for path, (_, text) in self._disk.items()}
        return all(
            (there := saved.get(path)) is not None and there.text == text.text
            for path, (_, text) in self._buffers.items()
        )

    def _now(self, buffers: Mapping[str, str], settings: Settings) -> _Texts:
        """Look at settings and texts; where one does not parse, take the last one that did."""
        if self._listed is None:
            self._config = config.load([self.root])
            name = self._config.baseline
            self._baseline = baseline.read(name) if name else Baseline("")
            self._listed = self._list()
        settled = self._config.with_flags(
            select=settings.select,
            ignore=settings.ignore,
            resolver=settings.resolver,
            unsafe=settings.unsafe,
        )
        texts = self._texts(buffers)
        state = (settled, self._baseline, {path: id(text) for path, text in texts.items()})
        broken: dict[str, tuple[Source, SourceError]] = {}
        for path in buffers:
            text = texts.get(path)
            if text is None:
                continue
            try:
                text.tree  # noqa: B018  # parses it
                self._good[path] = text
            except SourceError as error:
                good = self._good.get(path) or self._saved(path)
                if good is None:
                    continue  # never parsed: `check` passes over it
                broken[path] = text, error
                texts[path] = good
        return _Texts(state, settled, texts, broken, frozenset(buffers))

    def _of(self, texts: _Texts) -> Project:
        """Return the project of texts, with what is known of the last one's imports."""
        asked = texts.config.asks
        if self._project is not None and self._project.asks == asked:
            project = self._project.replaced(texts.sources.values())
        else:
            project = Project(texts.sources.values(), *asked)
        self._project = project
        return project

    def _analysis(self, project: Project, texts: _Texts, findings: list[Finding]) -> Analysis:
        old: list[Finding] = []
        if self._baseline.entries:
            old = self._baseline.compare(findings, project, [], texts.config).old
        broken = dict(texts.broken)
        lines = {
            path: kept(project.sources[path].text, text.text) for path, (text, _) in broken.items()
        }
        for failed in project.errors:  # what never parsed
            if failed.path in texts.open:
                broken.setdefault(failed.path, (texts.sources[failed.path], failed))
        return Analysis(
            project,
            texts.config,
            tuple(moved(findings, lines)),
            self._memory,
            broken,
            frozenset(moved(old, lines)),
            lines,
        )

    def _list(self) -> list[str]:
        """Return the project's files and read those that changed since they were last read."""
        found = [path.replace("\\", "/") for path in self._find()]
        disk = {}
        for path in found:
            try:
                status = os.stat(path)
                stamp = status.st_mtime_ns, status.st_size
                known = self._disk.get(path)
                if known is None or known[0] != stamp:
                    known = stamp, source.read(path)
                disk[path] = known
            except (OSError, SourceError):
                continue
        self._disk = disk
        return found

    def _find(self) -> list[str]:
        return files.find([self.root], self._config.exclude).paths

    def _texts(self, buffers: Mapping[str, str]) -> dict[str, Source]:
        """Return the sources by path: those on the disk under those of the editor."""
        texts = {path: text for path, (_, text) in self._disk.items() if text is not None}
        self._buffers = {path: item for path, item in self._buffers.items() if path in buffers}
        self._good = {path: text for path, text in self._good.items() if path in buffers}
        listed = set(self._listed or ())
        for path, text in buffers.items():
            if path not in listed and os.path.exists(path):
                continue  # the settings or a .gitignore leave it out
            if len(text) > files.LARGEST and not path.endswith(".ipynb"):
                texts.pop(path, None)
                continue
            known = self._buffers.get(path)
            if known is None or known[0] != text:
                try:
                    known = self._buffers[path] = text, _from_editor(text, path)
                except SourceError:
                    texts.pop(path, None)
                    continue
            texts[path] = known[1]
        return dict(sorted(texts.items()))

    def _saved(self, path: str) -> Source | None:
        """Return the file on the disk if it parses."""
        saved = self._disk.get(path, (None, None))[1]
        try:
            return saved if saved is not None and saved.tree else None
        except SourceError:
            return None


def _from_editor(text: str, path: str) -> Source:
    """Make a source of an editor's text, to be written in the encoding that it asks for."""
    if path.endswith(".ipynb"):
        try:
            return source.from_bytes(text.encode("utf-8", "surrogatepass"), path)
        except SourceError:
            return source.from_code(text, path)  # JupyterLab's: the code of all cells, as one text
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode()).readline)
        return source.from_bytes(text.encode(encoding), path)
    except (SyntaxError, UnicodeError, LookupError, SourceError):
        return source.from_text(text, path)


def named(analysis: Analysis, path: str, wanted: Key) -> Finding | None:
    """Return the finding of a file that `wanted` names."""
    from ..migration import migrate

    return next((one for one in analysis.of(path) if migrate.key(one) == wanted), None)
