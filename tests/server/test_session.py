"""Sessions of an editor with the server, message by message."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from samedevice.finding import Finding
from samedevice.migration import check, migrate
from samedevice.reading import config
from samedevice.server.analysis import Folder, Settings

from .editor import PATIENCE, applied, capabilities, run, session

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = sorted(FIXTURES.glob("rules/*/*/*.py"))
BROKEN = """\
import torch

device = torch.device("cuda")
model = torch.nn.Linear(3, 2).to(device)
x = torch.ones(4, 3)
print(model(x).sum())
"""

UNDECIDED = """\
import torch
from library import strange

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 2).to(device)
model(strange())
"""


def written(folder: Path, text: str = BROKEN) -> Path:
    path = folder / "program.py"
    path.write_bytes(text.encode())
    return path


def place(finding: Finding) -> tuple[int, int, int, int, str]:
    span = finding.span
    return span.line - 1, span.column, span.end_line - 1, span.end_column, finding.rule


def placed(diagnostic: lsp.Diagnostic) -> tuple[int, int, int, int, str]:
    start, end = diagnostic.range.start, diagnostic.range.end
    return start.line, start.character, end.line, end.character, str(diagnostic.code)


def test_findings_and_edits_are_those_of_the_command_line(tmp_path: Path) -> None:
    """Of every file of the fixtures, opened one after the other in one session."""
    for number, case in enumerate(CASES):
        folder = tmp_path / f"case{number}"
        folder.mkdir()
        written(folder, case.read_text("utf-8"))
    folders = sorted(tmp_path.iterdir())
    able = capabilities(encodings=[lsp.PositionEncodingKind.Utf32])
    fixed = 0

    async def compare() -> None:
        nonlocal fixed
        async with session(*folders, able=able) as editor:
            for folder in folders:
                settings = config.load([str(folder)])
                project = migrate.read([str(folder)], settings)
                findings = check.check(project, settings)
                uri = editor.open(folder / "program.py")
                told = await editor.diagnostics(uri)
                assert [placed(one) for one in told] == [place(one) for one in findings]
                for diagnostic, finding in zip(told, findings, strict=True):
                    assert diagnostic.message.startswith(finding.message)
                    assert len(diagnostic.related_information or ()) == len(finding.origins)
                changes = migrate.migrate(project, settings).changes
                actions = await editor.actions(uri, only="source.fixAll.samedevice")
                assert actions or not changes
                for action in actions:
                    if not changes:  # that is seen when it is to be made
                        with pytest.raises(JsonRpcException, match="nothing here can be"):
                            await editor.code_action_resolve_async(action)
                        continue
                    action = await editor.code_action_resolve_async(action)
                    assert action.edit is not None
                    after = applied(action.edit, editor.texts, editor.encoding)
                    assert after == {
                        Path(change.path).as_uri(): change.after.decode() for change in changes
                    }
                    fixed += 1
                editor.close(uri)

    run(compare(), 30 * PATIENCE)  # some 600 programs: three minutes alone, and more beside others
    assert fixed > 150


def test_all_projects_are_centralized_with_the_edits_of_fix(tmp_path: Path) -> None:
    changed = 0
    for before in sorted(FIXTURES.glob("projects/*/before")):
        folder = tmp_path / before.parent.name
        shutil.copytree(before, folder)
        settings = config.load([str(folder)])
        project = migrate.read([str(folder)], settings)
        analysis = Folder(folder.as_posix()).analyse({}, Settings())
        assert list(analysis.findings) == check.check(project, settings)
        outcome, wanted = analysis.centralize(), migrate.migrate(project, settings)
        assert outcome.changes == wanted.changes
        assert outcome.remaining == wanted.remaining
        changed += bool(wanted.changes)
    assert changed > 20


def test_a_project_is_centralized_with_the_edits_of_fix(tmp_path: Path) -> None:
    for path in (FIXTURES / "projects" / "scripts_share_a_folder" / "before").rglob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    settings = config.load([str(tmp_path)])
    changes = migrate.migrate(migrate.read([str(tmp_path)], settings), settings).changes
    assert len(changes) > 1

    async def centralize() -> None:
        async with session(tmp_path) as editor:
            answer = await editor.workspace_execute_command_async(
                lsp.ExecuteCommandParams("samedevice.server.centralize", [tmp_path.as_uri()])
            )
            assert answer == {"files": len(changes), "left": 0}
            edit = editor.asked[0].edit
            after = applied(edit, editor.texts, editor.encoding)
            assert after == {
                Path(change.path).as_uri(): change.after.decode() for change in changes
            }
            assert [note.needs_confirmation for note in (edit.change_annotations or {}).values()]
            await editor.workspace_execute_command_async(
                lsp.ExecuteCommandParams("samedevice.server.centralize", [tmp_path.as_uri(), True])
            )
            again = editor.asked[1].edit
            assert again.document_changes == edit.document_changes
            notes = (again.change_annotations or {}).values()
            assert [note.needs_confirmation for note in notes] == [False]
            editor.applies = False
            ask = lsp.ExecuteCommandParams("samedevice.server.centralize", [tmp_path.as_uri()])
            answer = await editor.workspace_execute_command_async(ask)
            assert answer == {"files": 0, "left": 0}  # its user has closed the preview
            ask.arguments = [tmp_path.as_uri(), True]
            with pytest.raises(JsonRpcException, match="the editor did not apply it"):
                await editor.workspace_execute_command_async(ask)

    run(centralize())


def test_old_findings_are_hints(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.samedevice]\nbaseline = 'old.txt'\n")
    entry = 'program.py\thard-coded-device\tdevice=torch.device("cuda")\n'
    (tmp_path / "old.txt").write_text(entry)

    async def look() -> None:
        async with session(tmp_path) as editor:
            uri = editor.open(path)
            found = await editor.diagnostics(uri)
            hint, warning = lsp.DiagnosticSeverity.Hint, lsp.DiagnosticSeverity.Warning
            assert [one.severity for one in found] == [hint, warning]
            editor.change(uri, "import os\n" + BROKEN + "print(", 2)
            found = await editor.diagnostics(uri, 2)
            assert [one.severity for one in found[:2]] == [hint, warning]

    run(look())


def test_what_is_undecided_is_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(UNDECIDED)

    async def look() -> None:
        async with session(tmp_path) as editor:
            (found,) = await editor.diagnostics(editor.open(path))
            assert (found.code, found.severity) == ("undecided", lsp.DiagnosticSeverity.Hint)
            assert found.tags is None  # it is neither unused nor deprecated
        async with session(tmp_path, settings={"ignore": ["undecided"]}) as editor:
            assert not await editor.diagnostics(editor.open(path))

    run(look())


def test_typing_is_followed_and_a_syntax_error_keeps_what_was_found(tmp_path: Path) -> None:
    path = written(tmp_path)

    async def type_() -> None:
        async with session(tmp_path) as editor:
            uri = editor.open(path)
            found = await editor.diagnostics(uri)
            assert [(one.code, one.range.start.line) for one in found] == [
                ("hard-coded-device", 2),
                ("tensor-without-device", 4),
            ]
            editor.change(uri, "import os\n" + BROKEN + "print(", 2)
            found = await editor.diagnostics(uri, 2)
            assert [(one.code, one.range.start.line) for one in found] == [
                ("hard-coded-device", 3),
                ("tensor-without-device", 5),
                ("syntax", 7),
            ]
            assert await editor.actions(uri) == []
            editor.change(uri, "import torch\nprint(torch.ones(2))\n", 3)
            assert await editor.diagnostics(uri, 3) == []

    run(type_())


def test_unsaved_text_of_another_file_counts(tmp_path: Path) -> None:
    user = written(
        tmp_path, "import torch\nfrom net import model\n\nx = torch.ones(4, 3)\nmodel(x)\n"
    )
    net = tmp_path / "net.py"
    net.write_text("import torch\n\nmodel = None\n")

    async def overlay() -> None:
        async with session(tmp_path) as editor:
            uri = editor.open(user)
            assert await editor.diagnostics(uri) == []
            editor.told.clear()
            text = (
                "import torch\n\ndevice = torch.device('cuda')\n"
                "model = torch.nn.Linear(3, 2).to(device)\n"
            )
            other = editor.open(net, text)
            await editor.diagnostics(other)
            found = await editor.diagnostics(uri)
            assert [one.code for one in found] == ["tensor-without-device"]
            assert {info.location.uri for info in found[0].related_information or ()} <= {
                uri,
                other,
            }

    run(overlay())


@pytest.mark.parametrize("pulls", [False, True])
def test_a_glance_is_told_first_and_then_what_else_has_changed(tmp_path: Path, pulls: bool) -> None:
    library = tmp_path / "library.py"
    library.write_text("import torch\n\n\ndef pick(x):\n    return x\n")
    user = tmp_path / "user.py"
    code = "import torch\nfrom library import pick\n\npick(torch.rand(3).cuda()).numpy()\n"
    user.write_text(code)
    rest = "import library\nimport torch\n\nx = torch.rand(3).cuda()\n"
    (tmp_path / "main.py").write_text(rest + "x = x + torch.rand(3).cuda()\n" * 30)

    async def type_() -> None:
        async with session(tmp_path, able=capabilities(pull=pulls)) as editor:

            async def codes(uri: str) -> list[object]:
                if not pulls:
                    return [one.code for one in editor.told[uri][-1].diagnostics]
                params = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
                report = await editor.text_document_diagnostic_async(params)
                assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
                return [one.code for one in report.items]

            uri, other = editor.open(user), editor.open(library)
            if not pulls:
                await editor.until(lambda: uri in editor.told and other in editor.told)
            await editor.actions(uri)  # the whole is judged
            assert "not-moved-to-cpu" in await codes(uri)
            editor.told.clear()
            before = editor.refreshes
            editor.change(other, library.read_text() + "\n\ndef more(x):\n    pass\n", 2)
            if not pulls:
                await editor.diagnostics(other, 2)
            await editor.actions(uri)
            assert editor.refreshes == before
            assert "not-moved-to-cpu" in await codes(uri)
            editor.told.clear()
            editor.change(other, library.read_text().replace("return x", "return x.cpu()"), 3)
            if pulls:  # an editor is asked to pull again only where the glance was wrong
                if "not-moved-to-cpu" in await codes(uri):
                    await editor.until(lambda: editor.refreshes > before)
            else:
                await editor.until(lambda: len(editor.told.get(uri, ())) == 2)
                first = editor.told[uri][0].diagnostics
                assert "not-moved-to-cpu" in [one.code for one in first]
                assert len(editor.told[other]) == 1  # the glance was right there
            assert "not-moved-to-cpu" not in await codes(uri)

    run(type_())


@pytest.mark.parametrize(
    "encoding",
    [None, lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf32],
    ids=["utf-16", "utf-8", "utf-32"],
)
def test_positions_are_in_the_clients_units(
    tmp_path: Path, encoding: lsp.PositionEncodingKind | None
) -> None:
    text = BROKEN.replace("x = ", 'x, é = "😀é\u2028", 1; x = ').replace("\n", "\r\n")
    path = written(tmp_path, text)

    async def edit() -> None:
        able = capabilities(encodings=[encoding] if encoding else None, resolve=False)
        async with session(tmp_path, able=able) as editor:
            uri = editor.open(path, text)
            await editor.diagnostics(uri)
            (action,) = [one for one in await editor.actions(uri, 4) if one.is_preferred]
            assert action.edit is not None  # inline: this editor does not resolve
            after = applied(action.edit, editor.texts, editor.encoding)
            assert after == {uri: text.replace("ones(4, 3)", "ones(4, 3, device=device)")}

    run(edit())


def test_a_finding_can_be_ignored(tmp_path: Path) -> None:
    path = written(tmp_path)

    async def ignore() -> None:
        async with session(tmp_path) as editor:
            uri = editor.open(path)
            await editor.diagnostics(uri)
            (action,) = [one for one in await editor.actions(uri, 4) if "Ignore" in one.title]
            action = await editor.code_action_resolve_async(action)
            assert action.edit is not None
            text = applied(action.edit, editor.texts, editor.encoding)[uri]
            assert "ones(4, 3)  # samedevice: ignore[tensor-without-device]\n" in text
            editor.change(uri, text, 2)
            found = await editor.diagnostics(uri, 2)
            assert [one.code for one in found] == ["hard-coded-device"]

    run(ignore())


def test_hover_and_hints_tell_places(tmp_path: Path) -> None:
    path = written(tmp_path)

    async def ask() -> None:
        async with session(tmp_path, settings={"inlayHints": "all"}) as editor:
            uri = editor.open(path)
            await editor.diagnostics(uri)
            document = lsp.TextDocumentIdentifier(uri)
            answer = await editor.text_document_hover_async(
                lsp.HoverParams(document, lsp.Position(5, 12))
            )
            assert answer is not None and isinstance(answer.contents, lsp.MarkupContent)
            told = answer.contents.value
            assert told.startswith("`x`: tensor, on the CPU, but it has to be on the ")
            assert f"1. created on the CPU, [program.py:5]({uri}#L5)" in told
            nothing = await editor.text_document_hover_async(
                lsp.HoverParams(document, lsp.Position(0, 3))
            )
            assert nothing is None
            whole = lsp.Range(lsp.Position(0, 0), lsp.Position(6, 0))
            hints = await editor.text_document_inlay_hint_async(
                lsp.InlayHintParams(document, whole)
            )
            labels = [(one.position.line, one.label[0]) for one in hints or ()]
            assert [(line, getattr(part, "value", part)) for line, part in labels] == [
                (3, ": device"),
                (4, ": CPU \N{RIGHTWARDS ARROW} device"),
                (5, ": CPU \N{RIGHTWARDS ARROW} device"),
            ]

    run(ask())


def test_hints_of_changed_texts_wait_for_no_whole(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text("utf-8")
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0))
    able = capabilities()
    able.workspace = lsp.WorkspaceClientCapabilities(
        inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    )

    async def ask() -> None:
        async with session(tmp_path, settings={"inlayHints": "all"}, able=able) as editor:
            uri = editor.open(path)
            await editor.diagnostics(uri)
            params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole)

            async def hints() -> list[tuple[int, str]]:
                found = await editor.text_document_inlay_hint_async(params)
                return [(one.position.line, one.label[0].value) for one in found or ()]  # type: ignore[union-attr]

            first = await hints()
            assert first
            editor.change(uri, "\n" + text.replace("torch.ones", "1 + torch.ones"), 2)
            assert sorted(await hints()) == [(line + 1, label) for line, label in first]

    run(ask())


def test_what_a_module_is_made_of_is_told_to_be_where_that_is(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "import torch\n\n\ndef reset(net):\n    for p in net.parameters():\n"
        "        p.data.add_(torch.randn(p.size()))\n",
    )
    lives = Folder(tmp_path.as_posix()).analyse({}, Settings()).lives(path.as_posix())
    (life,) = (one for one in lives if one.span.line == 5)
    assert [(event.what, event.code) for event in life.chain] == [("handed in", "net")]


def test_diagnostics_can_be_pulled_and_settings_are_followed(tmp_path: Path) -> None:
    path = written(tmp_path)

    async def pull() -> None:
        able = capabilities(pull=True)
        settings = {"ignore": ["hard-coded-device"]}
        async with session(tmp_path, able=able, settings=settings) as editor:
            uri = editor.open(path)
            params = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
            report = await editor.text_document_diagnostic_async(params)
            assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
            assert [one.code for one in report.items] == ["tensor-without-device"]
            changed = {"samedevice": {"select": ["no-such-rule"]}}
            editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(changed))
            await editor.until(lambda: any("no-such-rule" in text for text in editor.messages))
            assert editor.told == {}

    run(pull())


def test_a_notebook_is_one_program_and_edits_go_to_its_cells(tmp_path: Path) -> None:
    cells = ["import torch\ndevice = torch.device('cuda')\n", "# words", BROKEN.split("\n\n", 1)[1]]
    uris = [f"vscode-notebook-cell:/{tmp_path.name}.ipynb#{number}" for number in range(3)]
    kinds = [lsp.NotebookCellKind.Code, lsp.NotebookCellKind.Markup, lsp.NotebookCellKind.Code]
    notebook = lsp.NotebookDocument(
        (tmp_path / "book.ipynb").as_uri(),
        "jupyter-notebook",
        1,
        [lsp.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)],
    )

    async def open_() -> None:
        async with session(tmp_path) as editor:
            editor.notebook_document_did_open(
                lsp.DidOpenNotebookDocumentParams(
                    notebook,
                    [
                        lsp.TextDocumentItem(uri, "python", 1, cells[number])
                        for number, uri in enumerate(uris)
                        if number != 1
                    ],
                )
            )
            await editor.until(lambda: uris[2] in editor.told)
            found = editor.told[uris[2]][-1].diagnostics
            assert ("tensor-without-device", 2) in [
                (one.code, one.range.start.line) for one in found
            ]
            editor.texts = {uris[2]: cells[2]}
            actions = [one for one in await editor.actions(uris[2], 2) if one.is_preferred]
            action = await editor.code_action_resolve_async(actions[0])
            assert action.edit is not None
            after = applied(action.edit, editor.texts, editor.encoding)
            assert after == {uris[2]: cells[2].replace("(4, 3)", "(4, 3, device=device)")}

    run(open_())


def test_a_notebook_that_is_not_open_says_which_cell(tmp_path: Path) -> None:
    code = [{"cell_type": "code", "source": text, "metadata": {}} for text in BROKEN.split("\n\n")]
    shape = {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(shape))

    async def ask() -> None:
        async with session(tmp_path, able=capabilities(pull=True)) as editor:
            params = lsp.WorkspaceDiagnosticParams([])
            (report,) = (await editor.workspace_diagnostic_async(params)).items
            assert isinstance(report, lsp.WorkspaceFullDocumentDiagnosticReport)
            told = [(one.range.start.line, one.message.split(":")[0]) for one in report.items]
            assert told == [(0, "cell 2, line 1"), (0, "cell 2, line 3")]

    run(ask())


def test_a_notebook_may_come_as_the_code_of_its_cells(tmp_path: Path) -> None:
    """What jupyterlab-lsp sends: one text of all cells, under the name of the notebook."""
    path = tmp_path / "book.ipynb"
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')

    async def open_() -> None:
        async with session(tmp_path) as editor:
            uri = editor.open(path, BROKEN)
            found = await editor.diagnostics(uri)
            assert [(one.code, one.range.start.line) for one in found] == [
                ("hard-coded-device", 2),
                ("tensor-without-device", 4),
            ]
            assert await editor.actions(uri) == []  # nothing could be done with its edits

    run(open_())


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signal")
def test_the_server_ends_when_its_editor_dies() -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "samedevice", "server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(b"Content-Length: 9\r\n\r\nnot json!")
    server.stdin.flush()
    time.sleep(0.2)
    assert server.poll() is None  # a message that is none is passed over
    server.stdin.close()
    try:
        server.wait(30)
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGKILL)
        server.stdout.close()
