"""A real session: the server in a process of its own, spoken to over its standard streams."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PATIENCE = 20.0  # seconds for an answer: the machine may be busy


class Editor(LanguageClient):
    """An editor that keeps what it is told."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__("editor", "1")
        self.settings = settings
        self.told: dict[str, list[lsp.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self.asked: list[lsp.ApplyWorkspaceEditParams] = []
        self.applies = True
        self.refreshes = 0
        self.texts: dict[str, str] = {}
        self.encoding = "utf-16"
        self.sync: object = None
        self.news = asyncio.Event()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.told.setdefault(params.uri, []).append(params)
            self.news.set()

        @self.feature(lsp.WORKSPACE_DIAGNOSTIC_REFRESH)
        def refresh(params: None) -> None:
            self.refreshes += 1
            self.news.set()

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self.news.set()

        @self.feature(lsp.WORKSPACE_CONFIGURATION)
        def configuration(params: lsp.ConfigurationParams) -> list[Any]:
            return [self.settings for _ in params.items]

        @self.feature(lsp.WORKSPACE_APPLY_EDIT)
        def apply_edit(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            self.asked.append(params)
            return lsp.ApplyWorkspaceEditResult(applied=self.applies)

    async def until(self, fits: Callable[[], bool]) -> None:
        """Wait for something that the server tells."""

        async def wait() -> None:
            while not fits():
                self.news.clear()
                await self.news.wait()

        await asyncio.wait_for(wait(), PATIENCE)

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a document and return its URI."""
        uri = path.as_uri()
        self.texts[uri] = path.read_text("utf-8") if text is None else text
        self.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "python", 1, self.texts[uri]))
        )
        return uri

    def close(self, uri: str) -> None:
        """Close a document."""
        name = lsp.TextDocumentIdentifier(uri)
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(name))

    def change(self, uri: str, text: str, version: int) -> None:
        """Type."""
        self.texts[uri] = text
        self.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=uri, version=version),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self, uri: str, version: int = 1) -> list[lsp.Diagnostic]:
        """Return what the server says about a version of a document.

        What it finds at a glance may be told first, and is not waited for: the answer to a question
        is about the whole, and that is told in the end.
        """
        await self.until(
            lambda: any(params.version == version for params in self.told.get(uri, ()))
        )
        report = await self.text_document_diagnostic_async(
            lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
        )
        assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
        whole = list(report.items)
        await self.until(lambda: list(self.told[uri][-1].diagnostics) == whole)
        return whole

    async def actions(
        self, uri: str, line: int | None = None, only: str | None = None
    ) -> list[lsp.CodeAction]:
        """Return the actions for a line (from 0), for the whole file without one."""
        last = self.texts[uri].count("\n") + 1
        first, last = (0, last) if line is None else (line, line)
        found = await self.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri),
                lsp.Range(lsp.Position(first, 0), lsp.Position(last, 999)),
                lsp.CodeActionContext([], only=[only] if only else None),
            )
        )
        assert all(isinstance(action, lsp.CodeAction) for action in found or ())
        return [action for action in found or () if isinstance(action, lsp.CodeAction)]


def applied(edit: lsp.WorkspaceEdit, texts: dict[str, str], encoding: str) -> dict[str, str]:
    """Return the documents that `edit` changes, as an editor would make them."""
    changed: dict[str, str] = {}
    pairs = [*(edit.changes or {}).items()]
    for item in edit.document_changes or ():
        if isinstance(item, lsp.CreateFile):
            changed[item.uri] = ""
        if isinstance(item, lsp.TextDocumentEdit):
            pairs.append((item.text_document.uri, list(item.edits)))
    for uri, edits in pairs:
        text = changed.get(uri, texts.get(uri))
        if text is None:
            text = Path(lsp_path(uri)).read_bytes().decode()
        lines = text.split("\n")

        def offset(at: lsp.Position, lines: list[str] = lines) -> int:
            codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}.get(
                encoding, ("utf-32-le", 4)
            )
            head = lines[at.line].encode(codec)[: at.character * size].decode(codec)
            return sum(len(line) + 1 for line in lines[: at.line]) + len(head)

        for one in sorted(edits, key=lambda one: one.range.start, reverse=True):
            assert not isinstance(one, lsp.SnippetTextEdit)
            start, end = offset(one.range.start), offset(one.range.end)
            text = text[:start] + one.new_text + text[end:]
        changed[uri] = text
    return changed


def lsp_path(uri: str) -> str:
    from pygls import uris

    return uris.to_fs_path(uri) or uri


def capabilities(
    *,
    encodings: list[lsp.PositionEncodingKind] | None = None,
    resolve: bool = True,
    pull: bool = False,
) -> lsp.ClientCapabilities:
    """Return what an editor can do."""
    return lsp.ClientCapabilities(
        general=lsp.GeneralClientCapabilities(position_encodings=encodings),
        workspace=lsp.WorkspaceClientCapabilities(
            configuration=True,
            apply_edit=True,
            workspace_edit=lsp.WorkspaceEditClientCapabilities(
                document_changes=True,
                resource_operations=[lsp.ResourceOperationKind.Create],
                change_annotation_support=lsp.ChangeAnnotationsSupportOptions(),
            ),
            diagnostics=lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=pull),
        ),
        text_document=lsp.TextDocumentClientCapabilities(
            diagnostic=lsp.DiagnosticClientCapabilities() if pull else None,
            code_action=lsp.CodeActionClientCapabilities(
                resolve_support=lsp.ClientCodeActionResolveOptions(["edit"]) if resolve else None
            ),
        ),
    )


@asynccontextmanager
async def session(
    *folders: Path,
    settings: dict[str, Any] | None = None,
    able: lsp.ClientCapabilities | None = None,
) -> AsyncIterator[Editor]:
    """Yield an editor with a started server, and end both."""
    editor = Editor(settings or {})
    await editor.start_io(sys.executable, "-m", "samedevice", "server")
    answer = await asyncio.wait_for(
        editor.initialize_async(
            lsp.InitializeParams(
                able or capabilities(),
                workspace_folders=[
                    lsp.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders
                ],
            )
        ),
        PATIENCE,
    )
    chosen = answer.capabilities.position_encoding
    editor.encoding = str(getattr(chosen, "value", chosen))
    follows = answer.capabilities.text_document_sync
    editor.sync = getattr(follows, "change", follows)
    editor.initialized(lsp.InitializedParams())
    try:
        yield editor
        await asyncio.wait_for(editor.shutdown_async(None), PATIENCE)
        editor.exit(None)
        await asyncio.wait_for(editor.stop(), PATIENCE)
    except BaseException:
        if editor._server is not None and editor._server.returncode is None:
            editor._server.kill()  # what went wrong is told, not that the server waits
        raise


def run(coroutine: Awaitable[None], seconds: float = 2 * PATIENCE) -> None:
    """Run one session."""

    async def bounded() -> None:
        await asyncio.wait_for(coroutine, seconds)

    asyncio.run(bounded())
