"""Code actions and commands: what a fix changes is computed when an editor asks for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ..reading.source import Source, SourceError, from_bytes
from .analysis import Analysis, named
from .protocol import Server, path_of

FIX_ALL = "source.fixAll.samedevice"
FIX_NOTEBOOK = "notebook.source.fixAll.samedevice"
"""Of a notebook as a whole: an editor asks for `FIX_ALL` of every cell at once, and would make the
same edits as many times."""
CENTRALIZE = "source.centralize.samedevice"
_LABEL = "Centralize the device"


class RequestFailed(JsonRpcException):
    """An answer that says why there is none, for the user."""

    CODE = lsp.LSPErrorCodes.RequestFailed.value


def register(server: Server) -> None:
    """Have `server` offer what it can do."""
    _actions(server)
    _commands(server)


def _actions(server: Server) -> None:
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL, FIX_NOTEBOOK, CENTRALIZE]
    options = lsp.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        path = server.find_path(params.text_document.uri)
        folder = server.folder_of(path)
        # What is offered need not be judged yet: what an action changes is computed later.
        analysis = server.soon(folder) if _resolves(server) else None
        analysis = analysis or await server.analyse(folder)
        text = analysis.source(path) if analysis is not None else None
        if analysis is None or text is None or path in analysis.broken:
            return []
        if path.endswith(".ipynb") and not text.is_notebook:
            return []  # the cells' code as one text, which the editor takes apart
        only = params.context.only
        offered = [
            action
            for action in _offers(server, analysis, path, params)
            if only is None or any(_is_kind(action, kind) for kind in only)
        ]
        if _resolves(server):
            return offered
        made = []
        for action in offered:
            if action.kind == CENTRALIZE and only is None:
                continue  # the edit would be computed for nothing
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


def _commands(server: Server) -> None:
    @server.command("samedevice.server.centralize")
    async def centralize(folder_uri: str, *confirmed: bool) -> dict[str, int]:
        """Change a folder; `True` behind it says that its user need not be asked any more."""
        analysis = await server.analyse(server.folder(path_of(folder_uri)))
        if analysis is None:
            raise RequestFailed(message="samedevice: the settings cannot be used")
        outcome = await server.work(analysis.centralize, _LABEL)
        changed = {change.path: outcome.sources[change.path] for change in outcome.changes}
        made = await _apply(server, analysis, changed, _LABEL, any(confirmed))
        return {"files": len(changed) if made else 0, "left": len(outcome.remaining)}

    @server.command("samedevice.server.fixFile")
    async def fix_file(uri: str) -> dict[str, int]:
        path = server.find_path(uri)
        analysis = await server.analyse(server.folder_of(path))
        if analysis is None:
            raise RequestFailed(message="samedevice: the settings cannot be used")
        try:
            changed = await server.work(lambda step: analysis.fix_all(path, step=step))
        except (ValueError, SourceError) as error:
            raise RequestFailed(message=f"samedevice: {error}") from None
        await _apply(server, analysis, changed)
        return {"files": len(changed)}


async def _apply(
    server: Server,
    analysis: Analysis,
    changed: dict[str, Source],
    label: str = "",
    confirmed: bool = False,
) -> bool:
    """Have the editor make changes; with a `label` it asks its user, who has not `confirmed` it.

    Return whether they were made, which that user may have declined.
    """
    if not changed:
        return False
    try:
        edit = server.workspace_edit(analysis, changed, label, confirmed)
    except (ValueError, SourceError) as error:
        raise RequestFailed(message=f"samedevice: {error}") from None
    answer = await server.workspace_apply_edit_async(
        lsp.ApplyWorkspaceEditParams(edit, label or "Fix what samedevice found")
    )
    declined = label != "" and not confirmed and answer.failure_reason is None
    if not answer.applied and not declined:
        why = answer.failure_reason or "the editor did not apply it"
        raise RequestFailed(message=f"samedevice: {why}")
    return answer.applied


def _resolves(server: Server) -> bool:
    text_document = server.client_capabilities.text_document
    able = text_document.code_action if text_document else None
    support = able.resolve_support if able else None
    return support is not None and "edit" in support.properties


def _is_kind(action: lsp.CodeAction, asked: lsp.CodeActionKind | str) -> bool:
    # Those of the protocol are members of an enumeration, whose `str` is another in each Python.
    kind, wanted = (str(getattr(one, "value", one)) for one in (action.kind, asked))
    return kind == wanted or kind.startswith(f"{wanted}.") or wanted == ""


def _offers(
    server: Server, analysis: Analysis, path: str, params: lsp.CodeActionParams
) -> Iterable[lsp.CodeAction]:
    """Yield the actions for a range, without their edits."""
    from ..migration.migrate import key

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
        text = analysis.source(path)
        yield lsp.CodeAction(
            "Fix all that samedevice found in this file",
            kind=FIX_NOTEBOOK if text is not None and text.is_notebook else FIX_ALL,
            data={**data, "what": "all", "rule": ""},
        )
    if any(finding.fix is not None for finding in analysis.findings):
        yield lsp.CodeAction(
            "Centralize the device of this project",
            kind=CENTRALIZE,
            data={**data, "what": "centralize"},
        )


async def _resolved(server: Server, analysis: Analysis, action: lsp.CodeAction) -> lsp.CodeAction:
    """Return the action with its edit; raises `ValueError` when there is none any more."""
    data = action.data
    assert isinstance(data, dict)
    path, what, label = data["path"], data.get("what"), ""
    if what == "all":
        rule = str(data.get("rule", ""))
        changed = await server.work(lambda step: analysis.fix_all(path, rule, step))
        if not changed:
            raise ValueError("nothing here can be fixed")
    elif what == "centralize":
        outcome = await server.work(analysis.centralize, _LABEL)
        changed = {change.path: outcome.sources[change.path] for change in outcome.changes}
        label = _LABEL
    else:
        finding = named(analysis, path, tuple(data.get("finding", ())))
        if finding is None:
            raise ValueError("the text has changed since; ask again")
        if what == "fix":
            changed = await server.work(lambda step: analysis.fix(finding))
        else:
            text = analysis.source(path)
            ignored = analysis.suppress(finding)
            if text is None or ignored is None:
                raise ValueError("there is no room for a comment here")
            changed = {path: _like(text, ignored)}
    action.edit = server.workspace_edit(analysis, changed, label)
    return action


def _like(old: Source, text: str) -> Source:
    """Return `old` with another text."""
    return from_bytes(old.encode(text), old.path)
