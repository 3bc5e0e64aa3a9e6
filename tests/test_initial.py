"""`samedevice init` writes what a project lacks, and leaves what it has."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import torch\nx = torch.zeros(3)\n")


def init(*args: str, input: str = "") -> Result:
    return CliRunner().invoke(app, ["init", *args], input=input)


def test_a_folder_with_code_gets_settings_and_a_baseline() -> None:
    done = init("--yes")
    assert done.exit_code == 0, done.output
    table = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["samedevice"]
    assert table == {"baseline": "samedevice-baseline.txt"}
    assert "no pre-commit, GitHub or GitLab is used here" in done.stderr
    assert "PyPI" not in done.stderr  # nothing that is written installs it
    assert CliRunner().invoke(app, ["check"]).exit_code == 0
    assert sorted(path.name for path in Path().iterdir() if path.suffix != ".py") == [
        "pyproject.toml",
        "samedevice-baseline.txt",
    ]
    again = init("--yes")
    assert again.stderr.endswith("left as it is\nnothing to write\n")


def test_code_that_is_right_needs_no_baseline() -> None:
    Path("a.py").write_text("x = 1\n")
    init("--yes")
    assert not Path("samedevice-baseline.txt").exists()
    assert "baseline" not in Path("pyproject.toml").read_text()


def test_nothing_is_written_without_a_yes() -> None:
    shown = init("--diff")
    assert shown.exit_code == 1
    assert "+[tool.samedevice]\n" in shown.stdout
    assert init(input="n\n").exit_code == 1
    assert [path.name for path in Path().iterdir()] == ["a.py"]


HOOKS = """\
# ours
repos:
- repo: https://example.com/one
  rev: v1
  hooks:
  - id: one  # the first

ci:
  autofix_prs: false
"""


def test_the_files_of_others_are_added_to() -> None:
    yaml = pytest.importorskip("yaml")
    Path(".pre-commit-config.yaml").write_text(HOOKS)
    Path(".gitlab-ci.yml").write_text("stages: [test]\n")
    Path(".github").mkdir()
    Path("pyproject.toml").write_text('[project]\nname = "mine"  # really')
    assert init("--yes", "--package", "samedevice @ git+https://example.com/it").exit_code == 0
    hooks = Path(".pre-commit-config.yaml").read_text()
    assert all(line in hooks.split("\n") for line in HOOKS.split("\n"))
    read = yaml.safe_load(hooks)
    assert [repo["repo"] for repo in read["repos"]] == ["https://example.com/one", "local"]
    assert read["ci"] == {"autofix_prs": False}
    (hook,) = read["repos"][1]["hooks"]
    assert hook["additional_dependencies"] == ["samedevice @ git+https://example.com/it"]
    assert list(yaml.safe_load(Path(".gitlab-ci.yml").read_text())) == ["stages", "samedevice"]
    workflow = yaml.safe_load(Path(".github/workflows/samedevice.yml").read_text())
    assert workflow["jobs"]["check"]["steps"][-1]["run"] == "samedevice check --format github ."
    assert Path("pyproject.toml").read_text().startswith('[project]\nname = "mine"  # really\n\n[')
    written = init("--yes").stderr
    assert written.count("left as it is") == 4 and written.endswith("nothing to write\n")


def test_files_that_install_it_come_with_a_word_on_from_where() -> None:
    Path(".github").mkdir()
    assert "note: samedevice is not on PyPI yet" in init("--yes").stderr
    assert "PyPI" not in init("--yes").stderr  # nothing to write


def test_where_git_pushes_to_tells_which_ci_there_is() -> None:
    Path(".git").mkdir()
    Path(".git/config").write_text('[remote "origin"]\nurl = https://gitlab.example.com/a/b\n')
    init("--yes")
    assert Path(".gitlab-ci.yml").exists()
    assert not Path(".github").exists()


def test_mistakes() -> None:
    assert "no such folder" in init("nowhere").stderr
    assert "cannot be quoted" in init("--package", 'x"').stderr
    assert init("--yes", "--diff").exit_code == 2
