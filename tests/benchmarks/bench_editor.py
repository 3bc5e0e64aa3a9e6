"""Time the editor on one connected package: `python tests/benchmarks/bench_editor.py [FOLDER]`.

Without a folder, a package of `--lines` lines is written, all of whose files imports connect. A
client types into one file by ranges, as editors do, and asks right after each change for the code
actions, the hover and the inlay hints at that place. It types `--typed` changes as soon as these
and the first diagnostics have come, and then `--edits` changes after each of which it waits for the
whole answer. Then it types `--more` changes without any rest, and the server's memory is looked at
on the way. Milliseconds are of the server's processor, all that it does between a change and an
answer, and of the clock: a machine may be shared. With `--inside` the same changes are made without
the protocol, in milliseconds of the processor.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from bench_server import LARGE_HEAD, LARGE_PART, Editor, edited, make, parsing, resident
from lsprotocol import types as lsp

from samedevice.reading.lines import edits as differences
from samedevice.server.analysis import Folder, Settings

#: Lines of one file of a package that is written.
EACH = 500
REST = 0.05
#: Seconds for one answer.
PATIENCE = 300.0


def written(root: Path, lines: int) -> Path:
    """Write a package of that many lines; return a file of 1,000 of them that imports others."""
    large = make(root, "package")
    folder, parts = large.parent, max(0, (lines - 6_000) // EACH)
    for number in range(parts):
        names = {"h": number % 40, "m": number % 100}
        names |= {"helpers": f"pack.helpers_{number % 40}", "model": f"pack.model_{number % 100}"}
        text = LARGE_HEAD.format(**names)
        if number:
            text += f"from pack.part_{number - 1} import Block0 as Before\n"
            text += "\nbefore = Before().to(device)\n"
        count = 0
        while text.count("\n") < EACH - 40:
            text += LARGE_PART.format(i=count, h=names["h"], m=names["m"])
            count += 1
        (folder / f"part_{number}.py").write_text(text)
    return large


def ranged(old: str, new: str) -> list[lsp.TextDocumentContentChangeEvent]:
    """Return the changes between two texts as an editor tells them, the last one first."""
    return [
        lsp.TextDocumentContentChangePartial(
            lsp.Range(
                lsp.Position(span.line - 1, span.column),
                lsp.Position(span.end_line - 1, span.end_column),
            ),
            text,
        )
        for span, text in sorted(differences(old, new), key=lambda one: one[0], reverse=True)
    ]


class Session:
    """One editor, one document, and what is measured."""

    def __init__(self, editor: Editor, path: Path, seed: int) -> None:
        self.editor, self.uri = editor, path.as_uri()
        self.text, self.version = path.read_text("utf-8"), 0
        self.random = random.Random(seed)

    def open(self) -> None:
        """Open the document."""
        document = lsp.TextDocumentItem(self.uri, "python", 0, self.text)
        self.editor.text_document_did_open(lsp.DidOpenTextDocumentParams(document))

    def type(self) -> int:
        """Change the document; return the line (from 0) of the change."""
        new = self.text
        while new == self.text:
            new = edited(self.text, self.random)
        changes = ranged(self.text, new)
        self.text, self.version = new, self.version + 1
        self.editor.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version), changes
            )
        )
        first = changes[-1]
        assert isinstance(first, lsp.TextDocumentContentChangePartial)
        return first.range.start.line

    async def whole(self) -> None:
        """Wait for the diagnostics of the whole, which are asked for."""
        await self.editor.text_document_diagnostic_async(
            lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(self.uri))
        )

    async def actions(self, line: int) -> None:
        """Ask for the code actions of 40 lines around one."""
        await self.editor.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(self.uri),
                lsp.Range(lsp.Position(max(line - 20, 0), 0), lsp.Position(line + 20, 0)),
                lsp.CodeActionContext([]),
            )
        )

    async def hover(self, line: int) -> None:
        """Ask where the first name of a line lives."""
        text = self.text.split("\n")[line]
        at = lsp.Position(line, len(text) - len(text.lstrip()))
        await self.editor.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(self.uri), at)
        )

    async def hints(self, line: int) -> None:
        """Ask for the inlay hints of the 60 lines that are on the screen around one."""
        last = min(line + 30, self.text.count("\n"))
        await self.editor.text_document_inlay_hint_async(
            lsp.InlayHintParams(
                lsp.TextDocumentIdentifier(self.uri),
                lsp.Range(lsp.Position(max(line - 30, 0), 0), lsp.Position(last, 0)),
            )
        )

    async def told(self) -> None:
        """Wait for the diagnostics of the text that was typed last."""
        await asyncio.wait_for(self.editor.told(self.uri, self.version), PATIENCE)


class Taken:
    """What answers took: seconds of the clock and of a process, each since its change."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.clock: dict[str, list[float]] = {}
        self.work: dict[str, list[float]] = {}

    async def __call__(self, asked: Mapping[str, Callable[[], Awaitable[None]]]) -> None:
        """Ask for all of it at once, and note what each took."""
        began, worked = time.perf_counter(), processor(self.pid)

        async def one(name: str) -> None:
            await asked[name]()
            self.clock.setdefault(name, []).append(time.perf_counter() - began)
            self.work.setdefault(name, []).append(processor(self.pid) - worked)

        await asyncio.gather(*(one(name) for name in asked))

    def table(self, title: str) -> None:
        """Print the median and the 95th of a hundred of each."""
        print(f"\n{title + ', milliseconds':44} {'processor':>17} {'clock':>17}")
        for name, seconds in self.work.items():
            figures = (*middle(seconds), *middle(self.clock[name]))
            print(f"{name:44}", *(f"{each * 1000:8.0f}" for each in figures), flush=True)


def middle(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 95th of a hundred."""
    seconds = sorted(seconds)
    return statistics.median(seconds), seconds[min(len(seconds) - 1, int(len(seconds) * 0.95))]


def spread(name: str, seconds: list[float]) -> None:
    """Print the median and the 95th of a hundred."""
    print(f"{name:44}", *(f"{each * 1000:8.0f}" for each in middle(seconds)), flush=True)


async def started(root: Path) -> Editor:
    """Return a client with a server for a folder."""
    editor = Editor()
    editor.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: None)
    await editor.start_io(sys.executable, "-m", "samedevice", "server")
    able = lsp.TextDocumentClientCapabilities(
        code_action=lsp.CodeActionClientCapabilities(
            resolve_support=lsp.ClientCodeActionResolveOptions(["edit"])
        )
    )
    await editor.initialize_async(
        lsp.InitializeParams(
            lsp.ClientCapabilities(
                text_document=able,
                workspace=lsp.WorkspaceClientCapabilities(
                    inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
                ),
            ),
            workspace_folders=[lsp.WorkspaceFolder(root.as_uri(), "project")],
        )
    )
    editor.initialized(lsp.InitializedParams())
    return editor


async def run(root: Path, path: Path, options: argparse.Namespace) -> None:
    """Measure and print."""
    for name in ("first answer, nothing known", "first answer, with what an earlier session kept"):
        editor = await started(root)
        session = Session(editor, path, 20)
        began = time.perf_counter()
        session.open()
        await session.whole()
        print(f"{name:48} {time.perf_counter() - began:8.1f} s", flush=True)
        if name.endswith("known"):
            await asyncio.sleep(1)
            await ended(editor)
    await session.hover(10)
    await session.hints(10)
    process = editor._server
    assert process is not None
    floors: list[float] = []
    for title, count in (("typed on", options.typed), ("rested", options.edits)):
        taken = Taken(process.pid)
        for _ in range(count):
            line = session.type()
            asked: dict[str, Callable[[], Awaitable[None]]] = {
                "code actions": partial(session.actions, line),
                "hover": partial(session.hover, line),
                "inlay hints": partial(session.hints, line),
                "first diagnostics": session.told,
            }
            if title == "rested":
                asked["the whole"] = session.whole
            await taken(asked)
            floors.append(parsing(session.text))
        taken.table(f"{title}, {count} changes")
        await session.whole()
    print()
    spread("floor: ast.parse of the file, clock", floors)
    more = options.more
    print("\nchanges without rest: memory in MB")
    for done in range(more):
        if done % max(1, more // 10) == 0:
            print(f"{done:8,} {resident(process.pid) / 1e6:8.0f}", flush=True)
        session.type()
        await asyncio.sleep(REST)
    print(f"{more:8,} {resident(process.pid) / 1e6:8.0f}", flush=True)
    await session.whole()
    await asyncio.sleep(5)
    print(f"{'at rest':8} {resident(process.pid) / 1e6:8.0f}", flush=True)
    await ended(editor)


def inside(root: Path, path: Path, count: int, more: int) -> None:
    """Measure what a change costs in the server itself, as it collects garbage."""
    folder, settings = Folder(root.as_posix()), Settings()
    gc.disable()
    name, text, random_ = path.as_posix(), path.read_text("utf-8"), random.Random(20)
    took: list[tuple[float, bool]] = []
    began = time.process_time()
    folder.analyse({name: text}, settings)
    print(f"{'first whole':44} {(time.process_time() - began) * 1000:8.0f}", flush=True)
    for number in range(count + more):
        if number == count:
            table(took)
        if number >= count and (number - count) % max(1, more // 10) == 0:
            print(f"{number:8,} {resident(os.getpid()) / 1e6:8.0f} MB", flush=True)
        text = edited(text, random_)
        began = time.process_time()
        found = folder.glance({name: text}, settings)
        fast = found is not None and found.is_whole
        if not fast:
            folder.analyse({name: text}, settings)
        took.append((time.process_time() - began, fast))
        if number % 50 == 49:
            gc.collect()
    table(took)


def table(took: list[tuple[float, bool]]) -> None:
    """Print what changes cost, each with whether a glance was enough."""
    print(f"\n{'milliseconds of the processor':44} {'median':>8} {'p95':>8}")
    spread("change -> an answer of the whole", [seconds for seconds, _ in took])
    for words, wanted in (("by a glance", True), ("by a whole check", False)):
        some = [seconds for seconds, fast in took if fast is wanted]
        if some:
            spread(f"{len(some)} of {len(took)} {words}", some)


def processor(pid: int) -> float:
    """Return the seconds of the processor that a process's threads have used; Linux only."""
    used = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            used += int((task / "schedstat").read_text().split()[0])
    return used / 1e9


async def ended(editor: Editor) -> None:
    """End a session."""
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()


def main() -> None:
    """Measure a folder, or a package that is written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="a project; its largest file is typed into")
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--typed", type=int, default=60, help="changes upon the first answers")
    parser.add_argument("--edits", type=int, default=40, help="changes that wait for the whole")
    parser.add_argument("--more", type=int, default=1_000, help="changes without rest")
    parser.add_argument("--inside", action="store_true", help="without the protocol")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        os.environ["SAMEDEVICE_CACHE_DIR"] = os.path.join(os.path.realpath(made), "cache")
        root = Path(options.folder or os.path.join(os.path.realpath(made), "package")).resolve()
        if options.folder:
            path = max(root.rglob("*.py"), key=lambda each: each.read_bytes().count(b"torch"))
        else:
            path = written(root, options.lines)
        texts = [each.read_text("utf-8", "replace") for each in root.rglob("*.py")]
        lines = sum(text.count("\n") for text in texts)
        print(f"{len(texts)} files, {lines:,} lines; typed into: {path.name}, load "
              f"{os.getloadavg()[0]:.1f}")  # fmt: skip
        if options.inside:
            inside(root, path, options.edits, options.more)
        else:
            asyncio.run(run(root, path, options))


if __name__ == "__main__":
    main()
