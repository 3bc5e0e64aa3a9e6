"""Notebooks as VS Code has them: a cell has a document, the notebook has the fixes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from .editor import Editor, applied, capabilities, run, session

CELLS = [
    "import torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    "model = torch.nn.Linear(3, 2).to(device)",
    "weights = torch.ones(4, 3)",
    "%matplotlib inline\nout = model(weights)\nother = torch.zeros(2).cuda()",
]
FOUND = [[], ["tensor-without-device"], ["hard-coded-device"]]
FIXED = [
    CELLS[0],
    CELLS[1].replace("(4, 3)", "(4, 3, device=device)"),
    CELLS[2].replace("cuda()", "to(device)"),
]
FIX = "notebook.source.fixAll.samedevice"


def opened(editor: Editor, path: Path, end: str = "") -> list[str]:
    """Open a notebook and return the URIs of its cells, which end with `end`."""
    uris = [f"vscode-notebook-cell:{path}#W{number}{end}" for number in range(len(CELLS))]
    cells = [lsp.NotebookCell(lsp.NotebookCellKind.Code, uri) for uri in uris]
    editor.texts.update(zip(uris, CELLS, strict=True))
    editor.notebook_document_did_open(
        lsp.DidOpenNotebookDocumentParams(
            lsp.NotebookDocument(path.as_uri(), "jupyter-notebook", 0, cells),
            [
                lsp.TextDocumentItem(uri, "python", 1, text)
                for uri, text in zip(uris, CELLS, strict=True)
            ],
        )
    )
    return uris


async def told(editor: Editor, *wanted: tuple[str, list[str]]) -> None:
    """Wait until what was told last of documents are findings of these rules."""

    def rules(uri: str) -> list[object]:
        return [one.code for one in editor.told[uri][-1].diagnostics]

    await editor.until(lambda: all(uri in editor.told and rules(uri) == of for uri, of in wanted))


def test_all_of_a_notebook_is_fixed_once(tmp_path: Path) -> None:
    """An editor that fixes on save asks of every cell at once, and would make each edit thrice."""

    async def fix() -> None:
        async with session(tmp_path) as editor:
            uris = opened(editor, tmp_path / "book.ipynb")
            await told(editor, *zip(uris, FOUND, strict=True))
            for uri in uris:
                assert await editor.actions(uri, only="source.fixAll") == []
            (action,) = await editor.actions(uris[0], only=FIX)
            action = await editor.code_action_resolve_async(action)
            assert action.edit is not None
            after = applied(action.edit, editor.texts, editor.encoding)
            assert [after.get(uri, editor.texts[uri]) for uri in uris] == FIXED

    run(fix())


def test_what_is_found_in_a_cell_is_told_once(tmp_path: Path) -> None:
    """To an editor that asks for the diagnostics of a folder, too."""

    async def ask() -> None:
        async with session(tmp_path, able=capabilities(pull=True)) as editor:
            uris = opened(editor, tmp_path / "book.ipynb")
            await told(editor, *zip(uris, FOUND, strict=True))
            params = lsp.WorkspaceDiagnosticParams([])
            assert not (await editor.workspace_diagnostic_async(params)).items

    run(ask())


@pytest.mark.parametrize(
    "encoding",
    [None, lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf32],
    ids=["utf-16", "utf-8", "utf-32"],
)
def test_a_cell_changes_in_parts(tmp_path: Path, encoding: lsp.PositionEncodingKind | None) -> None:
    """As VS Code sends it, whatever was agreed on; the URIs of its cells have escapes."""

    async def type_() -> None:
        able = capabilities(encodings=[encoding] if encoding else None)
        async with session(tmp_path, able=able) as editor:
            path = tmp_path / "book.ipynb"
            _, uri, last = uris = opened(editor, path, end="%3D%3D")
            await told(editor, *zip(uris, FOUND, strict=True))

            def change(*parts: tuple[int, int, int, int, str]) -> None:
                changes: list[lsp.TextDocumentContentChangeEvent] = [
                    lsp.TextDocumentContentChangePartial(
                        lsp.Range(lsp.Position(line, start), lsp.Position(end_line, end)), text
                    )
                    for line, start, end_line, end, text in parts
                ]
                text = lsp.NotebookDocumentCellContentChanges(
                    lsp.VersionedTextDocumentIdentifier(version=2, uri=uri), changes
                )
                editor.notebook_document_did_change(
                    lsp.DidChangeNotebookDocumentParams(
                        lsp.VersionedNotebookDocumentIdentifier(version=0, uri=path.as_uri()),
                        lsp.NotebookDocumentChangeEvent(
                            cells=lsp.NotebookDocumentCellChanges(text_content=[text])
                        ),
                    )
                )

            line = '# "😀\u2028'
            change((0, 0, 0, 0, f"{line}\r\n"), (1, 25, 1, 99, ", device=device)"))
            await told(editor, (uri, []))
            width = {"utf-8": 10, "utf-16": 6, "utf-32": 5}[editor.encoding]
            change((0, width, 1, 0, "\n"), (1, 25, 9, 9, ")  # end"))
            await told(editor, (uri, ["tensor-without-device"]))
            editor.texts[uri] = f"{line}\nweights = torch.ones(4, 3)  # end"
            (action,) = await editor.actions(last, only=FIX)
            action = await editor.code_action_resolve_async(action)
            assert action.edit is not None
            after = applied(action.edit, editor.texts, editor.encoding)
            assert after[uri] == f"{line}\nweights = torch.ones(4, 3, device=device)  # end"
            assert after[last] == FIXED[2]

    run(type_())


def test_an_editor_of_notebooks_changes_those_that_are_open(tmp_path: Path) -> None:
    """VS Code would change the JSON of another out of sight."""
    shape = {
        "cells": [{"cell_type": "code", "source": text, "metadata": {}} for text in CELLS],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(shape))

    async def centralize() -> None:
        able = capabilities()
        ask = lsp.ExecuteCommandParams("samedevice.server.centralize", [tmp_path.as_uri(), True])
        async with session(tmp_path, able=able) as editor:
            await editor.workspace_execute_command_async(ask)
            assert editor.asked.pop().edit.document_changes
        sync = lsp.NotebookDocumentSyncClientCapabilities()
        able.notebook_document = lsp.NotebookDocumentClientCapabilities(sync)
        async with session(tmp_path, able=able) as editor:
            with pytest.raises(
                JsonRpcException, match=r"book\.ipynb is a notebook that is not open"
            ):
                await editor.workspace_execute_command_async(ask)
            opened(editor, path)
            await editor.workspace_execute_command_async(ask)
            assert editor.asked.pop().edit.document_changes

    run(centralize())


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "50% #1"
    folder.mkdir()
    (folder / "library.py").write_text("import torch\n\n\ndef make():\n    return torch.ones(3)\n")
    program = folder / "program.py"
    program.write_text(
        "import torch\nfrom library import make\n\n(torch.ones(3).cuda() + make())\n"
    )

    async def open_() -> None:
        async with session(folder) as editor:
            uri = editor.open(program)
            found = [one.code for one in await editor.diagnostics(uri)]
            other = editor.open(folder / "library.py")
            there = [one.code for one in await editor.diagnostics(other)]
            assert "hard-coded-device" in found and there == ["tensor-without-device"]

    run(open_())
