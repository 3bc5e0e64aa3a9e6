"""Patterns mean what git says they mean, and none of them takes long."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from samedevice.reading import files
from samedevice.reading.patterns import Matching, Patterns

#: Patterns that a regular expression made of them would try in every possible way.
HOSTILE = [
    "*a" * 30 + "b",
    "*a" * 120 + "b",
    "*" * 200 + "b",
    "*?" * 60 + "b",
    "[ab]*" * 40 + "c",
    "**/" * 100 + "b",
    "**/a/" * 60 + "b",
    "a/**/" * 60 + "b",
    "**/*a*a*a*a*a*a*a*a/" * 20 + "b",
    "/".join(["*a*a*a*a*b"] * 40),
    "[" * 5000,
    "[!" + "a-z" * 5000 + "]*" * 50,
    "\\a*" * 80 + "b",
    "?" * 5000,
    "*a" * 100_000,
    "a/" * 50_000,
]
LONG = ["a" * 250, "/".join(["a" * 200] * 15), "/".join("a" * 1000), "ab" * 120 + ".py"]


@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
def test_no_pattern_takes_long(pattern: str) -> None:
    started = time.process_time()
    patterns = Patterns([pattern, f"!{pattern}", f"/{pattern}/"])
    for path in LONG:
        assert patterns.verdict(path) is None or "*" in pattern
        patterns.matches("/".join(path.split("/")[:20]))
    assert time.process_time() - started < 2


def test_a_hostile_file_takes_no_time(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("\n".join(HOSTILE[:12]) + "\n")
    (tmp_path / ("a" * 250 + ".py")).touch()
    (tmp_path / "pyproject.toml").write_text(f"[tool.samedevice]\nexclude = {HOSTILE[:12]!r}\n")
    started = time.process_time()
    found = files.find([str(tmp_path)], [Matching(str(tmp_path), tuple(HOSTILE[:12]))])
    assert time.process_time() - started < 2
    assert found.errors == []


def test_a_file_of_patterns_that_is_too_large_is_told(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.py\n" * 30_000)
    (tmp_path / "main.py").touch()
    found = files.find([str(tmp_path)])
    assert len(found.paths) == 1
    assert "more than 100 kB of patterns" in str(found.errors[0])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_patterns_that_never_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "main.py").touch()
    assert len(files.find([str(tmp_path)]).paths) == 1


#: From git's documentation and the corners of its matcher.
_KNOWN = """
*.py !keep.py /main.py build/ a/b /a/b a/b/ **/b a/** a/**/b **/a/** * ** *** ?.py [ab].py [!ab].py
[^a].py [a-c]x [c-a]x []x]y
[!]x]y [a-]x [-a]x [[:alpha:]]x [[:nope:]]x [a [ \\*x \\ab a\\ \\# #x \\!x
a**b **b a/**b /** ** /*/b a*/b */a/*/b a[/]b [/] / // a// ./a ../a a/./b x\\ y [\\]]x [a\\-c]x
*a*a* *[0-9]* ?a? *.[ch] foo/*/bar/** **/**/b a/**/**/b *** a/***/b a*b*c [*]x [?]x [!!]x [a!]x
"""
_PATHS = """
main.py keep.py a.py b.py c.py build/x build a a/b a/b/c a/x/b a/x/y/b x/a/b b ab aab a0b axb acb
abc ax bx cx ]y xy -x 1x *x #x !x \\ab a/xb x/y x/a/y/b x.c foo/q/bar/z foo/bar
?x aa aXa bab xyzab
"""
KNOWN, PATHS = sorted(set(_KNOWN.split())), _PATHS.split()


def _git(folder: Path, patterns: list[str], paths: list[str]) -> dict[str, str]:
    """Return for each path the pattern that decides, as git has it; "" for none."""
    (folder / ".gitignore").write_text("\n".join(patterns) + "\n")
    words = ["git", "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"]
    done = subprocess.run(words, cwd=folder, input="\0".join(paths).encode(), capture_output=True)
    fields = done.stdout.decode().split("\0")[:-1]
    return {fields[at + 3]: fields[at + 2] for at in range(0, len(fields), 4)}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("pattern", KNOWN)
def test_a_pattern_means_what_it_does_to_git(pattern: str, repository: Path) -> None:
    told = _git(repository, [pattern], PATHS)
    ours = Patterns([pattern])
    wrong = [path for path in PATHS if bool(told[path]) != _says(ours, path)]
    assert wrong == []


def _says(patterns: Patterns, path: str) -> bool:
    """Tell whether a line is about a path or about a folder around it."""
    names = path.split("/")
    folders = ("/".join(names[:end]) for end in range(1, len(names)))
    return any(patterns.verdict(folder, True) is not None for folder in folders) or (
        patterns.verdict(path) is not None
    )


def test_random_patterns_mean_what_they_do_to_git(repository: Path) -> None:
    rng = random.Random(7)
    for _ in range(60):
        patterns = [_random(rng) for _ in range(rng.randrange(1, 5))]
        paths = list({_path(rng) for _ in range(60)})
        told = _git(repository, patterns, paths)
        ours = Patterns(patterns)
        for path in paths:
            wanted = bool(told[path]) and not told[path].startswith("!")
            assert ours.matches(path) == wanted, (patterns, path, told[path])


def _random(rng: random.Random) -> str:
    """Return a pattern; none has `a**/`, of which git's documentation and git differ."""
    parts = ["a", "b", "*", "?", "[ab]", "[!a]", "\\a", "x", "*"]
    names = [
        "**" if rng.random() < 0.2 else "".join(rng.choices(parts, k=rng.randrange(1, 4)))
        for _ in range(rng.randrange(1, 5))
    ]
    names = [name if name == "**" else name.replace("**", "*") for name in names]
    return rng.choice(["", "", "", "!", "/"]) + "/".join(names) + rng.choice(["", "", "/"])


def _path(rng: random.Random) -> str:
    return "/".join(
        "".join(rng.choice("abx") for _ in range(rng.randrange(1, 4)))
        for _ in range(rng.randrange(1, 5))
    )
