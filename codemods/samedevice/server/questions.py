"""What an editor asks about a text: its diagnostics, the place of an expression, hints."""

from __future__ import annotations

import os

from lsprotocol import types as lsp

from ..places.trace import WORDS, Life
from .analysis import Analysis
from .protocol import NAME, Server


def register(server: Server) -> None:
    """Have `server` answer questions."""
    _diagnostics(server)
    _places(server)


def _diagnostics(server: Server) -> None:
    options = lsp.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=True, identifier=NAME
    )

    @server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def of_document(params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        uri = params.text_document.uri
        path = server.find_path(uri)
        analysis = await server.analyse(server.folder_of(path))
        found = [] if analysis is None else server.diagnostics(analysis, path)
        items = [diagnostic for target, diagnostic in found if target == uri]
        number = server.number(uri, items)
        if params.previous_result_id == number:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(number)
        return lsp.RelatedFullDocumentDiagnosticReport(items, result_id=number)

    @server.feature(lsp.WORKSPACE_DIAGNOSTIC)
    async def of_workspace(
        params: lsp.WorkspaceDiagnosticParams,
    ) -> lsp.WorkspaceDiagnosticReport:
        known = {previous.uri: previous.value for previous in params.previous_result_ids}
        found: dict[str, list[lsp.Diagnostic]] = {uri: [] for uri in known}
        for folder in server.all_folders():
            analysis = await server.analyse(folder)
            if analysis is None:
                continue
            for path in {*analysis.project.sources, *analysis.broken}:
                found.setdefault(server.uri_of(path), [])
                for uri, diagnostic in server.diagnostics(analysis, path):
                    found.setdefault(uri, []).append(diagnostic)
        versions = server.versions()
        reports: list[lsp.WorkspaceDocumentDiagnosticReport] = []
        for uri, items in sorted(found.items()):
            number = server.number(uri, items)
            if known.get(uri) == number:
                reports.append(
                    lsp.WorkspaceUnchangedDocumentDiagnosticReport(
                        uri, number, version=versions.get(uri)
                    )
                )
            elif items or uri in known:
                reports.append(
                    lsp.WorkspaceFullDocumentDiagnosticReport(
                        uri, items, version=versions.get(uri), result_id=number
                    )
                )
        return lsp.WorkspaceDiagnosticReport(reports)


def _places(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri, at = params.text_document.uri, params.position
        path = server.find_path(uri)
        analysis = await server.analyse(server.folder_of(path))
        if analysis is None:
            return None
        for life in await server.work(lambda step: analysis.lives(path)):
            where = server.location(analysis, path, life.span)
            if where.uri == uri and _holds(where.range, at):
                text = _told(server, analysis, path, life)
                return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), where.range)
        return None

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        path = server.find_path(uri)
        folder = server.folder_of(path)
        wanted = server.settings_of(folder).inlay_hints
        analysis = None if wanted == "off" else await server.analyse(folder)
        if analysis is None:
            return []
        hints = []
        for known in await server.work(lambda step: analysis.known(path)):
            if known.place.value == "unknown" or (wanted == "clashes" and not known.clashes):
                continue
            where = server.location(analysis, path, known.span)
            if where.uri == uri and _holds(params.range, where.range.end):
                tooltip = WORDS[known.place]
                hints.append(
                    lsp.InlayHint(where.range.end, f": {known.place.value}", tooltip=tooltip)
                )
        return hints


def _told(server: Server, analysis: Analysis, path: str, life: Life) -> str:
    """Return where a value lives and how it came there, site by site, as Markdown."""
    source = analysis.source(path)
    code = source.slice(life.span) if source is not None else ""
    lines = [f"`{code}`: {life.kind}, {life.device or WORDS[life.place]}"]
    if life.varies:
        lines[0] += " (callers differ)"
    if life.wanted is not None:
        lines[0] += f", but it has to be {WORDS[life.wanted]}"
    for number, event in enumerate(life.chain, 1):
        at = server.location(analysis, event.path, event.span)
        name = f"{os.path.basename(event.path)}:{event.span.line}"
        link = f"[{name}]({at.uri}#L{at.range.start.line + 1})"
        lines.append(f"{number}. {event.what} {WORDS[event.place]}, {link}: `{event.code}`")
    return "\n".join([lines[0], "", *lines[1:]]) if lines[1:] else lines[0]


def _holds(outer: lsp.Range, at: lsp.Position) -> bool:
    return outer.start <= at <= outer.end
