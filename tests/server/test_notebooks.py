"""Notebooks as VS Code has them: a cell has a document, the notebook has the fixes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

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
