"""The Language Server Protocol: what the editor asks -> analysis -> what the editor understands."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache, partial
from importlib import import_module
from threading import Event
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.workspace import Workspace

from .. import __version__, rules
from ..finding import UNDECIDED, Finding, Span
from ..inference.trace import Life
from ..migration.cache import folder as caches
from ..migration.check import Step
from ..reading.config import ConfigError
from ..reading.source import Source
from .analysis import Analysis, Folder, Settings
from .edits import range_of, replaced, text_edits
from .messages import BoundedReader

T = TypeVar("T")
Look = Callable[[Mapping[str, str], Settings, Step], Analysis | None]

NAME = "samedevice"
PAUSE = 0.001  # seconds without a key pressed before the text is looked at; a later one interrupts
PARENT = 2.0  # seconds between two looks at whether the editor is still there
SLOW = 0.5  # seconds that something takes before its progress is shown
REST = 2.0  # seconds without a change before memory is tidied up
UNTIDY = 50  # changes in a row after which it is tidied up all the same
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


class Interrupted(JsonRpcException):
    """The work was ended: what it was for has changed, or nobody wants it any more."""

    CODE = lsp.LSPErrorCodes.ContentModified.value
    MESSAGE = "the texts have changed"


class Job:
    """Something that the thread of analysis does; it ends at its next step once it is stopped."""

    def __init__(self, between: Callable[[], None] = lambda: None) -> None:
        self.stopped = False
        self.files = 0
        self._between = between

    def step(self, files: int) -> None:
        """Count files that are done; raises `Interrupted` when the job was stopped.

        What cannot wait for the end of it is done in `between`.
        """
        self.files += files
        if self.stopped:
            raise Interrupted
        self._between()


class _Protocol(LanguageServerProtocol):
    """Does what pygls leaves: answers to senseless requests, and texts that change in part.

    pygls would put changes where Python's `str.splitlines` begins a line (also after a form feed or
    U+2028), which neither the protocol nor Python's parser does. So it is given whole texts.
    """

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message as what it is; raises `JsonRpcException` when it is none."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), (int, str)):
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(
        self, params: lsp.DidChangeNotebookDocumentParams
    ) -> Iterator[Any]:
        """Put a change together to whole texts: a cell's comes in parts, whatever is agreed on."""
        changed = params.change.cells
        for cell in (changed.text_content if changed else None) or ():
            cell.changes = [self._whole(cell.document.uri, cell.changes)]
        yield from super().lsp_notebook_document__did_change(params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: lsp.DidChangeTextDocumentParams
    ) -> Iterator[Any]:
        """Put changes of a text together."""
        params.content_changes = [self._whole(params.text_document.uri, params.content_changes)]
        yield from super().lsp_text_document__did_change(params)

    def _whole(
        self, uri: str, changes: Sequence[lsp.TextDocumentContentChangeEvent]
    ) -> lsp.TextDocumentContentChangeWholeDocument:
        """Return what a document becomes by changes, each of the text that the one before made."""
        text = self.workspace.get_text_document(uri).source
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                text = replaced(text, change.range, change.text, _encoding(self.workspace))
            else:
                text = change.text
        return lsp.TextDocumentContentChangeWholeDocument(text)


class Server(LanguageServer):
    """One editor's session.

    The event loop answers messages and one thread does all analysis, so that what is asked is
    about one state of the texts and typing is never held up.
    """

    def __init__(self) -> None:
        super().__init__(
            NAME,
            __version__,
            protocol_cls=_Protocol,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            notebook_document_sync=lsp.NotebookDocumentSyncOptions(
                notebook_selector=[
                    lsp.NotebookDocumentFilterWithNotebook(
                        notebook="jupyter-notebook",
                        cells=[lsp.NotebookCellLanguage(language="python")],
                    )
                ],
                save=True,
            ),
        )
        self.settings: dict[str, Settings] = {}
        self.settled = asyncio.Event()  # whether the settings are known
        self._folders: dict[str, Folder] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._waiting: asyncio.Task[None] | None = None
        self._parent: asyncio.Task[None] | None = None
        self._untidy = 0
        self._complaint = ""
        self._published: set[str] = set()
        self._jobs: set[Job] = set()
        self._urgent: deque[Callable[[], None]] = deque()
        self._numbers: dict[str, tuple[str, list[lsp.Diagnostic]]] = {}

    # -- texts and folders --------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        """The position encoding that was agreed on: "utf-8", "utf-16" or "utf-32"."""
        return _encoding(self.workspace)

    def open_texts(self) -> dict[str, str]:
        """Return what the editor has open, by path; a notebook as its JSON."""
        texts = {
            path_of(document.uri): document.source
            for document in self.workspace.text_documents.values()
            if self.workspace.get_notebook_document(cell_uri=document.uri) is None
            and document.language_id in (None, "", "python")
        }
        for notebook in self.workspace.notebook_documents.values():
            cells: list[dict[str, Any]] = [
                {
                    "cell_type": "code" if self._is_code(cell) else "raw",
                    "source": self._cell(cell.document) if self._is_code(cell) else "",
                    "metadata": {},
                }
                for cell in notebook.cells
            ]
            shape = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            texts[path_of(notebook.uri)] = json.dumps(shape)
        return texts

    def _is_code(self, cell: lsp.NotebookCell) -> bool:
        return (
            cell.kind == lsp.NotebookCellKind.Code
            and self.workspace.get_notebook_document(cell_uri=cell.document) is not None
        )

    def _cell(self, uri: str) -> str:
        return self.workspace.get_text_document(uri).source

    def uris(self) -> dict[str, str]:
        """Return the client's own URIs of what is open, by path."""
        known = {path_of(uri): document.uri for uri, document in self._documents()}
        for notebook in self.workspace.notebook_documents.values():
            known[path_of(notebook.uri)] = notebook.uri
        return known

    def _documents(self) -> Iterator[tuple[str, Any]]:
        for document in self.workspace.text_documents.values():
            if self.workspace.get_notebook_document(cell_uri=document.uri) is None:
                yield document.uri, document

    def folder_of(self, path: str) -> Folder:
        """Return the innermost workspace folder around a file; the file itself without one."""
        roots = self._roots()
        if not roots and self.workspace.root_uri:
            roots = [path_of(self.workspace.root_uri)]
        around = [root for root in roots if path.startswith(root.rstrip("/") + "/")]
        return self.folder(max(around, key=len) if around else path)

    def _roots(self) -> list[str]:
        # Not the keys: pygls has unquoted them, so that `%23` would begin a fragment.
        return [path_of(folder.uri) for folder in self.workspace.folders.values()]

    def folder(self, root: str) -> Folder:
        """Return what is known of the folder `root`."""
        if root not in self._folders:
            self._folders[root] = Folder(root)
        return self._folders[root]

    def all_folders(self) -> list[Folder]:
        """Return the workspace's folders, and the open files that lie in none."""
        roots = map(self.folder, self._roots())
        return list(dict.fromkeys([*roots, *map(self.folder_of, self.uris())]))

    def close_folder(self, root: str) -> None:
        """Forget a folder that is none of the workspace's any more."""
        self._folders.pop(root, None)
        self.settings.pop(root, None)

    def settings_of(self, folder: Folder) -> Settings:
        """Return what the editor's user has set for a folder."""
        return self.settings.get(folder.root) or self.settings.get("") or Settings()

    def refresh(self) -> None:
        """Look at the disk again before the next analysis."""
        for folder in self._folders.values():
            folder.refresh()

    def warm_up(self) -> None:
        """Load what fixes need while nothing is asked: it takes a while."""
        self._worker.submit(import_module, "samedevice.migration.migrate")

    # -- analysis -----------------------------------------------------------------------------

    async def work(
        self,
        function: Callable[[Step], T],
        title: str = "looking at files",
        token: lsp.ProgressToken | None = None,
    ) -> T:
        """Run `function` on the thread of analysis; it is given what to call at its steps.

        Raises `Interrupted` when the texts change. Progress is shown if it takes long: under the
        editor's `token`, or one of the server's.
        """
        job = Job(self._do_urgent)
        self._jobs.add(job)
        loop = asyncio.get_running_loop()
        shown = loop.create_task(self._progress(job, title) if token is None
                                 else self._progress_under(token, job))  # fmt: skip
        try:
            return await loop.run_in_executor(self._worker, lambda: function(job.step))
        finally:
            job.stopped = True  # nobody waits for it any more
            self._jobs.discard(job)
            shown.cancel()

    async def _at_once(self, function: Callable[[Step], T]) -> T:
        """Run something short on the thread of analysis, between two steps of what it is doing.

        Raises `Interrupted` when the texts change.
        """
        job, answer = Job(), Future[T]()
        self._jobs.add(job)

        def do() -> None:
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(function(job.step))
                except BaseException as error:  # whoever waits is told
                    answer.set_exception(error)

        self._urgent.append(do)
        self._worker.submit(self._do_urgent)  # if nothing is being done
        try:
            return await asyncio.wrap_future(answer)
        finally:
            job.stopped = True
            self._jobs.discard(job)

    def _do_urgent(self) -> None:
        while self._urgent:
            self._urgent.popleft()()

    async def _progress(self, job: Job, title: str) -> None:
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        await asyncio.sleep(SLOW)
        token = str(uuid.uuid4())
        await self.work_done_progress.create_async(token)
        self.work_done_progress.begin(token, lsp.WorkDoneProgressBegin(f"samedevice: {title}"))
        try:
            while True:
                message = f"{job.files} files" if job.files else None
                self.work_done_progress.report(token, lsp.WorkDoneProgressReport(message=message))
                await asyncio.sleep(SLOW)
        finally:
            self.work_done_progress.end(token, lsp.WorkDoneProgressEnd())
            self.work_done_progress.tokens.pop(token, None)

    async def _progress_under(self, token: lsp.ProgressToken, job: Job) -> None:
        while True:
            await asyncio.sleep(SLOW)
            report = lsp.WorkDoneProgressReport(message=f"{job.files} files")
            self.work_done_progress.report(token, report)

    @contextlib.contextmanager
    def shown(self, token: lsp.ProgressToken | None, title: str) -> Iterator[None]:
        """Have an editor that gave a token show that something is being done."""
        if token is not None:
            begin = lsp.WorkDoneProgressBegin(f"samedevice: {title}")
            self.work_done_progress.begin(token, begin)
        try:
            yield
        finally:
            if token is not None:
                self.work_done_progress.end(token, lsp.WorkDoneProgressEnd())

    async def _settings_known(self) -> None:
        """Wait for the settings that the editor was asked for at the start, but not for long."""
        if not self.settled.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.settled.wait(), SLOW)
            self.settled.set()

    async def analyse(
        self, folder: Folder, token: lsp.ProgressToken | None = None
    ) -> Analysis | None:
        """Return what is known of `folder`; None, and a message, when the settings are wrong."""
        return await self._analysed(folder, folder.analyse, token)

    def soon(self, folder: Folder) -> Analysis | None:
        """Return what was last known of `folder`, in the texts of now; see `Folder.soon`."""
        return folder.soon(self._texts_of(folder))

    def traced(self, folder: Folder, path: str, line: int) -> tuple[Analysis, list[Life]] | None:
        """Return what was last known of where values around a line live, if that is as it was."""
        known = folder.traced(self._texts_of(folder), path)
        return None if known is None or known[0].changed(path, [line]) else known

    async def close_up(
        self, folder: Folder, path: str, line: int
    ) -> tuple[Analysis, list[Life]] | None:
        """Return where values around a line live, without waiting; see `Folder.close_up`."""
        await self._settings_known()
        texts, settings = self._texts_of(folder), self.settings_of(folder)
        look = partial(folder.close_up, texts, settings, path, line)
        with contextlib.suppress(ConfigError, Interrupted):
            return await self._at_once(look)
        return None

    async def lives_soon(
        self, folder: Folder, path: str, lines: range
    ) -> list[tuple[Analysis, list[Life]]] | None:
        """Return where values in some lines live, without waiting; see `Folder.lives_soon`."""
        await self._settings_known()
        texts, settings = self._texts_of(folder), self.settings_of(folder)
        look = partial(folder.lives_soon, texts, settings, path, lines)
        with contextlib.suppress(ConfigError, Interrupted):
            return await self._at_once(look)
        return None

    async def lives(self, folder: Folder, path: str) -> tuple[Analysis, list[Life]] | None:
        """Return where the values of a file live, once all is judged; None for wrong settings."""
        analysis = await self.analyse(folder)
        if analysis is None:
            return None
        found = await self.work(lambda step: analysis.lives(path))
        folder.keep_trace(analysis)
        return analysis, found

    def _texts_of(self, folder: Folder) -> dict[str, str]:
        return {
            path: text for path, text in self.open_texts().items() if self.folder_of(path) is folder
        }

    async def glance(self, folder: Folder) -> Analysis | None:
        """Return what is most likely found in `folder`, fast; None when only `analyse` can tell."""
        return await self._analysed(folder, folder.glance)

    async def _analysed(
        self, folder: Folder, look: Look, token: lsp.ProgressToken | None = None
    ) -> Analysis | None:
        await self._settings_known()
        while True:
            texts = self._texts_of(folder)
            settings = self.settings_of(folder)
            try:
                analysis = await self.work(partial(look, texts, settings), token=token)
            except Interrupted:
                continue  # the texts are others by now
            except ConfigError as error:
                self._complain(str(error))
                return None
            self._complaint = ""
            return analysis

    def interrupt(self) -> None:
        """End what is being done for texts that have changed."""
        for job in self._jobs:
            job.stopped = True

    def _complain(self, message: str) -> None:
        """Show a message, once for as long as its reason stays."""
        if message != self._complaint:
            self._complaint = message
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))

    @property
    def pulled(self) -> bool:
        """Whether the editor asks for diagnostics, so that it need not be told them."""
        text_document = self.client_capabilities.text_document
        return text_document is not None and text_document.diagnostic is not None

    @property
    def asks_again(self) -> bool:
        """Whether the editor asks for diagnostics, and does so again when it is told to."""
        workspace = self.client_capabilities.workspace
        diagnostics = workspace.diagnostics if workspace else None
        return self.pulled and diagnostics is not None and bool(diagnostics.refresh_support)

    def look(self, pause: float = 0.0) -> None:
        """Tell the editor what is found, once its texts rest for `pause` seconds."""
        self.interrupt()
        self._untidy += 1  # what is interrupted leaves something behind as well
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().create_task(self._look(pause))
        self._waiting.add_done_callback(self._looked)

    def _looked(self, task: asyncio.Task[None]) -> None:
        """Tell of a fault in samedevice, which nobody waits for and would go unseen."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            text = "".join(traceback.format_exception(error))
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, text))

    async def _look(self, pause: float) -> None:
        await asyncio.sleep(pause)
        if self._untidy >= UNTIDY:
            await self._tidy()
        waiting: dict[Folder, list[lsp.PublishDiagnosticsParams]] = {}
        for folder in {self.folder_of(path): None for path in self.uris()}:
            glanced = await self.glance(folder)
            told = self._found(folder, glanced) if glanced is not None else []
            self._tell(told)
            if glanced is not None and glanced.is_whole:
                waiting[folder] = told  # what the whole says, which takes longer
            else:
                self._tell(self._found(folder, await self.analyse(folder)), told)
        await asyncio.sleep(SLOW)
        for folder, told in waiting.items():
            self._tell(self._found(folder, await self.analyse(folder)), told)
        self.refresh_hints()  # an edit of one file may change those of another
        await asyncio.sleep(REST - SLOW)
        await self._tidy()

    def _found(
        self, folder: Folder, analysis: Analysis | None
    ) -> list[lsp.PublishDiagnosticsParams]:
        """Return what is found in the texts of a folder, for each document."""
        versions = self.versions()
        return [
            lsp.PublishDiagnosticsParams(target, of_target, versions.get(target))
            for path, uri in self.uris().items()
            if self.folder_of(path) is folder
            for target, of_target in self._by_document(
                path, uri, [] if analysis is None else self.diagnostics(analysis, path)
            ).items()
        ]

    def _tell(
        self,
        found: list[lsp.PublishDiagnosticsParams],
        told: Sequence[lsp.PublishDiagnosticsParams] = (),
    ) -> None:
        """Tell the editor what is found, beside what it was `told` at a glance."""
        versions = self.versions()
        new = [params for params in found if params not in told]
        for params in new:
            if not self.pulled or params.uri not in versions:
                self._published.add(params.uri)
                self.text_document_publish_diagnostics(params)
        if told and new and self.asks_again:
            self.workspace_diagnostic_refresh(None)

    async def _tidy(self) -> None:
        """Collect what inferences left behind.

        They leave circles. To look for them takes longer than to answer a change, so it is done
        while nothing is typed (`serve` has switched off that it happens).
        """
        self._untidy = 0
        await self.work(lambda step: gc.collect())

    @property
    def refreshes_hints(self) -> bool:
        """Whether the editor can be told to ask for inlay hints again."""
        workspace = self.client_capabilities.workspace
        able = workspace.inlay_hint if workspace else None
        return able is not None and bool(able.refresh_support)

    def refresh_hints(self) -> None:
        """Have the editor ask for inlay hints again, if it has any and can be told to."""
        if self.refreshes_hints:
            self.workspace_inlay_hint_refresh(None)

    def versions(self) -> dict[str, int | None]:
        """Return the versions of the texts that are open, by URI; a notebook's cells have none."""
        return {uri: document.version for uri, document in self._documents()}

    def number(self, uri: str, diagnostics: list[lsp.Diagnostic]) -> str:
        """Return the name of an answer: the same one while a document's diagnostics stay."""
        known = self._numbers.get(uri)
        if known is None or known[1] != diagnostics:
            known = self._numbers[uri] = str(uuid.uuid4()), diagnostics
        return known[0]

    def _by_document(
        self, path: str, uri: str, found: list[tuple[str, lsp.Diagnostic]]
    ) -> dict[str, list[lsp.Diagnostic]]:
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        targets = [cell.document for cell in notebook.cells] if notebook else [uri]
        grouped: dict[str, list[lsp.Diagnostic]] = {target: [] for target in targets}
        for target, diagnostic in found:
            grouped.setdefault(target, []).append(diagnostic)
        return grouped

    def forget(self, uri: str) -> None:
        """Take back what was told of a document that was closed."""
        self._numbers.pop(uri, None)
        if uri in self._published:
            self._published.discard(uri)
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def diagnostics(self, analysis: Analysis, path: str) -> list[tuple[str, lsp.Diagnostic]]:
        """Return the diagnostics of a file, each with the document that it is for."""
        found = [
            (self.location(analysis, path, finding.span).uri, self.diagnostic(analysis, finding))
            for finding in analysis.of(path)
        ]
        if path in analysis.broken:
            _, error = analysis.broken[path]
            line, column = error.line or 1, error.column or 0
            where = self.location(analysis, path, Span(line, column, line, column))
            message = f"this does not parse ({error.message})"
            if path in analysis.lines:
                message += "; what was found before is kept"
            found.append(
                (
                    where.uri,
                    lsp.Diagnostic(
                        where.range,
                        message,
                        severity=lsp.DiagnosticSeverity.Information,
                        source=NAME,
                        code="syntax",
                    ),
                )
            )
        return found

    def diagnostic(self, analysis: Analysis, finding: Finding) -> lsp.Diagnostic:
        """Return a finding as the editor shows it."""
        message = finding.message
        if finding.unfixed:
            message += f"\nno fix: {finding.unfixed}"
        text = analysis.source(finding.path)
        cell = text.cell_of(finding.span.line) if text is not None else None
        uri = self.uri_of(finding.path)
        if cell and self.workspace.get_notebook_document(notebook_uri=uri) is None:
            message = f"cell {cell[0] + 1}, line {cell[1]}: {message}"
        severity = _SEVERITY[finding.level]
        if finding in analysis.old or finding.rule == UNDECIDED:  # nobody has to act
            severity = lsp.DiagnosticSeverity.Hint
        return lsp.Diagnostic(
            self.location(analysis, finding.path, finding.span).range,
            message,
            severity=severity,
            code=finding.rule,
            code_description=_description(finding.rule),
            source=NAME,
            related_information=[
                lsp.DiagnosticRelatedInformation(
                    self.location(analysis, origin.path, origin.span), origin.text
                )
                for origin in finding.origins
            ],
        )

    def location(self, analysis: Analysis, path: str, span: Span) -> lsp.Location:
        """Return a place in a file as the editor counts it; in a notebook, in its cell."""
        text = analysis.source(path)
        uri = self.uri_of(path)
        if text is None:
            return lsp.Location(uri, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))
        there = range_of(text.line, span, self.encoding)
        cell = text.cell_of(span.line)
        if cell is None:
            return lsp.Location(uri, there)
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is None or cell[0] >= len(notebook.cells):  # not open: lines are those of JSON
            return lsp.Location(uri, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))
        moved = span.line - max(cell[1], 1)  # lines of the joined text before the cell's first
        there.start.character += text.in_front(span.line)
        there.end.character += text.in_front(span.end_line)
        there.start.line -= moved
        there.end.line -= moved
        return lsp.Location(notebook.cells[cell[0]].document, there)

    def uri_of(self, path: str) -> str:
        """Return the client's own URI of a file where it has one."""
        return self.uris().get(path) or uris.from_fs_path(path) or path

    def find_path(self, uri: str) -> str:
        """Return the path of a document, that of its notebook for a cell."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        return path_of(notebook.uri if notebook is not None else uri)

    # -- edits --------------------------------------------------------------------------------

    def workspace_edit(
        self,
        analysis: Analysis,
        changed: Mapping[str, Source],
        label: str = "",
        confirmed: bool = False,
    ) -> lsp.WorkspaceEdit:
        """Return the edits that make `changed` of the texts; with a `label`, to be `confirmed`.

        Raises `ValueError` when the editor cannot make a file, or change a notebook as it is.
        """
        workspace = self.client_capabilities.workspace
        able = workspace.workspace_edit if workspace else None
        new_files = [path for path in changed if analysis.source(path) is None]
        operations = (able.resource_operations if able else None) or []
        if new_files and lsp.ResourceOperationKind.Create not in operations:
            raise ValueError(f"this editor cannot create {', '.join(new_files)}")
        note = label if label and able and able.change_annotation_support else ""
        documents: list[lsp.TextDocumentEdit | lsp.CreateFile] = []
        for path in new_files:
            documents.append(
                lsp.CreateFile(
                    uris.from_fs_path(path) or path,
                    options=lsp.CreateFileOptions(ignore_if_exists=False),
                    annotation_id=label if note else None,
                )
            )
        for path, after in changed.items():
            for uri, edits in self._edits(analysis.source(path), after, path):
                listed: list[lsp.TextEdit | lsp.AnnotatedTextEdit | lsp.SnippetTextEdit] = [
                    lsp.AnnotatedTextEdit(label, edit.range, edit.new_text) if note else edit
                    for edit in edits
                ]
                version = self._version(uri)
                documents.append(
                    lsp.TextDocumentEdit(
                        lsp.OptionalVersionedTextDocumentIdentifier(uri, version), listed
                    )
                )
        if able is None or not able.document_changes:
            changes: dict[str, Sequence[lsp.TextEdit]] = {
                item.text_document.uri: [
                    edit for edit in item.edits if isinstance(edit, lsp.TextEdit)
                ]
                for item in documents
                if isinstance(item, lsp.TextDocumentEdit)
            }
            return lsp.WorkspaceEdit(changes=changes)
        annotations = {label: lsp.ChangeAnnotation(label, needs_confirmation=not confirmed)}
        return lsp.WorkspaceEdit(
            document_changes=documents, change_annotations=annotations if note else None
        )

    def _version(self, uri: str) -> int | None:
        return next((doc.version for known, doc in self._documents() if known == uri), None)

    def _edits(
        self, before: Source | None, after: Source, path: str
    ) -> Iterator[tuple[str, list[lsp.TextEdit]]]:
        uri = self.uri_of(path)
        if before is None or not before.is_notebook:
            old = before.text if before is not None else ""
            yield uri, text_edits(old, after.text, self.encoding, self._newline(uri, before))
            return
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is None and self.client_capabilities.notebook_document is not None:
            # VS Code changes its JSON out of sight, and what it shows and saves stays as it was.
            raise ValueError(f"{path} is a notebook that is not open: open it, and ask again")
        if notebook is None:  # not open: its JSON is what an editor can change
            old, new = (text.encode(text.text).decode() for text in (before, after))
            yield uri, text_edits(old, new, self.encoding)
            return
        now = after.cells(after.text)
        for index, text in before.cells(before.text).items():
            if text != now[index]:
                edits = text_edits(text, now[index], self.encoding)
                yield notebook.cells[index].document, edits

    def _newline(self, uri: str, before: Source | None) -> str:
        for known, document in self._documents():
            if known == uri:
                return "\r\n" if "\r\n" in document.source else "\n"
        if before is not None and b"\r\n" in before.encode(before.text):
            return "\r\n"
        return "\n"

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Write to the editor's log what its user can do nothing about."""
        message = f"{source.__name__}: {error}"
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, message))

    # -- the process --------------------------------------------------------------------------

    def watch_parent(self) -> None:
        """End with the editor, even where its death leaves the pipes open.

        A number that is no process here (an editor outside of a container) is not watched.
        """
        if self.process_id is not None and os.name == "posix" and _is_alive(self.process_id):
            self._parent = asyncio.get_running_loop().create_task(self._watch(self.process_id))

    async def _watch(self, process_id: int) -> None:
        while _is_alive(process_id):
            await asyncio.sleep(PARENT)
        os._exit(1)

    def start_tcp(self, host: str, port: int) -> None:
        """Serve one editor on a socket. pygls would wait on when the connection is reset."""
        self._stop_event = stopped = Event()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.protocol.set_writer(writer)
            try:
                await run_async(
                    stopped,
                    BoundedReader(reader),
                    self.protocol,
                    error_handler=self.report_server_error,
                )
            except (OSError, EOFError, ValueError) as error:  # ValueError: a line without an end
                logging.getLogger(NAME).error("the connection is lost: %s", error)
            finally:
                self.shutdown()

        async def serve() -> None:
            self._server = await asyncio.start_server(connected, host, port)
            async with self._server:
                await self._server.serve_forever()

        with contextlib.suppress(asyncio.CancelledError):  # that is how a session ends
            asyncio.run(serve())

    def shutdown(self) -> None:
        """End the session: what is still being analysed is not waited for."""
        self.interrupt()
        self._worker.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]


def _encoding(workspace: Workspace) -> str:
    chosen = workspace.position_encoding
    return str(getattr(chosen, "value", chosen) or "utf-16")


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@lru_cache(maxsize=4096)
def path_of(uri: str) -> str:
    """Return the path of a URI as the project names it; an unsaved text's URI is its name."""
    name = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.normpath(name).replace("\\", "/") if name else uri


@cache
def _description(rule: str) -> lsp.CodeDescription | None:
    """Return the page of a rule, made of what `samedevice rules` shows: a file among the caches.

    None for a user without a place for caches.
    """
    known = rules.load().get(rule)
    if known is None:
        return None
    try:
        page = caches() / "rules" / f"{rule}.md"
        text = f"# {rule}\n\n{known.doc}\n"
        if not page.exists() or page.read_text("utf-8") != text:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, "utf-8")
        return lsp.CodeDescription(page.absolute().as_uri())
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None
