"""Files that nobody named: what a named file imports is read, and neither judged nor changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app
from samedevice.migration import check
from samedevice.reading import reader
from samedevice.reading.config import Config
from samedevice.reading.patterns import Matching
from samedevice.reading.project import load

PROGRAMS = Path(__file__).parent / "cases" / "programs"
#: Here a file that no import names says something: a launcher's, a test's neighbour.
NOT_BY_IMPORTS = {"said_by_each_process", "shown_on_the_cpu", "tests_beside_a_default_device"}

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        noise = torch.randn(x.shape)
        return self.layer(x + noise)
"""
TRAIN = """\
import torch
from torch import nn
from net import Net

net = Net().cuda()
x = torch.randn(4, 3).cuda()
y = torch.randint(0, 2, (4,))
loss = nn.functional.cross_entropy(net(x), y)
loss.backward()
"""
SCALED = "def scaled(x):\n    return x * 2\n"
USES = """\
import torch
from scaled import scaled

model = torch.nn.Linear(3, 2).cuda()
print(model(scaled(torch.ones(1, 3))))
"""


@pytest.fixture(autouse=True)
def in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*args: str) -> Result:
    return CliRunner().invoke(app, [*args, "--no-cache"])


def found(*paths: str, exclude: tuple[Matching, ...] = ()) -> list[tuple[object, ...]]:
    config = Config(exclude=exclude)
    findings = check.check(reader.read(paths, config), config)
    return [(one.path, one.span, one.rule, one.message) for one in findings]


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


@pytest.mark.parametrize(
    "folder",
    sorted(each.name for each in PROGRAMS.iterdir() if len(list(each.rglob("*.py"))) > 1),
)
def test_a_script_alone_has_the_findings_that_it_has_in_its_folder(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROGRAMS / folder)
    files = sorted(str(path) for path in Path().rglob("*.py"))
    imported = set().union(*load(files).imports.values())
    whole = found(".")
    for path in files:
        if path not in imported:
            same = found(path) == [one for one in whole if one[0] == path]
            assert same or folder in NOT_BY_IMPORTS


def test_what_is_imported_counts_and_is_not_reported() -> None:
    write(scaled=SCALED, uses=USES)
    assert [one[2] for one in found("uses.py")] == ["hard-coded-device", "tensor-without-device"]
    write(net=NET, train=TRAIN)
    assert {one[0] for one in found("train.py")} == {"train.py"}
    assert run("check", "train.py").stderr.startswith("3 findings in 1 file;")


def test_a_helper_is_read_with_what_imports_it() -> None:
    write(net=NET, train=TRAIN)
    whole = found(".")
    for path in ("net.py", "train.py"):
        assert found(path) == [one for one in whole if one[0] == path]
    assert [one[2] for one in found("net.py")] == ["tensor-not-on-input-device"]
    result = run("fix", "--yes", "net.py")
    assert Path("train.py").read_text() == TRAIN
    assert "1 file changed" in result.stderr or "train.py would change, too" in result.stderr


def test_an_option_that_another_file_reads_is_read() -> None:
    options = "import argparse\nparser = argparse.ArgumentParser()\n"
    options += "parser.add_argument('--device', default='cuda')\nargs = parser.parse_args()\n"
    uses = "import torch\nfrom options import args\nprint(torch.ones(2).to(args.device))\n"
    write(options=options)
    alone = [one[2] for one in found("options.py")]
    write(uses=uses)
    assert "device-option-unread" in alone
    assert "device-option-unread" not in [one[2] for one in found("options.py")]


def test_few_importers_stand_for_many() -> None:
    write(net=NET, **{f"train{number}": TRAIN for number in range(40)})
    read = reader.read(["net.py"], Config())
    assert 1 < len(read.sources) < 20


def test_half_a_repair_is_not_written_and_the_other_file_is_named() -> None:
    write(net=NET, train=TRAIN)
    result = run("fix", "--yes", "train.py")
    assert result.exit_code == 1
    assert (Path("net.py").read_text(), Path("train.py").read_text()) == (NET, TRAIN)
    first, *_, last = result.stderr.splitlines()
    assert first == "3 findings left as found:"
    assert last == "net.py would change, too: name all files, or the folder, to repair it whole"
    assert run("fix", "--yes", "train.py", "net.py").exit_code == 0
    assert "device=x.device" in Path("net.py").read_text()


def test_what_needs_no_other_file_is_repaired_alone() -> None:
    write(scaled=SCALED, uses=USES, net=NET)
    assert run("fix", "--yes", "uses.py").exit_code == 0
    assert "torch.ones(1, 3, device=device)" in Path("uses.py").read_text()
    assert Path("scaled.py").read_text() == SCALED


def test_a_file_of_a_package_finds_its_neighbours_and_those_above() -> None:
    Path("pack/inner").mkdir(parents=True)
    write(**{"pack/__init__": "", "pack/inner/__init__": "", "pack/net": NET})
    train = TRAIN.replace("from net", "from ..net")
    write(**{"pack/inner/train": train, "script": TRAIN.replace("from net", "from pack.net")})
    for path in ("pack/inner/train.py", "script.py"):
        project = reader.read([path], Config())
        assert "pack/net.py" in project.context
        assert project.named == [path]


def test_an_absolute_path_stays_within_its_repository(tmp_path: Path) -> None:
    inside = tmp_path / "repository" / "tool"
    inside.mkdir(parents=True)
    (inside.parent / ".git").mkdir()
    (inside / "main.py").write_text("import torch\nimport near, above, outside\n")
    for folder, name in ((inside, "near"), (inside.parent, "above"), (tmp_path, "outside")):
        (folder / f"{name}.py").write_text("import torch\n")
    project = reader.read([str(inside / "main.py")], Config())
    assert {os.path.basename(path) for path in project.context} == {"near.py", "above.py"}


def test_links_and_what_is_excluded_are_not_read() -> None:
    write(main="import torch\nimport linked\nimport left_out\nimport pipe\n", left_out="", other="")
    Path("linked.py").symlink_to("other.py")
    os.mkfifo("pipe.py")
    excluded = Config(exclude=(Matching(os.getcwd(), ("left_out.py",)),))
    assert reader.read(["main.py"], excluded).context == frozenset()


def test_what_a_named_folder_leaves_out_stays_out() -> None:
    Path("work/.hidden").mkdir(parents=True)
    write(**{"work/main": "import torch\nfrom net import Net\n", "net": NET, "work/extra": ""})
    assert reader.read(["work"], Config()).context == {"net.py"}
    Path("work/.gitignore").write_text("net.py\n")
    write(**{"work/net": NET})
    assert reader.read(["work"], Config()).context == frozenset()


def test_an_imported_file_that_does_not_parse_is_told() -> None:
    write(main="import torch\nimport net\n", net="import torch\nclass Net(:\n")
    result = run("check", "main.py")
    assert result.exit_code == 2
    assert "net.py" in result.stderr


def test_standard_input_gives_back_itself_alone() -> None:
    write(scaled=SCALED, net=NET)
    result = CliRunner().invoke(app, ["fix", "-", "--stdin-filename", "uses.py"], input=USES)
    assert result.exit_code == 0
    assert result.stdout.count("import") == 2
    result = CliRunner().invoke(app, ["fix", "-", "--stdin-filename", "train.py"], input=TRAIN)
    assert result.stdout == TRAIN
