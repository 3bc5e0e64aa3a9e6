"""What is said of texts at once, from what was last known, and texts that change in part."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from samedevice.server.analysis import Folder, Settings
from samedevice.server.edits import replaced

from .editor import capabilities, run, session

CODE = """\
import torch

device = torch.device("cuda")
model = torch.nn.Linear(3, 2).to(device)
x = torch.ones(4, 3)
print(model(x).sum())
"""
SETTINGS = Settings()


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(CODE)
    return (tmp_path / "program.py").as_posix()


def test_findings_are_told_in_lines_that_have_moved_without_any_inference(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(str(Path(path).parent))
    assert folder.soon({path: CODE}) is None
    whole = folder.analyse({path: CODE}, SETTINGS)
    assert folder.soon({path: CODE}) is whole
    with monkeypatch.context() as patch:
        patch.setattr("samedevice.inference.infer", None)
        soon = folder.soon({path: "# new\n\n" + CODE})
        changed = folder.soon({path: CODE.replace("x = torch.ones", "x = 1 + torch.ones")})
    assert soon is not None and changed is not None
    there = [(one.rule, one.span.line) for one in soon.findings]
    assert there == [(one.rule, one.span.line + 2) for one in whole.findings]
    assert any(one.fix is not None for one in soon.findings)
    assert soon.source(path) is not None and soon.source(path).text.startswith("# new")  # type: ignore[union-attr]
    assert 5 not in [one.span.line for one in changed.findings]
    again = folder.analyse({path: "# new\n\n" + CODE}, SETTINGS)
    assert [(one.rule, one.span) for one in again.findings] == [
        (one.rule, one.span) for one in soon.findings
    ]


def test_places_are_told_from_the_last_trace_but_not_for_changed_lines(path: str) -> None:
    folder = Folder(str(Path(path).parent))
    first = folder.analyse({path: CODE}, SETTINGS)
    assert folder.traced({path: CODE}, path) is None  # never asked
    lives = first.lives(path)
    assert folder.traced({path: CODE}, path) == (first, lives)
    assert first.changed(path, range(1, 9)) == []
    folder.keep_trace(first)
    text = "# new\n" + CODE.replace("ones(4", "ones(5")
    folder.analyse({path: text}, SETTINGS)  # which has no trace of its own
    known = folder.traced({path: text}, path)
    assert known is not None and known[0].changed(path, range(1, 8)) == [1, 6]
    assert [one.span.line for one in known[1]] == [
        one.span.line + 1 for one in lives if one.span.line != 5
    ]


HELPER = """\
import torch
from model import net


def pick(x):
    y = torch.ones(3)
    return net(x) + y.cuda()


def other(x):
    return x * 2


print(pick(torch.rand(3).cuda()), other(torch.rand(3)))
"""
NET = "import torch\n\nnet = torch.nn.Linear(3, 3).cuda()\n"


def test_places_are_told_of_a_changed_line_without_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.py").write_text(NET)
    (tmp_path / "helper.py").write_text(HELPER)
    path = (tmp_path / "helper.py").as_posix()
    folder = Folder(tmp_path.as_posix())
    assert folder.close_up({path: HELPER}, SETTINGS, path, 6) is None  # nothing is known yet
    folder.analyse({path: HELPER}, SETTINGS)
    text = "# new\n" + HELPER.replace("torch.ones(3)", "torch.ones(3).to(x.device)")
    with monkeypatch.context() as patch:
        patch.setattr("samedevice.migration.check.check", None)
        known = folder.close_up({path: text}, SETTINGS, path, 7)
        assert known is not None
        broken = folder.close_up({path: text + "print("}, SETTINGS, path, 7)
        assert broken is not None and broken[1] == known[1]
        below = folder.close_up({path: "# a\n" + text + "print("}, SETTINGS, path, 8)
        assert below is not None
        assert [one.span.line for one in below[1]] == [one.span.line + 1 for one in known[1]]
    inside = {one.span: one for one in known[1] if 6 <= one.span.line <= 8}
    assert {place.line for place in inside} == {6, 7, 8}
    whole = folder.analyse({path: text}, SETTINGS).lives(path)
    assert inside == {one.span: one for one in whole if 6 <= one.span.line <= 8}


def test_hints_of_changed_texts_wait_for_no_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.py").write_text(NET)
    (tmp_path / "helper.py").write_text(HELPER)
    path = (tmp_path / "helper.py").as_posix()
    folder = Folder(tmp_path.as_posix())
    whole = folder.analyse({path: HELPER}, SETTINGS)
    lines = range(1, 20)
    assert folder.lives_soon({path: HELPER}, SETTINGS, path, lines) is None  # all is known
    whole.lives(path)
    folder.keep_trace(whole)
    text = "# new\n" + HELPER.replace("torch.ones(3)", "torch.ones(3).to(x.device)")
    with monkeypatch.context() as patch:
        patch.setattr("samedevice.migration.check.check", None)
        known = folder.lives_soon({path: text}, SETTINGS, path, lines)
        broken = folder.lives_soon({path: text + "print("}, SETTINGS, path, lines)
    assert known is not None and broken is not None and len(known) == 3  # the file, and `pick`
    soon = {one.span: one for _, lives in known for one in lives}
    after = folder.analyse({path: text}, SETTINGS)
    assert soon == {one.span: one for one in after.lives(path)}
    assert soon.keys() >= {one.span for _, lives in broken for one in lives}


NEWLINE = re.compile(r"\r\n?|\n")
LETTERS = ["a", "é", "\N{GRINNING FACE}", "\u2028", "\x0c", "\n", "\r\n", " ", "x = 1\n"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_changes_in_part_are_made_where_the_editor_means_them(encoding: str) -> None:
    """Against the same changes made in the text's units, for 2,000 at random."""
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}.get(
        encoding, ("utf-32-le", 4)
    )
    choice = random.Random(9)
    text = "first = 1\r\nsecond = '\N{GRINNING FACE}'\n"

    def position(offset: int) -> lsp.Position:
        ends = [end.end() for end in NEWLINE.finditer(text) if end.end() <= offset]
        head = text[ends[-1] if ends else 0 : offset]
        return lsp.Position(len(ends), len(head.encode(codec)) // size)

    for _ in range(2_000):
        one, other = sorted(choice.randrange(len(text) + 1) for _ in range(2))
        other = min(other, one + 8)
        if any(text[at - 1 : at + 1] == "\r\n" for at in (one, other) if at):
            continue  # between the two characters of a line's end there is no position
        new = "".join(choice.choices(LETTERS, k=choice.randrange(4)))
        expected = text[:one] + new + text[other:]
        where = lsp.Range(position(one), position(other))
        assert replaced(text, where, new, encoding) == expected
        text = expected if len(expected) < 400 else "start\n"


def test_what_is_typed_by_ranges_is_what_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("")

    async def type_() -> None:
        able = capabilities()
        async with session(tmp_path, able=able) as editor:
            uri = editor.open(path, "'\N{GRINNING FACE}\u2028'; x = 1\r\n")
            pieces = [
                ((0, 7), (0, 12), "import torch\r\n" + CODE.partition("\n")[2]),
                ((0, 3), (0, 3), "\N{GRINNING FACE}"),
                ((0, 9), (0, 21), "import torch"),
            ]
            changes = [
                lsp.TextDocumentContentChangePartial(
                    lsp.Range(lsp.Position(*start), lsp.Position(*end)), text
                )
                for start, end, text in pieces
            ]
            assert editor.sync == lsp.TextDocumentSyncKind.Incremental
            editor.text_document_did_change(
                lsp.DidChangeTextDocumentParams(
                    lsp.VersionedTextDocumentIdentifier(uri=uri, version=2), changes
                )
            )
            found = await editor.diagnostics(uri, 2)
            assert [(str(one.code), one.range.start) for one in found] == [
                ("hard-coded-device", lsp.Position(2, 22)),
                ("tensor-without-device", lsp.Position(4, 4)),
            ]

    run(type_())
