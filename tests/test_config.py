from pathlib import Path

import pytest

from samedevice.config import Config, ConfigError, Exclude, load
from samedevice.project import Project

TABLE = """
[tool.samedevice]
select = ["a", "b"]
ignore = ["c"]
safe = ["d"]
unsafe-rule = ["e"]
unsafe = true
exclude = ["old/"]
resolver = "accelerator"
line-length = 88
"""


def test_every_key_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE)
    assert load([str(tmp_path)]) == Config(
        select=("a", "b"),
        ignore=("c",),
        safe=("d",),
        unsafe_rule=("e",),
        unsafe=True,
        exclude=(Exclude(str(tmp_path), ("old/",)),),
        resolver="accelerator",
        line_length=88,
    )


def test_the_nearest_table_upward_counts_whole(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(TABLE)
    (tmp_path / "package" / "pyproject.toml").write_text("[tool.samedevice]\nignore = ['x']\n")
    (inner / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    (inner / "train.py").touch()
    config = load([str(inner / "train.py")])
    assert config.ignore == ("x",)
    assert config.select == ()


def test_several_paths_share_what_lies_above_all_of_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "pyproject.toml").write_text("[tool.samedevice]\nignore = ['x']\n")
    assert load([str(tmp_path / "one"), str(tmp_path / "two")]).ignore == ()
    assert load([str(tmp_path / "one")]).ignore == ("x",)


@pytest.mark.parametrize("tool", ["ruff", "black"])
def test_line_length_is_that_of_the_project_s_formatter(tmp_path: Path, tool: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.samedevice]\nignore = []\n")
    (tmp_path / "pyproject.toml").write_text(f"[tool.{tool}]\nline-length = 72\n")
    assert load([str(inner)]).line_length == 72


def test_flags_replace_the_table_and_exclude_adds_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    config = load(["."]).with_flags(select=["z"], exclude=["*.tmp.py"], resolver="mine.dev:get")
    assert config.select == ("z",)
    assert config.ignore == ("c",)
    assert config.unsafe
    assert config.resolver == "mine.dev:get"
    assert [item.patterns for item in config.exclude] == [("old/",), ("*.tmp.py",)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.samedevice", "not a TOML file"),
        ("[tool.samedevice]\nselekt = []\n", "selekt: no such setting"),
        ("[tool.samedevice]\nselect = 'a'\n", "select: expected a list of strings"),
        ("[tool.samedevice]\nexclude = [1]\n", "exclude: expected a list of strings"),
        ("[tool.samedevice]\nunsafe = 'yes'\n", "unsafe: expected true or false"),
        ("[tool.samedevice]\nresolver = 'gpu'\n", "resolver: expected `cuda`"),
        ("[tool.samedevice]\nline-length = true\n", "line-length: expected a number"),
        ("[tool]\nsamedevice = 1\n", "expected a table"),
    ],
)
def test_a_broken_setting_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load([str(tmp_path)])
    assert str(caught.value).startswith(str(tmp_path / "pyproject.toml"))
    assert message in str(caught.value)


def test_a_resolver_flag_of_another_form_is_refused() -> None:
    with pytest.raises(ConfigError, match="--resolver gpu"):
        Config().with_flags(resolver="gpu")


@pytest.mark.parametrize(
    ("requirement", "floor"),
    [
        ("torch>=2.6", (2, 6)),
        ("torch >= 2.10.1, <3 ; python_version > '3.9'", (2, 10)),
        ("torch[opt]==2.7.0", (2, 7)),
        ("torch~=2", (2, 0)),
        ("torch", (0, 0)),
        ("torch<2.9", (0, 0)),
        ("torch-geometric>=2.6", (0, 0)),
        ("torchvision>=0.21", (0, 0)),
    ],
)
@pytest.mark.parametrize("place", ["pyproject", "requirements"])
def test_oldest_torch(tmp_path: Path, requirement: str, floor: tuple[int, int], place: str) -> None:
    if place == "pyproject":
        text = f'[project]\nname = "x"\ndependencies = ["numpy", "{requirement}"]\n'
        (tmp_path / "pyproject.toml").write_text(text)
    else:
        (tmp_path / "requirements.txt").write_text(f"numpy\n{requirement}  # why\n")
    config = load([str(tmp_path)])
    assert config.torch_floor == floor
    assert Project([], "", floor).style == ("accelerator" if floor >= (2, 6) else "cuda")
    assert Project([], "cuda", floor).style == "cuda"
    assert Project([], "accelerator", floor).style == "accelerator"


def test_a_template_of_somebody_else_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = {{ cookiecutter.name }}\n")
    assert load([str(tmp_path)]) == Config()
