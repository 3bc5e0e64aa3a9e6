"""The picture of a map, which needs no browser, and the drawing of files that is on it."""

import json
import re
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

from samedevice import map as map_
from samedevice.map import graph, model
from samedevice.map.names import Names
from samedevice.migration.migrate import migrate
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

from .test_page import CLASHING, FIXTURES, run

SVG = "{http://www.w3.org/2000/svg}"


def drawn(files: dict[str, str], fixed: bool = False) -> tree.Element:
    """Return the picture of a project; that it is an XML document is a part of it."""
    before = Project(source.from_text(text, name) for name, text in files.items())
    after = before.like(migrate(before, Config()).sources.values()) if fixed else None
    return tree.fromstring(map_.picture(before, Config(), after=after, title="toy"))


def texts(svg: tree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]


def test_it_has_the_findings_and_their_code_before_and_after() -> None:
    svg = drawn({"a.py": CLASHING}, fixed=True)
    said = texts(svg)
    assert "1 finding in 1 of 1 file; after samedevice fix: none left" in said
    heads = ["before", "after samedevice fix"]
    assert [text for text in said if text in heads] == heads
    assert any(text.startswith("⚡ 6: ") for text in said)
    assert said.count("torch.zeros") == 2
    assert any("device=" in text for text in said)
    kinds = [rect.get("class") for rect in svg.iter(f"{SVG}rect")]
    assert kinds.count("removed") == kinds.count("added") == 1


def test_without_a_fix_there_is_one_version() -> None:
    said = texts(drawn({"a.py": CLASHING}))
    assert "1 finding in 1 of 1 file" in said and "before" not in said
    assert said.count("torch.zeros") == 1


def test_a_notebook_has_heads_of_cells() -> None:
    cells = ["import torch", "net = torch.nn.Linear(2, 2).to('cuda')", "net(torch.ones(3, 2))"]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4}
    file = source.from_bytes(json.dumps(notebook).encode(), "n.ipynb")
    said = texts(tree.fromstring(map_.picture(Project([file]), Config(), title="toy")))
    assert {"cell 2", "cell 3", "3:1"} <= set(said)
    assert not any("%%" in text or text.endswith(":0") for text in said)


def test_a_clean_project_is_a_drawing_of_its_files() -> None:
    svg = drawn({"a.py": "import torch\nfrom b import f\nf(torch.ones(3))\n",
                 "b.py": "def f(t):\n    return t\n"})  # fmt: skip
    assert {"no finding in 2 files", "a.py", "b.py"} <= set(texts(svg))


def test_letters_stay_inside_and_do_not_overlap() -> None:
    svg = drawn({"a.py": CLASHING.replace("2, 3", "2,\t3") + "名前 = torch.zeros(3) + y\n"}, True)
    width = float(svg.get("width") or 0)
    rows: dict[float, list[tuple[float, float]]] = {}
    for text in svg.iter(f"{SVG}text"):
        if "code" in (text.get("class") or ""):
            x = float(text.get("x") or 0)
            rows.setdefault(float(text.get("y") or 0), []).append(
                (x, float(text.get("textLength") or 0))
            )
    assert len(rows) > 5
    for pieces in rows.values():
        pieces.sort()
        assert pieces[-1][0] + pieces[-1][1] < width
        for (x, length), (following, _) in zip(pieces, pieces[1:], strict=False):
            assert x + length <= following + 0.2


def test_hostile_code_stays_text() -> None:
    code = CLASHING.replace("(2, 3)", "(2, 3)  # </text><script>alert(1)</script> \u202e\x07&")
    picture = map_.picture(Project([source.from_text(code, "<b>.py")]), Config(), title="<i>")
    assert "<script" not in picture and "<b>" not in picture and "<i>" not in picture
    assert "\u202e" not in picture and "\x07" not in picture
    tree.fromstring(picture)
    assert not re.search(r"(?:href|src)=|url\((?!#)|@import", picture)  # it loads nothing


def test_much_is_cut_and_told() -> None:
    files = {f"f{at:02}.py": CLASHING for at in range(30)}
    svg = drawn(files)
    assert any(re.fullmatch(r"and \d+ more files with findings", text) for text in texts(svg))
    assert float(svg.get("height") or 0) < 3000


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir())[::4])
def test_every_fixture_has_a_picture(name: str) -> None:
    root = next(
        folder for kind in ("before", "keep") if (folder := FIXTURES / name / kind).exists()
    )
    before = Project(map(source.read, sorted(root.rglob("*.py"))))
    after = before.like(migrate(before, Config()).sources.values())
    svg = tree.fromstring(map_.picture(before, Config(), after=after, root=str(root)))
    assert len(texts(svg)) > 5


# the drawing of files


def lay_out(files: dict[str, str]) -> graph.Graph:
    project = Project(source.from_text(text, name) for name, text in files.items())
    view = model.view(project, [])
    return graph.draw(view.files, {}, Names("", list(view.files)))


def test_many_files_are_drawn_by_folder() -> None:
    files = {"main.py": "import torch\nfrom a.m0 import x\nprint(x)\n"}
    for folder in ("a", "b/c", "b/d"):
        for at in range(6):
            files[f"{folder}/m{at}.py"] = "import torch\nx = torch.ones(3)\n"
    made = lay_out(files)
    assert made.folders
    names = {box.name: box.note for box in made.boxes}
    assert names == {"main.py": "", "a/": "6 files", "b/c/": "6 files", "b/d/": "6 files"}
    ends = [(made.boxes[edge.start].name, made.boxes[edge.end].name) for edge in made.edges]
    assert ends == [("main.py", "a/")]


def test_many_files_of_one_folder_are_drawn_with_those_that_matter() -> None:
    code = "import torch\nx = torch.ones(3)\n"
    files = {f"m{at:02}.py": code * (1 + (at == 7)) for at in range(40)}
    made = lay_out(files)
    assert len(made.boxes) == 15
    assert [box.name for box in made.boxes if "other" in box.name] == ["26 other files"]
    assert any(box.name == "m07.py" for box in made.boxes)


def test_names_fit_their_boxes_and_boxes_do_not_overlap() -> None:
    code = "import torch\nx = torch.ones(3)\n"
    long = "a_rather_long_name_of_a_module_that_somebody_gave_to_it_before_lunch"
    files = {f"{long}_{at}.py": code for at in range(3)} | {
        "a.py": f"from {long}_1 import x\n" + code
    }
    made = lay_out(files)
    for box in made.boxes:
        assert len(box.name) * graph._LETTER <= box.width - 24
        assert box.title.endswith(".py")
    assert {box.name[-4:] for box in made.boxes} >= {"0.py", "1.py", "2.py"}  # ends differ
    corners = sorted((box.y, box.x, box.width) for box in made.boxes)
    for (y, x, width), (below, right, _) in zip(corners, corners[1:], strict=False):
        assert y != below or x + width <= right
    assert max(box.x + box.width for box in made.boxes) <= made.width


# the command


def test_the_command_writes_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(CLASHING)
    assert run("--image", "map.svg", "--fixed") == (0, "map.svg written\n", b"")
    assert "after samedevice fix" in texts(tree.parse("map.svg").getroot())
    assert not Path("map.html").exists()


def test_a_png_has_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(CLASHING)
    code, said, _ = run("--image", "map.png")
    if "no font" in said:
        pytest.skip("this machine has no font")
    assert (code, said) == (0, "map.png written\n")
    data = Path("map.png").read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 10_000


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("map.gif", "error: map.gif: a picture is an SVG or a PNG; let its name end in .svg or"),
        ("none/map.svg", "error: none/map.svg: cannot be written: there is no folder none"),
        ("-", "error: --image: name a file, such as map.svg"),
        (".", "error: .: is a folder; name a file in it, such as --image map.svg"),
    ],
)
def test_mistakes(name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(CLASHING)
    code, said, _ = run("--image", name)
    assert code == 2 and said.startswith(message)


def test_a_png_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from samedevice.map import commands

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    Path("a.py").write_text(CLASHING)
    code, said, _ = run("--image", "map.png")
    assert code == 2 and "pip install 'samedevice[image]'" in said
