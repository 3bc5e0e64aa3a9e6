"""How a session begins and changes: settings, folders, files on the disk, and what is typed."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from .analysis import Settings
from .protocol import NAME, PAUSE, Server, path_of

_FILES = ("**/*.py", "**/*.ipynb")
_WATCHED = (*_FILES, "**/pyproject.toml", "**/requirements*.txt", "**/setup.cfg", "**/.gitignore")


def register(server: Server) -> None:
    """Have `server` follow its client."""
    _sessions(server)
    _files(server)
    _documents(server)


def _sessions(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.watch_parent()
        workspace = params.capabilities.workspace
        if workspace is None or not workspace.configuration:
            server.settled.set()  # it cannot be asked
        options = params.initialization_options
        if isinstance(options, dict):
            _configure(server, options.get("settings", options))

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        await _register_more(server)
        await _ask_settings(server)
        server.settled.set()
        await _again(server)
        server.warm_up()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed_settings(params: lsp.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, dict) and params.settings:
            _configure(server, params.settings)
        else:
            await _ask_settings(server)
        await _again(server)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def changed_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            server.close_folder(path_of(folder.uri))
        if params.event.added:
            await _ask_settings(server)
        await _again(server)


async def _register_more(server: Server) -> None:
    """Ask to be told of files and settings, where the client can be asked."""
    workspace = server.client_capabilities.workspace
    wanted: list[lsp.Registration] = []
    watching = workspace.did_change_watched_files if workspace else None
    if watching and watching.dynamic_registration:
        watchers = [lsp.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    settings = workspace.did_change_configuration if workspace else None
    if settings and settings.dynamic_registration:
        section = lsp.DidChangeConfigurationRegistrationOptions(section=NAME)
        wanted.append(lsp.Registration("settings", lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if wanted:
        await server.client_register_capability_async(lsp.RegistrationParams(wanted))


async def _again(server: Server) -> None:
    """Have everything that is open looked at again."""
    server.look()
    if server.asks_again:
        await server.workspace_diagnostic_refresh_async(None)
    server.refresh_hints()


async def _ask_settings(server: Server) -> None:
    """Ask for the settings of the session and, in their scope, for those of each folder."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    folders = list(server.workspace.folders)
    items = [lsp.ConfigurationItem(section=NAME)]
    items += [lsp.ConfigurationItem(scope_uri=uri, section=NAME) for uri in folders]
    answers = await server.workspace_configuration_async(lsp.ConfigurationParams(items))
    for root, answer in zip(["", *map(path_of, folders)], answers, strict=False):
        if isinstance(answer, dict) and answer:
            _configure(server, answer, root)
        elif root:
            server.settings.pop(root, None)


def _configure(server: Server, given: object, root: str = "") -> None:
    """Take the settings that an editor has; one of the wrong type is told and passed over.

    Those of the session, without a `root`, replace what was known of its folders.
    """
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
    if not root:
        server.settings.clear()
    server.settings[root] = Settings(**values)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _files(server: Server) -> None:
    patterns = [
        lsp.FileOperationFilter(lsp.FileOperationPattern(pattern), scheme="file")
        for pattern in (*_FILES, "**/")
    ]
    options = lsp.FileOperationRegistrationOptions(patterns)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.refresh()
        await _again(server)

    @server.feature(lsp.WORKSPACE_DID_CREATE_FILES, options)
    async def created(params: lsp.CreateFilesParams) -> None:
        server.refresh()
        await _again(server)

    @server.feature(lsp.WORKSPACE_DID_RENAME_FILES, options)
    async def renamed(params: lsp.RenameFilesParams) -> None:
        server.refresh()
        await _again(server)

    @server.feature(lsp.WORKSPACE_DID_DELETE_FILES, options)
    async def deleted(params: lsp.DeleteFilesParams) -> None:
        server.refresh()
        await _again(server)


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
