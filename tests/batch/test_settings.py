"""Policies, lists of repositories and code owners."""

from __future__ import annotations

from pathlib import Path

import pytest

from samedevice.batch import policy, sources
from samedevice.batch.git import PROTOCOLS
from samedevice.batch.owners import owners
from samedevice.batch.policy import Policy
from samedevice.reading.config import ConfigError

from . import repositories


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_policy_is_read_and_written_by_its_names_in_toml(tmp_path: Path) -> None:
    text = 'max-lines = 5\nunsafe = true\nproof = "tests"\nproof-seconds = 2\nlabels = ["a"]\n'
    read = policy.read(write(tmp_path / "p.toml", text))
    assert (read.max_lines, read.unsafe, read.proof_seconds) == (5, True, 2.0)
    table = read.to_json()
    assert table == {
        "max-lines": 5, "unsafe": True, "proof": "tests", "proof-seconds": 2.0, "labels": ["a"]
    }  # fmt: skip
    assert Policy().with_table(table, "again") == read
    assert Policy().to_json() == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("maximum = 1", "maximum: no such setting; there are author, "),
        ("max-lines = true", "max-lines: expected a number above 0"),
        ("max-lines = 0", "max-lines: expected a number above 0"),
        ("max-lines = 1.5", "max-lines: expected a whole number"),
        ("unsafe = 1", "unsafe: expected true or false"),
        ('select = "x"', "select: expected a list of strings"),
        ('author = "Ann"', 'author: expected "Name <mail@example.org>"'),
        ('branch = "a..b"', "'a..b' is no name of a branch"),
        ('message = "{password}"', "{password} is none of title, "),
        ('message = "{"', "message: "),
        ('resolver = "x"', "resolver: expected"),
        ("x = [", "not a TOML file"),
    ],
)
def test_a_policy_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy.read(write(tmp_path / "p.toml", text))
    assert str(caught.value).startswith(str(tmp_path / "p.toml")) and said in str(caught.value)


def test_a_repository_sets_what_is_its_own_and_nothing_else(tmp_path: Path) -> None:
    table = '[tool.samedevice.batch]\nmax-lines = 3\nproof = "make test"\n'
    write(tmp_path / "pyproject.toml", table)
    own = policy.of_repository(tmp_path)
    assert Policy(max_lines=50, network=True).with_own(own) == Policy(
        max_lines=3, proof="make test", network=True
    )
    write(tmp_path / "pyproject.toml", table + "network = true\n")
    with pytest.raises(ConfigError, match="network: no such setting"):
        policy.of_repository(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[tool]\nsamedevice = 3\n", "not toml", "[tool.samedevice]\nunsafe = true\n"]
)
def test_a_repository_that_sets_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path / "pyproject.toml", text)
    assert policy.of_repository(tmp_path) == {}


def read(what: str, *allow: str) -> sources.Listed:
    return sources.read(what, (*PROTOCOLS, *allow))


def test_a_list_in_text(tmp_path: Path) -> None:
    listed = read(write(tmp_path / "l.txt", """\
        # ours
        https://github.com/acme/one.git
        git@git.example.org:team/two.git v1.0   # pinned

        """))  # fmt: skip
    one, two = listed.repositories
    assert (one.name, one.forge, one.project, one.ref) == ("acme/one", "github", "acme/one", "")
    assert (two.name, two.forge, two.ref) == ("team/two", "", "v1.0")


def test_a_list_in_toml(tmp_path: Path) -> None:
    repositories.make(tmp_path / "here", {"a.py": ""})
    listed = read(write(tmp_path / "l.toml", """\
        [defaults]
        max-lines = 10
        [tokens]
        "git.example.org" = "EXAMPLE_TOKEN"
        [[repository]]
        source = "https://git.example.org/team/two"
        forge = "gitlab"
        api = "https://git.example.org"
        proof = "tests"
        [[repository]]
        source = "here"
        name = "third"
        """))  # fmt: skip
    two, three = listed.repositories
    assert (two.forge, two.project, two.api) == ("gitlab", "team/two", "https://git.example.org")
    assert two.options == {"proof": "tests"}
    assert (three.name, three.checkout, three.source) == ("third", True, str(tmp_path / "here"))
    assert listed.defaults == {"max-lines": 10}
    assert listed.tokens == {"git.example.org": "EXAMPLE_TOKEN"}


def test_a_folder_of_checkouts(tmp_path: Path) -> None:
    repositories.make(tmp_path / "one", {"a.py": ""})
    repositories.make(tmp_path / "group" / "two", {"a.py": "", "inner/a.py": ""})
    repositories.git(tmp_path, "clone", "-q", "--bare", "one", "group/three.git")
    (tmp_path / "notes").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "one")
    found = {one.name: one.checkout for one in read(str(tmp_path)).repositories}
    assert found == {"one": True, "group/two": True, "group/three.git": False}
    assert [one.name for one in read(str(tmp_path / "one")).repositories] == ["one"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("l.txt", "https://h/a b c", "l.txt:1: expected an address and perhaps a ref"),
        ("l.txt", "# nothing", "l.txt: it lists no repository"),
        ("l.txt", "nowhere", "l.txt:1: nowhere: there is no git repository"),
        ("l.txt", "https://h/a/b\nhttps://i/a/b", "two repositories are called 'a/b'"),
        ("l.txt", "file:///x", "file is not allowed; see --allow"),
        ("l.txt", "ext::sh", "ext is not allowed and cannot be"),
        ("l.txt", "https://ann:secret@h/a", "take the password out"),
        ("l.toml", "[[repositories]]\n", "repositories: no such table"),
        ("l.toml", "[[repository]]\nref = 'x'", "[[repository]] 1: source: expected an address"),
        ("l.toml", "[[repository]]\nsource = 'https://h/a'\nx = 1", "1: x: no such setting"),
        ("l.toml", "[[repository]]\nsource = 3", "1: source: expected a string"),
        ("l.toml", "[defaults]\nx = 1", "[defaults]: x: no such setting"),
        ("l.toml", "repository = 3", "expected [[repository]] tables"),
    ],
)
def test_a_list_that_cannot_be_used(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(write(tmp_path / name, text))
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read(str(tmp_path / "l.txt"))
    with pytest.raises(ConfigError, match="there is no git repository in this folder"):
        read(str(tmp_path))


def test_the_last_pattern_decides_who_owns_a_file() -> None:
    text = "* @all\n/src/ @core @ann # the core\n*.md\n\n# comment\nsrc/a\\ b.py bob@example.org\n"
    assert owners(text, ["x.py"]) == ["@all"]
    assert owners(text, ["src/x.py", "y.py"]) == ["@all", "@ann", "@core"]
    assert owners(text, ["README.md"]) == []
    assert owners(text, ["src/a b.py"]) == ["bob@example.org"]


def test_sections_decide_each_for_itself() -> None:
    text = "* @all\n[Models] @ml\nmodels/\nmodels/old/ @archive\n^[Docs][2] @docs\n*.md\n"
    assert owners(text, ["models/a.py"]) == ["@all", "@ml"]
    assert owners(text, ["models/old/a.py"]) == ["@all", "@archive"]
    assert owners(text, ["models/a.md"]) == ["@all", "@docs", "@ml"]
