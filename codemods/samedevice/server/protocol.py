"""The Language Server Protocol: what the editor asks -> analysis -> what the editor understands."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from .. import __version__
from ..config import ConfigError
from ..finding import Finding, Span
from ..migrate import key
from ..source import Source, SourceError, from_bytes
from .analysis import PLACES, Analysis, Folder, Settings, named
from .edits import range_of, text_edits

T = TypeVar("T")

NAME = "samedevice"
FIX_ALL = "source.fixAll.samedevice"
CENTRALIZE = "samedevice.server.centralize"
PAUSE = 0.05  # seconds without a key pressed before the text is looked at
PARENT = 5.0  # seconds between two looks at whether the editor is still there
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
_WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/requirements.txt", "**/.gitignore")


class RequestFailed(JsonRpcException):
    """An answer that says why there is none, for the user."""

    CODE = lsp.LSPErrorCodes.RequestFailed.value


class Server(LanguageServer):
    """One editor's session.

    The event loop answers messages and one thread does all analysis, so that what is asked is
    about one state of the texts and typing is never held up.
    """

    def __init__(self) -> None:
        # The whole text on each change: pygls cuts it into lines where Python's str.splitlines
        # does (form feeds, U+2028), which neither the protocol nor Python's parser calls lines.
        super().__init__(
            NAME,
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
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
        self.settings = Settings()
        self._folders: dict[str, Folder] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._waiting: asyncio.Task[None] | None = None
        self._parent: asyncio.Task[None] | None = None
        self._complaint = ""
        self._published: set[str] = set()

    # -- texts and folders --------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        """The position encoding that was agreed on: "utf-8", "utf-16" or "utf-32"."""
        chosen = self.workspace.position_encoding
        return str(getattr(chosen, "value", chosen) or "utf-16")

    def open_texts(self) -> dict[str, str]:
        """Return what the editor has open, by path; a notebook as its JSON."""
        texts = {
            _path(document.uri): document.source
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
            texts[_path(notebook.uri)] = json.dumps(shape)
        return texts

    def _is_code(self, cell: lsp.NotebookCell) -> bool:
        return (
            cell.kind == lsp.NotebookCellKind.Code
            and cell.document in self.workspace.text_documents
        )

    def _cell(self, uri: str) -> str:
        return self.workspace.get_text_document(uri).source

    def uris(self) -> dict[str, str]:
        """Return the client's own URIs of what is open, by path."""
        known = {_path(uri): document.uri for uri, document in self._documents()}
        for notebook in self.workspace.notebook_documents.values():
            known[_path(notebook.uri)] = notebook.uri
        return known

    def _documents(self) -> Iterator[tuple[str, Any]]:
        for document in self.workspace.text_documents.values():
            if self.workspace.get_notebook_document(cell_uri=document.uri) is None:
                yield document.uri, document

    def folder_of(self, path: str) -> Folder:
        """Return the innermost workspace folder around a file; the file itself without one."""
        roots = [_path(uri) for uri in self.workspace.folders]
        if not roots and self.workspace.root_uri:
            roots = [_path(self.workspace.root_uri)]
        around = [root for root in roots if path.startswith(root.rstrip("/") + "/")]
        return self.folder(max(around, key=len) if around else path)

    def folder(self, root: str) -> Folder:
        """Return what is known of the folder `root`."""
        if root not in self._folders:
            self._folders[root] = Folder(root)
        return self._folders[root]

    def refresh(self) -> None:
        """Look at the disk again before the next analysis, and forget folders that were closed."""
        for folder in self._folders.values():
            folder.refresh()

    # -- analysis -----------------------------------------------------------------------------

    async def work(self, function: Callable[[], T]) -> T:
        """Run `function` on the thread of analysis."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, function)

    async def analyse(self, folder: Folder) -> Analysis | None:
        """Return what is known of `folder`; None, and a message, when the settings are wrong."""
        texts = {
            path: text for path, text in self.open_texts().items() if self.folder_of(path) is folder
        }
        try:
            analysis = await self.work(lambda: folder.analyse(texts, self.settings))
        except ConfigError as error:
            self._complain(str(error))
            return None
        self._complaint = ""
        return analysis

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

    def look(self, pause: float = 0.0) -> None:
        """Tell the editor what is found, once its texts rest for `pause` seconds."""
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
        known = self.uris()
        versions = {uri: document.version for uri, document in self._documents()}
        for folder in {self.folder_of(path): None for path in known}:
            analysis = await self.analyse(folder)
            for path, uri in known.items():
                if self.folder_of(path) is not folder:
                    continue
                if self.pulled and uri in versions:
                    continue
                found = [] if analysis is None else self.diagnostics(analysis, path)
                for target, of_target in self._by_document(path, uri, found).items():
                    self._published.add(target)
                    self.text_document_publish_diagnostics(
                        lsp.PublishDiagnosticsParams(target, of_target, versions.get(target))
                    )

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
            message = f"this does not parse ({error.message}); what was found before is kept"
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
        severity = _SEVERITY[finding.level]
        if finding in analysis.old:
            severity = lsp.DiagnosticSeverity.Hint
        return lsp.Diagnostic(
            self.location(analysis, finding.path, finding.span).range,
            message,
            severity=severity,
            code=finding.rule,
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
        uri = self.uris().get(path) or uris.from_fs_path(path) or path
        if text is None:
            return lsp.Location(uri, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))
        there = range_of(text.line, span, self.encoding)
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        cell = text.cell_of(span.line)
        if notebook is None or cell is None or cell[0] >= len(notebook.cells):
            return lsp.Location(uri, there)
        moved = span.line - max(cell[1], 1)  # lines of the joined text before the cell's first
        there.start.line -= moved
        there.end.line -= moved
        return lsp.Location(notebook.cells[cell[0]].document, there)

    def find_path(self, uri: str) -> str:
        """Return the path of a document, that of its notebook for a cell."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        return _path(notebook.uri if notebook is not None else uri)

    # -- edits --------------------------------------------------------------------------------

    def workspace_edit(
        self, analysis: Analysis, changed: Mapping[str, Source], label: str = ""
    ) -> lsp.WorkspaceEdit:
        """Return the edits that make `changed` of the texts; with a `label`, to be confirmed.

        Raises `ValueError` when files have to be made and the editor cannot.
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
        annotations = {label: lsp.ChangeAnnotation(label, needs_confirmation=True)}
        return lsp.WorkspaceEdit(
            document_changes=documents, change_annotations=annotations if note else None
        )

    def _version(self, uri: str) -> int | None:
        return next((doc.version for known, doc in self._documents() if known == uri), None)

    def _edits(
        self, before: Source | None, after: Source, path: str
    ) -> Iterator[tuple[str, list[lsp.TextEdit]]]:
        uri = self.uris().get(path) or uris.from_fs_path(path) or path
        if before is None or not before.is_notebook:
            old = before.text if before is not None else ""
            yield uri, text_edits(old, after.text, self.encoding, self._newline(uri, before))
            return
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
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

    def shutdown(self) -> None:
        """End the session: what is still being analysed is not waited for."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _path(uri: str) -> str:
    """Return the path of a URI as the project names it; an unsaved text's URI is its name."""
    name = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.normpath(name).replace("\\", "/") if name else uri


def serve(port: int | None = None) -> None:
    """Serve one editor on standard input and output, or on `port` of this machine."""
    server = make()
    if port is None:
        server.start_io()
    else:
        server.start_tcp("127.0.0.1", port)


def make() -> Server:
    """Return a server with all that it answers."""
    server = Server()
    _sessions(server)
    _documents(server)
    _questions(server)
    _actions(server)
    return server


def _sessions(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        if isinstance(options, dict):
            _configure(server, options.get("settings", options))

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        server.watch_parent()
        await _ask_settings(server)
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching and watching.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(pattern) for pattern in _WATCHED]
            registration = lsp.Registration(
                "files",
                lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                lsp.DidChangeWatchedFilesRegistrationOptions(watchers),
            )
            await server.client_register_capability_async(lsp.RegistrationParams([registration]))

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed_settings(params: lsp.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, dict) and params.settings:
            _configure(server, params.settings)
        else:
            await _ask_settings(server)
        await _again(server)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def changed_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.refresh()
        await _again(server)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def changed_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        server.refresh()
        await _again(server)


async def _again(server: Server) -> None:
    """Have everything that is open looked at again."""
    server.look()
    workspace = server.client_capabilities.workspace
    diagnostics = workspace.diagnostics if workspace else None
    if server.pulled and diagnostics and diagnostics.refresh_support:
        await server.workspace_diagnostic_refresh_async(None)


async def _ask_settings(server: Server) -> None:
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    items = [lsp.ConfigurationItem(section=NAME)]
    answers = await server.workspace_configuration_async(lsp.ConfigurationParams(items))
    if answers and isinstance(answers[0], dict) and answers[0]:
        _configure(server, answers[0])


def _configure(server: Server, given: object) -> None:
    """Take the settings that an editor has; one of the wrong type is told and passed over."""
    section = given.get(NAME, given) if isinstance(given, dict) else None
    if not isinstance(section, dict):
        return
    values: dict[str, Any] = {}
    for name, field, fits in (
        ("inlayHints", "inlay_hints", lambda value: value in ("off", "clashes", "all")),
        ("unsafe", "unsafe", lambda value: isinstance(value, bool)),
        ("select", "select", _is_list),
        ("ignore", "ignore", _is_list),
        ("resolver", "resolver", lambda value: isinstance(value, str)),
    ):
        value = section.get(name)
        if value is None:
            continue
        if fits(value):
            values[field] = tuple(value) if isinstance(value, list) else value
        else:
            message = f"samedevice.{name}: {value!r} is no value for this setting"
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))
    server.settings = Settings(**values)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _documents(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.look()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.look(PAUSE)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.refresh()  # an editor need not watch files
        server.look()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
        server.look()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        server.look()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        server.look(PAUSE)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: lsp.DidSaveNotebookDocumentParams) -> None:
        server.refresh()
        server.look()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            server.forget(cell.uri)
        server.look()


def _questions(server: Server) -> None:
    options = lsp.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=False, identifier=NAME
    )

    @server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pull(params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        uri = params.text_document.uri
        path = server.find_path(uri)
        analysis = await server.analyse(server.folder_of(path))
        found = [] if analysis is None else server.diagnostics(analysis, path)
        return lsp.RelatedFullDocumentDiagnosticReport(
            [diagnostic for target, diagnostic in found if target == uri]
        )

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri, at = params.text_document.uri, params.position
        path = server.find_path(uri)
        analysis = await server.analyse(server.folder_of(path))
        if analysis is None:
            return None
        best: tuple[Span, lsp.Range, str] | None = None
        for known in await server.work(lambda: analysis.known(path)):
            where = server.location(analysis, path, known.span)
            if where.uri != uri or not _holds(where.range, at):
                continue
            if best is not None and not _inside(known.span, best[0]):
                continue
            verb = "is" if known.certain else "is expected"
            lines = [f"`{known.code}` {verb} {PLACES[known.place]}"]
            for origin in known.why:
                source = analysis.source(origin.path)
                if source is not None and (origin.path, origin.span) != (path, known.span):
                    place = f"{os.path.basename(origin.path)}:{origin.span.line}"
                    code = source.line(origin.span.line).strip()
                    lines.append(f"{origin.text}: {place}\n```python\n{code}\n```")
            best = known.span, where.range, "\n\n".join(lines)
        if best is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, best[2]), best[1])

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        wanted = server.settings.inlay_hints
        uri = params.text_document.uri
        path = server.find_path(uri)
        analysis = None if wanted == "off" else await server.analyse(server.folder_of(path))
        if analysis is None:
            return []
        hints = []
        for known in await server.work(lambda: analysis.known(path)):
            if known.place.value == "unknown" or (wanted == "clashes" and not known.clashes):
                continue
            where = server.location(analysis, path, known.span)
            if where.uri == uri and _holds(params.range, where.range.end):
                tooltip = PLACES[known.place]
                hints.append(
                    lsp.InlayHint(where.range.end, f": {known.place.value}", tooltip=tooltip)
                )
        return hints


def _holds(outer: lsp.Range, at: lsp.Position) -> bool:
    return outer.start <= at <= outer.end


def _inside(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) and (
        inner.end_line,
        inner.end_column,
    ) <= (outer.end_line, outer.end_column)


def _actions(server: Server) -> None:
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]
    options = lsp.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        path = server.find_path(params.text_document.uri)
        analysis = await server.analyse(server.folder_of(path))
        if analysis is None or path in analysis.broken:
            return []
        only = params.context.only
        offered = [
            action
            for action in _offers(server, analysis, path, params)
            if only is None or any(_is_kind(str(action.kind), str(kind)) for kind in only)
        ]
        if _resolves(server):
            return offered
        made = []
        for action in offered:
            with contextlib.suppress(ValueError, SourceError):
                made.append(await _resolved(server, analysis, action))
        return made

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        data = action.data
        if not isinstance(data, dict) or not isinstance(data.get("path"), str):
            raise JsonRpcInvalidParams(message="this action is not one of samedevice's")
        analysis = await server.analyse(server.folder_of(data["path"]))
        try:
            if analysis is None:
                raise ValueError("the settings cannot be used")
            return await _resolved(server, analysis, action)
        except (ValueError, SourceError) as error:
            raise RequestFailed(message=f"samedevice: {error}") from None

    @server.command(CENTRALIZE)
    async def centralize(folder_uri: str) -> dict[str, int]:
        folder = server.folder(_path(folder_uri))
        analysis = await server.analyse(folder)
        if analysis is None:
            raise RequestFailed(message="samedevice: the settings cannot be used")
        outcome = await server.work(analysis.centralize)
        changed = {change.path: outcome.sources[change.path] for change in outcome.changes}
        if changed:
            label = "Centralize the device"
            try:
                edit = server.workspace_edit(analysis, changed, label)
            except (ValueError, SourceError) as error:
                raise RequestFailed(message=f"samedevice: {error}") from None
            answer = await server.workspace_apply_edit_async(
                lsp.ApplyWorkspaceEditParams(edit, label)
            )
            if not answer.applied:
                why = answer.failure_reason or "the editor did not apply it"
                raise RequestFailed(message=f"samedevice: {why}")
        return {"files": len(changed), "left": len(outcome.remaining)}


def _resolves(server: Server) -> bool:
    text_document = server.client_capabilities.text_document
    able = text_document.code_action if text_document else None
    support = able.resolve_support if able else None
    return support is not None and "edit" in support.properties


def _is_kind(kind: str, asked: str) -> bool:
    return kind == asked or kind.startswith(asked + ".") or asked == ""


def _offers(
    server: Server, analysis: Analysis, path: str, params: lsp.CodeActionParams
) -> Iterable[lsp.CodeAction]:
    """Yield the actions for a range, without their edits."""
    uri = params.text_document.uri
    data: dict[str, Any] = {"path": path}
    fixable: dict[str, int] = {}
    for finding in analysis.of(path):
        if finding.fix is not None and (finding.fix.safe or analysis.config.unsafe):
            fixable[finding.rule] = fixable.get(finding.rule, 0) + 1
    rules = {}
    for finding in analysis.of(path):
        where = server.location(analysis, path, finding.span)
        if where.uri != uri or not (
            where.range.start <= params.range.end and params.range.start <= where.range.end
        ):
            continue
        rules[finding.rule] = finding
        about = {**data, "finding": list(key(finding))}
        diagnostic = server.diagnostic(analysis, finding)
        if finding.fix is not None:
            reason = f" (unsafe: {finding.fix.reason})" if not finding.fix.safe else ""
            yield lsp.CodeAction(
                f"Fix {finding.rule}{reason}",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=finding.fix.safe or None,
                data={**about, "what": "fix"},
            )
        yield lsp.CodeAction(
            f"Ignore {finding.rule} here",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            data={**about, "what": "suppress"},
        )
    for rule in rules:
        if fixable.get(rule, 0) > 1:
            yield lsp.CodeAction(
                f"Fix all {rule} in this file",
                kind=lsp.CodeActionKind.QuickFix,
                data={**data, "what": "all", "rule": rule},
            )
    if fixable:
        yield lsp.CodeAction(
            "Fix all that samedevice found in this file",
            kind=FIX_ALL,
            data={**data, "what": "all", "rule": ""},
        )


async def _resolved(server: Server, analysis: Analysis, action: lsp.CodeAction) -> lsp.CodeAction:
    """Return the action with its edit; raises `ValueError` when there is none any more."""
    data = action.data
    assert isinstance(data, dict)
    path, what = data["path"], data.get("what")
    if what == "all":
        rule = str(data.get("rule", ""))
        changed = await server.work(lambda: analysis.fix_all(path, rule))
        if not changed:
            raise ValueError("nothing here can be fixed")
    else:
        finding = named(analysis, path, tuple(data.get("finding", ())))
        if finding is None:
            raise ValueError("the text has changed since; ask again")
        if what == "fix":
            changed = await server.work(lambda: analysis.fix(finding))
        else:
            text = analysis.source(path)
            ignored = analysis.suppress(finding)
            if text is None or ignored is None:
                raise ValueError("there is no room for a comment here")
            changed = {path: _like(text, ignored)}
    action.edit = server.workspace_edit(analysis, changed)
    return action


def _like(old: Source, text: str) -> Source:
    """Return `old` with another text."""
    return from_bytes(old.encode(text), old.path)
