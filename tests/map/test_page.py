"""What the page says: text without a browser."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from samedevice import map as map_
from samedevice.cli import app
from samedevice.migration.migrate import migrate
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

FIXTURES = Path(__file__).parents[2] / "fixtures" / "projects"
CLASHING = """import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 3).to(device)
x = torch.zeros(2, 3)
y = model(x)
print(y.sum().item())
"""


def project(**files: str) -> Project:
    return Project(source.from_text(text, f"{name}.py") for name, text in files.items())


def page(**files: str) -> str:
    return map_.page(project(**files), Config(), title="toy").text


class Marks(HTMLParser):
    """The marked values of a page: line -> [(text, classes)]."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: dict[str, list[tuple[str, str]]] = {}
        self.text: dict[str, str] = {}
        self._line = ""
        self._mark = ""
        self._in = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "div" and (given.get("class") or "").split(" ")[0] == "l" and given.get("id"):
            self._line = str(given["id"])
        if tag == "code" and self._line:
            self._in = 1
        if tag == "span" and "data-i" in given:
            self._mark = str(given["class"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "code" and self._in:
            self._line, self._in = "", 0
        if tag == "span":
            self._mark = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.text[self._line] = self.text.get(self._line, "") + data
            if self._mark:
                self.lines.setdefault(self._line, []).append((data, self._mark))


def data(text: str) -> dict[str, list[object]]:
    found = re.search(r'id="data">(.*?)</script>', text)
    assert found is not None
    loaded: dict[str, list[object]] = json.loads(found[1])
    return loaded


def test_every_value_has_the_colour_of_its_place() -> None:
    marks = Marks(page(a=CLASHING)).lines
    assert marks["a.py:5"] == [
        ("model", "v c"), ("nn.Linear", "v h"), ("to", "v c m"), ("device", "v c d"),
    ]  # fmt: skip
    assert marks["a.py:6"] == [("x", "v h"), ("torch.zeros", "v h w")]
    assert marks["a.py:7"] == [("y", "v c"), ("model", "v c"), ("x", "v h")]
    assert marks["a.py:8"] == [("y", "v c"), ("item", "v h m")]


def test_all_of_the_code_is_there() -> None:
    assert list(Marks(page(a=CLASHING)).text.values()) == [
        line for line in CLASHING.splitlines() if line
    ]


def test_a_value_is_followed_through_calls_and_files_to_the_sites_behind_it() -> None:
    text = page(
        main="import torch\nfrom work import use\n\nx = torch.ones(3)\nuse(x.to('cuda'))\n",
        work="def use(t):\n    return t * 2\n",
    )
    infos = data(text)["infos"]
    number = re.search(r"work\.py:2.*?data-i=(\d+)>t<", text)
    assert number is not None
    kind, place, *_, chain = infos[int(number[1])]  # type: ignore[misc]
    assert (kind, place) == ("tensor", "c")
    assert [(what, where, line) for what, where, _, line, *_ in chain] == [
        ("created", "h", 4), ("moved", "c", 5),
    ]  # fmt: skip


def test_a_helper_for_host_and_device_follows_its_callers() -> None:
    text = page(
        a="import torch\n\n\ndef twice(t):\n    return t * 2\n\n\n"
        "x = torch.ones(3)\ntwice(x)\ntwice(torch.ones(3, device='cuda'))\n"
    )
    assert Marks(text).lines["a.py:5"] == [("t", "v f")]


def test_places_of_a_second_device_datasets_and_parameters() -> None:
    text = page(
        a="import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return x + torch.zeros(3, device=x.device)\n\n\n"
        "teacher = nn.Linear(2, 2).to('cuda:1')\nteacher(torch.ones(2, device='cuda:1'))\n"
        "student = nn.Linear(2, 2).to('cuda:0')\nstudent(torch.ones(2, device='cuda:0'))\n"
    )
    marks = Marks(text).lines
    # the module is built on the CPU, and what gets its name is on the second device
    assert [css for _, css in marks["a.py:10"]][:2] == ["v x", "v h"]
    assert ("x", "v f") in marks["a.py:6"]
    assert marks["a.py:7"][1] == ("torch.zeros", "v f")


def test_a_tensor_in_a_plain_attribute_stays_where_it_was_made() -> None:
    text = page(
        a="import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.w = torch.ones(2)\n\n"
        "    def forward(self, x):\n        return x * self.w\n\n\n"
        "net = Net().to('cuda')\nnet(torch.ones(2, device='cuda'))\n"
    )
    marks = Marks(text).lines
    places = [css.split()[1] for line in (8, 11) for name, css in marks[f"a.py:{line}"]
              if name == "self.w"]  # fmt: skip
    assert places == ["h", "h"]  # as the finding there says


def test_a_clash_names_both_origins_and_where_they_meet() -> None:
    clash = data(page(a=CLASHING))["clashes"][0]
    assert isinstance(clash, dict)
    assert {(end[1], end[3]) for end in clash["ends"]} == {(6, "h"), (5, "c")}
    assert clash["at"][1] == 7


def test_before_and_after_stand_side_by_side() -> None:
    before = project(a=CLASHING)
    outcome = migrate(before, Config())
    text = map_.page(before, Config(), after=before.like(outcome.sources.values())).text
    marks = Marks(text).lines
    assert marks["a.py:6"][1] == ("torch.zeros", "v h w")
    assert marks["after:a.py:6"][1] == ("torch.zeros", "v c")
    assert "1 \u2192 0" in text


def test_hostile_code_stays_text() -> None:
    text = page(
        a="import torch\nx = torch.zeros(3)  # </script><img src=x onerror=alert(1)>\n"
        's = "\u202e </code> & \\u0000 \u2028 \x07"\nx["</script><script>alert(2)</script>"]\n'
    )
    assert "<img" not in text and "alert(2)</script><" not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert "U+202E" in text and "\u202e" not in text and "\x07" not in text


def test_names_of_files_stay_text() -> None:
    name = "a b<\"&'>#?%.py"
    text = map_.page(Project([source.from_text(CLASHING, name)]), Config()).text
    assert "a b&lt;&quot;&amp;&#x27;&gt;#?%.py" in text
    assert 'id="a%20b%3C%22%26%27%3E%23%3F%25.py"' in text


def test_the_page_asks_for_nothing() -> None:
    text = page(a=CLASHING)
    assert not re.search(r"(?:src|href)=[\"']?(?!#)\w|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_unicode_and_wide_characters() -> None:
    text = page(a='import torch\n名前 = torch.zeros(3)  # 形 🙂\nprint("ü", 名前)\n')
    assert Marks(text).lines["a.py:2"][0] == ("名前", "v h")
    assert Marks(text).text["a.py:3"] == 'print("ü", 名前)'


def test_a_notebook_is_shown_by_cells_with_its_magics(tmp_path: Path) -> None:
    cells = ["%matplotlib inline\nimport torch\n", "x = torch.zeros(3)\n!ls\nx.cuda()\n"]
    notebook = {
        "cells": [
            {"cell_type": "code", "source": code, "metadata": {}, "outputs": []} for code in cells
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    file = tmp_path / "n.ipynb"
    file.write_text(json.dumps(notebook))
    text = map_.page(Project([source.read(file)]), Config(), root=str(tmp_path)).text
    code = list(Marks(text).text.values())
    assert code[0] == "%matplotlib inline" and "!ls" in code
    assert "samedevice%" not in text and ">cell 2<" in text


def test_only_some_files_are_shown() -> None:
    files = project(
        main="from other import x\nx.cuda()\n", other="import torch\nx = torch.ones(1)\n"
    )
    text = map_.page(files, Config(), only=["main.py"]).text
    assert 'id="main.py"' in text and 'id="other.py"' not in text


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_every_fixture_has_a_map(name: str) -> None:
    root = next(
        folder for kind in ("before", "keep") if (folder := FIXTURES / name / kind).exists()
    )
    paths = sorted([*root.rglob("*.py"), *root.rglob("*.ipynb")])
    text = map_.page(Project(map(source.read, paths)), Config(), root=str(root)).text
    assert Marks(text).lines


# the command


def run(*args: str, input: str | None = None) -> tuple[int, str, bytes]:
    result = CliRunner().invoke(app, ["map", *args], input=input)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.stderr, result.stdout_bytes


def test_the_command_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(CLASHING)
    assert run() == (0, "map.html written\n", b"")
    assert "2 \u2192" not in Path("map.html").read_text("utf-8")
    assert run("a.py", "--fixed", "-o", "fixed.html") == (0, "fixed.html written\n", b"")
    assert "after:a.py:6" in Path("fixed.html").read_text("utf-8")
    code, _, out = run("-", "-o", "-", input=CLASHING)
    assert code == 0 and out.startswith(b"<!doctype html>")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["-o", "none/map.html"],
            "error: none/map.html: cannot be written: there is no folder none",
        ),
        (["-o", "."], "error: .: is a folder; name a file in it, such as -o map.html"),
        (["-o", "-", "--open"], "error: --open: a page on standard output cannot be opened"),
        (["missing"], "error: missing: cannot be read: No such file or directory"),
        (["a.py"], "error: a.py:1:5: invalid syntax"),
    ],
)
def test_mistakes(
    args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("def (\n")
    code, err, _ = run(*args)
    assert code == 2
    assert err.startswith(message)


def test_a_proof_links_to_the_map_of_its_change(tmp_path: Path) -> None:
    from samedevice.map.commands import beside

    for name, device in (("old", ""), ("new", ", device=device")):
        (tmp_path / name).mkdir()
        code = CLASHING.replace("(2, 3)", f"(2, 3{device})")
        (tmp_path / name / "main.py").write_text(code)
    links = beside(tmp_path / "old", tmp_path / "new", "toy", tmp_path / "a proof.html")
    assert links == {"": "a%20proof.map.html", "main.py": "a%20proof.map.html#main.py"}
    marks = Marks((tmp_path / "a proof.map.html").read_text("utf-8")).lines
    assert marks["main.py:6"][0][1] == "v h" and marks["after:main.py:6"][0][1] == "v c"


def test_what_is_undecided_is_shown() -> None:
    text = page(main=CLASHING.replace("torch.zeros(2, 3)", "rows.load()") + "import rows\n")
    assert re.search(r'id="finding-1"', text)
    assert "nothing is known of what" in text
