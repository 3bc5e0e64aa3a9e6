"""What an editor asks about a text: its diagnostics, the place of an expression, hints."""

from __future__ import annotations

import os
from collections.abc import Iterator

from lsprotocol import types as lsp

from ..inference.nodes import Place
from ..inference.trace import NAMES, WORDS, Event, Life
from .analysis import Analysis
from .protocol import NAME, Server

_HELD = ("tensor", "module", "generator")
"""The kinds of values that have hints: names, not what is done to them."""


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
        folder = server.folder_of(path)
        analysis = await server.glance(folder)
        if analysis is None or not (analysis.is_whole or server.asks_again):
            analysis = await server.analyse(folder)
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
        reports: list[lsp.WorkspaceDocumentDiagnosticReport] = []
        token = params.partial_result_token
        told: set[str] = set()

        def tell(found: dict[str, list[lsp.Diagnostic]]) -> None:
            """Report documents: at once to an editor that takes an answer in parts."""
            told.update(found)
            some = list(_reports(server, found, known))
            if token is None:
                reports.extend(some)
            elif some:
                server.progress(
                    lsp.ProgressParams(token, lsp.WorkspaceDiagnosticReportPartialResult(some))
                )

        with server.shown(params.work_done_token, "looking at all files"):
            for folder in server.all_folders():
                analysis = await server.analyse(folder, params.work_done_token)
                if analysis is not None:
                    tell(_of_folder(server, analysis))
            tell({uri: [] for uri in known if uri not in told})
        return lsp.WorkspaceDiagnosticReport(reports)


def _of_folder(server: Server, analysis: Analysis) -> dict[str, list[lsp.Diagnostic]]:
    """Return the diagnostics of a folder's documents.

    The cells of an open notebook are told theirs: an editor would show them twice.
    """
    found: dict[str, list[lsp.Diagnostic]] = {}
    for path in {*analysis.project.sources, *analysis.broken}:
        found.setdefault(server.uri_of(path), [])
        for uri, diagnostic in server.diagnostics(analysis, path):
            found.setdefault(uri, []).append(diagnostic)
    return {uri: items for uri, items in found.items() if not _is_cell(server, uri)}


def _is_cell(server: Server, uri: str) -> bool:
    return server.workspace.get_notebook_document(cell_uri=uri) is not None


def _reports(
    server: Server, found: dict[str, list[lsp.Diagnostic]], known: dict[str, str]
) -> Iterator[lsp.WorkspaceDocumentDiagnosticReport]:
    """Yield what is new of some documents to an editor that has the results `known`."""
    versions = server.versions()
    for uri, items in sorted(found.items()):
        number = server.number(uri, items)
        if known.get(uri) == number:
            yield lsp.WorkspaceUnchangedDocumentDiagnosticReport(
                uri, number, version=versions.get(uri)
            )
        elif items or uri in known:
            yield lsp.WorkspaceFullDocumentDiagnosticReport(
                uri, items, version=versions.get(uri), result_id=number
            )


def _places(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri, at = params.text_document.uri, params.position
        path = server.find_path(uri)
        folder = server.folder_of(path)
        known = server.traced(folder, path, at.line + 1)
        if (known is None or known[0].later) and not _is_cell(server, uri):
            known = await server.close_up(folder, path, at.line + 1) or known
        known = known or await server.lives(folder, path)
        if known is None:
            return None
        analysis, lives = known
        for life in lives:
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
        if wanted == "off":
            return []
        known = None
        if server.refreshes_hints and not _is_cell(server, uri):
            lines = range(params.range.start.line + 1, params.range.end.line + 2)
            known = await server.lives_soon(folder, path, lines)
        if known is None:
            analysis = await server.analyse(folder)
            if analysis is None or wanted == "clashes" and not _is_told_of(analysis, path):
                return []
            whole = await server.lives(folder, path)
            known = [whole] if whole is not None else []
        elif wanted == "clashes" and not any(_is_told_of(each, path) for each, _ in known):
            return []
        return [
            _hint(server, analysis, life, where.range.end, label)
            for analysis, lives in known
            for life in _hinted(analysis, path, lives, wanted)
            if (where := server.location(analysis, path, life.span)).uri == uri
            and _holds(params.range, where.range.end)
            and (label := _label(life))
        ]


def _hinted(analysis: Analysis, path: str, lives: list[Life], wanted: str) -> Iterator[Life]:
    """Yield the values that a hint is wanted for."""
    names = analysis.names(path) if wanted == "all" else set()
    for life in lives:
        if life.kind in _HELD and (life.wanted is not None or life.span in names):
            yield life


def _is_told_of(analysis: Analysis, path: str) -> bool:
    """Tell whether a finding is in a file, or comes from there."""
    return any(
        path in (finding.path, *(origin.path for origin in finding.origins))
        for finding in analysis.findings
    )


def _label(life: Life) -> str:
    """Return the place of a value in a word, and where it has to be; empty if it is not known."""
    if life.place is Place.UNKNOWN:
        return ""
    label = f": {life.device or NAMES[life.place]}"
    return label if life.wanted is None else f"{label} \N{RIGHTWARDS ARROW} {NAMES[life.wanted]}"


def _hint(
    server: Server, analysis: Analysis, life: Life, at: lsp.Position, label: str
) -> lsp.InlayHint:
    """Return a hint that leads to where the value was made."""
    made = [server.location(analysis, event.path, event.span) for event in life.chain[:1]]
    part = lsp.InlayHintLabelPart(label, location=made[0] if made else None)
    return lsp.InlayHint(at, [part], kind=lsp.InlayHintKind.Type, tooltip=_lived(life))


def _lived(life: Life) -> str:
    """Return where a value lives, in words."""
    told = life.device or WORDS[life.place]
    if life.varies:
        told += " (callers differ)"
    if life.wanted is not None:
        told += f", but it has to be {WORDS[life.wanted]}"
    return told


def _told(server: Server, analysis: Analysis, path: str, life: Life) -> str:
    """Return where a value lives and how it came there, site by site, as Markdown."""
    source = analysis.source(path)
    code = source.slice(life.span) if source is not None else ""
    lines = [f"`{code}`: {life.kind}, {_lived(life)}"]
    for number, event in enumerate(life.chain, 1):
        at = server.location(analysis, event.path, event.span)
        there = analysis.source(event.path)
        line = event.span.line
        name = os.path.basename(there.where(line) if there else f"{event.path}:{line}")
        link = f"[{name}]({at.uri}#L{at.range.start.line + 1})"
        lines.append(f"{number}. {_happened(event)}, {link}: `{event.code}`")
    return "\n".join([lines[0], "", *lines[1:]]) if lines[1:] else lines[0]


def _happened(event: Event) -> str:
    """Return what happened to a value at a site, in words."""
    if event.what == "device chosen":
        return event.what
    words = WORDS[event.place]
    if event.what == "moved" and words.startswith("on "):
        words = "to " + words.removeprefix("on ")
    return f"{event.what} {words}"


def _holds(outer: lsp.Range, at: lsp.Position) -> bool:
    return outer.start <= at <= outer.end
