from pathlib import Path

import pytest

from samedevice import rules
from samedevice.finding import RENAMED
from samedevice.migration.check import select
from samedevice.reading.config import Config, ConfigError, PerFile, load
from samedevice.reading.patterns import Matching
from samedevice.reading.project import Project

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
        exclude=(Matching(str(tmp_path), ("old/",)),),
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
        ("[tool.samedevice]\ndocs-url = 'docs'\n", "docs-url: expected an address"),
        ("[tool.samedevice]\ndocs-url = 'https://a b'\n", "docs-url: expected an address"),
        ("[tool]\nsamedevice = 1\n", "expected a table"),
    ],
)
def test_a_broken_setting_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load([str(tmp_path)])
    assert str(caught.value).startswith(str(tmp_path / "pyproject.toml"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('ignore = ["loss-not-move"]', "ignore"),
        ('extend-select = ["loss-not-move"]', "extend-select"),
        ('per-file-ignores = {"tests/" = ["loss-not-move"]}', "per-file-ignores"),
    ],
)
def test_a_rule_that_does_not_exist_names_the_file_and_the_setting(
    tmp_path: Path, table: str, key: str
) -> None:
    (tmp_path / "base.toml").write_text(table)
    (tmp_path / "pyproject.toml").write_text('[tool.samedevice]\nextend = "base.toml"\n')
    with pytest.raises(ConfigError) as caught:
        select(load([str(tmp_path)]))
    assert str(caught.value) == (
        f"{tmp_path / 'base.toml'}: [tool.samedevice] {key}: there is no rule loss-not-move; "
        "did you mean loss-not-moved?"
    )


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


def test_a_key_that_is_nearly_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.samedevice]\nline_length = 80\n")
    with pytest.raises(ConfigError, match="line_length: no such setting; did you mean line-length"):
        load([str(tmp_path)])


def test_rules_for_single_files(tmp_path: Path) -> None:
    text = '[tool.samedevice.per-file-ignores]\n"tests/" = ["a", "b"]\n"*_old.py" = ["c"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    assert load([str(tmp_path)]).per_file_ignores == (
        PerFile(str(tmp_path), "tests/", ("a", "b")),
        PerFile(str(tmp_path), "*_old.py", ("c",)),
    )
    (tmp_path / "pyproject.toml").write_text('[tool.samedevice]\nper-file-ignores = {a = "b"}\n')
    with pytest.raises(ConfigError, match="per-file-ignores: expected a table of patterns"):
        load([str(tmp_path)])


def test_settings_on_top_of_others(tmp_path: Path) -> None:
    (tmp_path / "all.toml").write_text('ignore = ["a"]\nextend-select = ["x"]\nline-length = 70\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/pyproject.toml").write_text(
        '[tool.samedevice]\nextend = "../all.toml"\nignore = ["b"]\nextend-select = ["y"]\n'
    )
    found = load([str(tmp_path / "sub")])
    assert (found.ignore, found.extend_select, found.line_length) == (("b",), ("x", "y"), 70)
    assert [Path(name).name for name in found.files] == ["pyproject.toml", "all.toml"]
    with pytest.raises(ConfigError, match="is not of the project"):
        load([str(tmp_path / "sub")], top=str(tmp_path / "sub"))
    (tmp_path / "all.toml").write_text('extend = "sub/pyproject.toml"\n')
    with pytest.raises(ConfigError, match="extends itself"):
        load([str(tmp_path / "sub")])
    (tmp_path / "all.toml").unlink()
    with pytest.raises(ConfigError, match="all.toml: there is no such file"):
        load([str(tmp_path / "sub")])


def test_a_file_in_place_of_the_one_that_is_found(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.samedevice]\nignore = ["a"]\n')
    (tmp_path / "ci.toml").write_text('ignore = ["b"]\n')
    assert load([str(tmp_path)], file=str(tmp_path / "ci.toml")).ignore == ("b",)
    assert load([str(tmp_path)], isolated=True).ignore == ()
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(ConfigError, match="there is no table"):
        load([str(tmp_path)], file=str(tmp_path / "pyproject.toml"))


def test_more_rules_by_a_flag() -> None:
    settings = Config(select=("a",), ignore=("b", "c")).with_flags(extend_select=["b"])
    assert (settings.select, settings.extend_select) == (("a",), ("b",))
    assert settings.ignore == ("c",)


def test_the_old_name_of_a_rule_still_works(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.samedevice]\nignore = ["host-boundary"]\nextend-select = ["lengths-on-host"]\n'
        'per-file-ignores = {"a.py" = ["tensor-not-following"]}\n'
    )
    config = load([str(tmp_path)]).with_flags(safe=["pinned-to-host"])
    assert config.ignore == ("not-moved-to-cpu",)
    assert config.extend_select == ("lengths-on-device",)
    assert config.safe == ("pinned-to-cpu",)
    assert config.per_file_ignores[0].rules == ("tensor-not-on-input-device",)
    assert "not-moved-to-cpu" not in select(config)
    table = f"{tmp_path / 'pyproject.toml'}: [tool.samedevice]"
    assert config.old_names == [
        "--safe: pinned-to-host is called pinned-to-cpu now",
        f"{table} extend-select: lengths-on-host is called lengths-on-device now",
        f"{table} ignore: host-boundary is called not-moved-to-cpu now",
        f"{table} per-file-ignores: tensor-not-following is called tensor-not-on-input-device now",
    ]


def test_old_names_lead_to_rules_that_exist() -> None:
    known = rules.load()
    assert all(now in known and old not in known for old, now in RENAMED.items())
