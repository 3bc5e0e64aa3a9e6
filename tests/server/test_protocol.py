"""The protocol, as a real client's capabilities have it: one server over its standard streams."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")
pytest.importorskip("pytest_lsp")

import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from samedevice import rules

from .editor import applied, lsp_path

pytestmark = pytest.mark.asyncio(loop_scope="module")

NET = "import torch\n\nmodel = torch.nn.Linear(3, 2).cuda()\n"
USER = """\
import torch
from net import model

x = torch.ones(4, 3)
y = torch.ones(5, 3)
model(x)
model(y).detach().numpy()
"""
CODES = ["tensor-without-device", "tensor-without-device", "not-moved-to-cpu"]


def able() -> lsp.ClientCapabilities:
    """Return what Visual Studio Code can do, with what came to it and to others since."""
    found = client_capabilities("visual-studio-code")
    assert found.workspace is not None and found.text_document is not None
    found.workspace.diagnostics = lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    found.text_document.diagnostic = lsp.DiagnosticClientCapabilities()
    found.workspace.inlay_hint = lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    found.workspace.did_change_configuration = lsp.DidChangeConfigurationClientCapabilities(
        dynamic_registration=True
    )
    return found


class Session:
    """What the tests share: the client, its two folders, and what the server registered."""

    def __init__(self, client: LanguageClient, folders: list[Path]) -> None:
        self.client = client
        self.folders = folders
        self.registered: list[lsp.Registration] = []
        self.hint_refreshes = 0
        self.parts: list[Any] = []
        self.applied: list[lsp.ApplyWorkspaceEditParams] = []

    def open(self, path: Path, text: str | None = None) -> str:
        text = path.read_text() if text is None else text
        item = lsp.TextDocumentItem(path.as_uri(), "python", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return path.as_uri()

    def close(self, uri: str) -> None:
        name = lsp.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(name))

    def change(self, uri: str, text: str, version: int) -> None:
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=uri, version=version),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def pull(self, uri: str, previous: str | None = None) -> lsp.DocumentDiagnosticReport:
        return await self.client.text_document_diagnostic_async(
            lsp.DocumentDiagnosticParams(
                lsp.TextDocumentIdentifier(uri), previous_result_id=previous
            )
        )

    async def codes(self, uri: str) -> list[Any]:
        report = await self.pull(uri)
        assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
        return [one.code for one in report.items]

    async def actions(self, uri: str, first: int, last: int, only: str) -> list[lsp.CodeAction]:
        found = await self.client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri),
                lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0)),
                lsp.CodeActionContext([], only=[only]),
            )
        )
        return [action for action in found or () if isinstance(action, lsp.CodeAction)]

    async def resolved(self, action: lsp.CodeAction, texts: dict[str, str]) -> dict[str, str]:
        action = await self.client.code_action_resolve_async(action)
        assert action.edit is not None
        return applied(action.edit, texts, "utf-16")


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[sys.executable, "-m", "samedevice", "server"]),
    scope="module",
)
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    found = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    (found[0] / "net.py").write_text(NET)
    (found[0] / "user.py").write_text(USER)
    (found[1] / "alone.py").write_text('import torch\nx = torch.ones(3, device="cuda")\n')
    return found


_session: dict[int, Session] = {}


async def started(client: LanguageClient, folders: list[Path]) -> Session:
    """Return the session, begun at its first use."""
    if id(client) in _session:
        return _session[id(client)]
    session = _session[id(client)] = Session(client, folders)

    @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def register(params: lsp.RegistrationParams) -> None:
        session.registered.extend(params.registrations)

    @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
    def refresh(params: None) -> None:
        session.hint_refreshes += 1

    @client.feature(lsp.WORKSPACE_APPLY_EDIT)
    def apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
        session.applied.append(params)
        return lsp.ApplyWorkspaceEditResult(applied=True)

    features = client.protocol.fm.features
    work_done = features[lsp.PROGRESS]

    def progress(params: lsp.ProgressParams) -> None:
        if params.token == "parts":  # pytest-lsp knows no answers in parts
            session.parts.append(params.value)
        else:
            work_done(params)

    features[lsp.PROGRESS] = progress

    scope = folders[1].as_uri()
    client.set_configuration({"samedevice": {"ignore": ["hard-coded-device"]}}, scope_uri=scope)
    await client.initialize_session(
        lsp.InitializeParams(
            able(),
            workspace_folders=[lsp.WorkspaceFolder(f.as_uri(), f.name) for f in folders],
        )
    )
    return session


#: Seconds of work.
LONG = "import torch\n\n\ndef g(x, y):\n    return (x * y).numpy()\n" + "".join(
    f"\n\ndef f{n}(x):\n    y = torch.ones(3)\n    return g(x + y.cuda(), torch.zeros(3))\n"
    for n in range(4_000)
)


async def until(fits: Any) -> None:
    for _ in range(200):
        if fits():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not happen")


async def test_diagnostics_have_names_while_they_stay(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    uri = session.open(folders[0] / "user.py")
    first = await session.pull(uri)
    assert isinstance(first, lsp.RelatedFullDocumentDiagnosticReport)
    assert [one.code for one in first.items] == CODES
    again = await session.pull(uri, first.result_id)
    assert isinstance(again, lsp.RelatedUnchangedDocumentDiagnosticReport)
    assert again.result_id == first.result_id
    session.change(uri, "# moved\n" + USER, 2)
    moved = await session.pull(uri, first.result_id)
    assert isinstance(moved, lsp.RelatedFullDocumentDiagnosticReport)
    assert moved.result_id != first.result_id
    assert [one.range.start.line for one in moved.items] == [4, 5, 7]
    session.change(uri, USER, 3)


async def test_a_diagnostic_links_to_its_rule_and_to_the_other_file(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    report = await session.pull((folders[0] / "user.py").as_uri())
    assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
    one = report.items[2]
    assert one.code_description is not None
    page = Path(lsp_path(one.code_description.href))
    assert page.name == "not-moved-to-cpu.md"
    assert page.read_text() == f"# not-moved-to-cpu\n\n{rules.load()['not-moved-to-cpu'].doc}\n"
    places = [
        (Path(lsp_path(related.location.uri)).name, related.location.range.start.line)
        for related in one.related_information or ()
    ]
    assert ("net.py", 2) in places
    hover = await client.text_document_hover_async(
        lsp.HoverParams(
            lsp.TextDocumentIdentifier((folders[0] / "user.py").as_uri()), lsp.Position(6, 1)
        )
    )
    assert hover is not None and isinstance(hover.contents, lsp.MarkupContent)
    net = (folders[0] / "net.py").as_uri()
    told = hover.contents.value.split("\n")
    assert told[0] == "`model`: module, on the project's device"
    assert told[2].startswith("1. built on the CPU, [net.py:3]") and net in told[2]
    assert told[3].startswith("2. moved to the project's device, [net.py:3]")


async def test_the_whole_workspace_is_reported_by_the_settings_of_its_folders(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)

    async def ask(known: dict[str, str], token: str | None = None) -> dict[str, Any]:
        previous = [lsp.PreviousResultId(uri, value) for uri, value in known.items()]
        report = await client.workspace_diagnostic_async(
            lsp.WorkspaceDiagnosticParams(previous, partial_result_token=token)
        )
        return {item.uri: item for item in report.items}

    first = await ask({})
    net = (folders[0] / "net.py").as_uri()
    # hard-coded-device is ignored in the second folder, whose only finding it is
    assert sorted(Path(lsp_path(uri)).name for uri in first) == ["net.py", "user.py"]
    assert isinstance(first[net], lsp.WorkspaceFullDocumentDiagnosticReport)
    assert first[net].version is None
    again = await ask({uri: item.result_id for uri, item in first.items()})
    kinds = {type(item) for item in again.values()}
    assert kinds == {lsp.WorkspaceUnchangedDocumentDiagnosticReport}
    client.set_configuration({"samedevice": {}}, scope_uri=folders[1].as_uri())
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
    for _ in range(100):
        later = await ask({})
        if (folders[1] / "alone.py").as_uri() in later:
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError(later)
    assert await ask({}, "parts") == {}  # all of it comes before, a folder at a time
    parts = [{item["uri"]: len(item["items"]) for item in part["items"]} for part in session.parts]
    assert parts == [
        {uri: len(later[uri].items) for uri in sorted(later) if uri.startswith(folder.as_uri())}
        for folder in session.folders
    ]
    wanted = {lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, lsp.WORKSPACE_DID_CHANGE_CONFIGURATION}
    assert {one.method for one in session.registered} == wanted
    assert session.hint_refreshes and client.diagnostic_refresh_count


async def test_hints_follow_the_settings(client: LanguageClient, folders: list[Path]) -> None:
    session = await started(client, folders)
    uri = (folders[0] / "user.py").as_uri()

    async def hints(wanted: str) -> dict[tuple[int, int], str]:
        """Return the hints by place, once the editor is told to ask for them again."""
        refreshes = session.hint_refreshes
        client.set_configuration({"samedevice": {"inlayHints": wanted}})
        client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
        await until(lambda: session.hint_refreshes > refreshes)
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole)
        found = await client.text_document_inlay_hint_async(params)
        return {
            (one.position.line, one.position.character): part.value
            for one in found or ()
            for part in one.label
            if isinstance(part, lsp.InlayHintLabelPart) and part.location is not None
        }

    assert await hints("off") == {}
    clash = ": CPU \N{RIGHTWARDS ARROW} device"
    clashes = {(3, 1): clash, (4, 1): clash, (5, 7): clash, (6, 7): clash}
    assert await hints("clashes") == clashes
    more = "\n\ndef half(z):\n    return z / 2\n\n\nfor w in half(model(x.cuda())):\n    v = -w\n"
    session.change(uri, USER + more, 4)
    names = {(9, 10): ": device", (13, 5): ": device", (14, 5): ": device"}
    assert await hints("all") == {**clashes, (13, 21): clash, **names}
    session.change(uri, USER, 5)
    session.change(uri, "import os\n" + USER + "print(", 6)
    assert await hints("all") == {(line + 1, at): clash for line, at in clashes}
    refreshes = session.hint_refreshes
    session.change(uri, USER, 7)
    await until(lambda: session.hint_refreshes > refreshes)  # for those of other files
    assert await hints("clashes") == clashes


async def test_one_rule_is_fixed_and_the_project_centralized(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    uri = (folders[0] / "user.py").as_uri()
    net = (folders[0] / "net.py").as_uri()
    quick = await session.actions(uri, 3, 4, "quickfix")
    titles = [action.title for action in quick]
    assert titles == [
        "Fix tensor-without-device",
        "Ignore tensor-without-device here",
        "Fix all tensor-without-device in this file",
    ]
    assert all(action.edit is None for action in quick)
    after = await session.resolved(quick[2], {uri: USER})
    assert after[uri].count("device=") == 2
    (whole,) = await session.actions(uri, 0, 0, "source.centralize")
    whole = await client.code_action_resolve_async(whole)
    assert whole.edit is not None
    changed = applied(whole.edit, {uri: USER}, "utf-16")
    assert {uri, net} <= set(changed) and ".cuda()" not in changed[net]
    notes = whole.edit.change_annotations or {}
    assert [note.needs_confirmation for note in notes.values()] == [True]
    answer = await client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("samedevice.server.fixFile", [uri])
    )
    assert answer == {"files": 2}  # and the module with the device, which others need, too
    edited = applied(session.applied[-1].edit, {uri: USER}, "utf-16")
    assert edited[uri].count("device=") == 2


async def test_files_that_come_go_and_move_count(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    uri = (folders[0] / "user.py").as_uri()
    net, moved = folders[0] / "net.py", folders[0] / "other.py"
    net.rename(moved)
    client.workspace_did_rename_files(
        lsp.RenameFilesParams([lsp.FileRename(net.as_uri(), moved.as_uri())])
    )
    assert await session.codes(uri) == []
    net.write_text(NET)
    client.workspace_did_create_files(lsp.CreateFilesParams([lsp.FileCreate(net.as_uri())]))
    assert await session.codes(uri) == CODES
    net.unlink()
    client.workspace_did_delete_files(lsp.DeleteFilesParams([lsp.FileDelete(net.as_uri())]))
    assert await session.codes(uri) == []
    net.write_text(NET)
    moved.unlink()
    settings = folders[0] / "pyproject.toml"
    settings.write_text('[tool.samedevice]\nignore = ["tensor-without-device"]\n')

    def told(*paths: Path) -> None:
        events = [lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Changed) for path in paths]
        client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))

    told(net, moved, settings)
    assert await session.codes(uri) == ["not-moved-to-cpu"]
    settings.unlink()
    told(settings)
    assert await session.codes(uri) == CODES


async def test_a_folder_that_is_closed_is_no_project_any_more(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    uri = (folders[0] / "user.py").as_uri()
    folder = lsp.WorkspaceFolder(folders[0].as_uri(), "one")

    def event(added: list[lsp.WorkspaceFolder], removed: list[lsp.WorkspaceFolder]) -> None:
        client.workspace_did_change_workspace_folders(
            lsp.DidChangeWorkspaceFoldersParams(
                lsp.WorkspaceFoldersChangeEvent(added=added, removed=removed)
            )
        )

    event([], [folder])
    assert await session.codes(uri) == []  # nothing is known of net.py any more
    event([folder], [])
    assert await session.codes(uri) == CODES


async def test_what_is_not_wanted_any_more_is_given_up_and_what_takes_long_is_shown(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    uri = session.open(folders[1] / "long.py", LONG)
    params = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
    asked = client.protocol.send_request(lsp.TEXT_DOCUMENT_DIAGNOSTIC, params)
    number = next(reversed(client.protocol._request_futures))
    await until(lambda: any(client.progress_reports.values()))  # it takes long
    client.cancel_request(lsp.CancelParams(number))
    with pytest.raises(Exception, match="cancel"):
        await asyncio.wait_for(asyncio.wrap_future(asked), 20)
    session.change(uri, "import torch\n", 2)
    report = await asyncio.wait_for(session.pull(uri), 20)
    assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport) and not report.items
    kinds = [type(one) for some in client.progress_reports.values() for one in some]
    assert kinds[0] is lsp.WorkDoneProgressBegin and lsp.WorkDoneProgressReport in kinds
    shown = client.progress_reports  # one may be given up before it has begun
    await until(lambda: all(not some or some[-1].kind == "end" for some in shown.values()))
    session.close(uri)


async def test_the_whole_workspace_is_looked_at_with_progress(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    uri = session.open(folders[1] / "long.py", LONG)
    client.progress_reports["looking"] = []  # it knows the server's own tokens only
    report = await client.workspace_diagnostic_async(
        lsp.WorkspaceDiagnosticParams([], work_done_token="looking")
    )
    assert uri in {item.uri for item in report.items}
    await until(lambda: client.progress_reports["looking"][-1].kind == "end")
    begin, *reports, _ = client.progress_reports["looking"]
    assert begin.title == "samedevice: looking at all files"
    assert reports and all(str(one.message).endswith(" files") for one in reports)
    session.close(uri)


async def test_nonsense_is_answered_with_an_error(
    client: LanguageClient, folders: list[Path]
) -> None:
    session = await started(client, folders)
    for data in (None, {"path": 7}, {"path": "nowhere.py", "what": "fix", "finding": [1]}):
        with pytest.raises(Exception, match="samedevice"):
            await client.code_action_resolve_async(lsp.CodeAction("?", data=data))
    with pytest.raises(Exception, match=r"\w"):
        await client.workspace_execute_command_async(
            lsp.ExecuteCommandParams("samedevice.server.fixFile", [])
        )
    report = await session.pull("file:///nowhere/at/all.py")
    assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport) and not report.items
