"""Python 2 -> Python 3: every idiom against what Python 2.7 printed, and a program that trains."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from samedevice.cli import app
from samedevice.migration.modernize import Modernized, modernize
from samedevice.migration.modernize.plan import plan, then
from samedevice.reading.config import Config

FIXTURES = Path(__file__).parent.parent / "fixtures" / "modernize"
IDIOMS = sorted(path.parent.name for path in FIXTURES.glob("*/before.py"))


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def lines(text: str) -> list[str]:
    """Python 2 prints no space between `print x,` and the end of the line; Python 3 does."""
    return [line.rstrip() for line in text.splitlines()]


def new(text: str, path: str = "a.py", everything: bool = False) -> str:
    result = modernize(text, path, everything)
    assert result.errors == ()
    ast.parse(result.text)
    return result.text


def samedevice(*args: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, args, input=input)


# the idioms


@pytest.mark.parametrize("idiom", IDIOMS)
def test_an_idiom_becomes_python_3_and_prints_what_python_2_printed(idiom: str) -> None:
    folder = FIXTURES / idiom
    before, after = ((folder / name).read_text("utf-8") for name in ("before.py", "after.py"))
    assert modernize(before, str(folder / "before.py")).text == after
    done = run(sys.executable, "after.py", cwd=folder)
    assert done.stderr == ""
    assert lines(done.stdout) == lines((folder / "output.txt").read_text("utf-8"))


@pytest.mark.parametrize("idiom", IDIOMS)
def test_the_second_time_changes_nothing(idiom: str) -> None:
    after = (FIXTURES / idiom / "after.py").read_text("utf-8")
    assert modernize(after, "a.py", everything=True) == Modernized(after)


@pytest.mark.parametrize("idiom", IDIOMS)
def test_the_recorded_output_is_that_of_python_2(idiom: str) -> None:
    python = shutil.which("python2.7")
    if python is None or subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip("there is no Python 2.7 here")
    done = run(python, "before.py", cwd=FIXTURES / idiom)
    assert done.stdout == (FIXTURES / idiom / "output.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "commands", [[("modernize", "--all"), ("fix",)], [("fix", "--modernize")]], ids=len
)
def test_a_program_of_2017_trains(tmp_path: Path, commands: list[tuple[str, ...]]) -> None:
    pytest.importorskip("torch")
    folder = shutil.copytree(FIXTURES / "program", tmp_path / "program")
    for command in commands:
        assert samedevice(*command, "--yes", str(folder)).exit_code == 0
    for where in ([], ["-m", "samedevice", "run", "--no-record"]):  # and on an accelerator
        done = run(sys.executable, *where, "train.py", "--save-dir", "out", cwd=folder)
        _assert_trained(done)
    assert (folder / "out" / "history.pkl").stat().st_size > 0
    assert samedevice("modernize", "--all", str(folder)).stderr == "nothing to change in 4 files\n"


def _assert_trained(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    losses = [float(line.split()[3].strip(",")) for line in done.stdout.splitlines()[1:4]]
    assert losses == sorted(losses, reverse=True)
    assert "best epoch 3\n" in done.stdout


# what is left alone


@pytest.mark.parametrize(
    "text",
    [
        "x = range(3)\nprint(x, map(str, x))\n",
        "for i in xrange(3):\n    pass\n",
        "def f(x):\n    return x.next()\n",
        "",
        "x = 1",
    ],
)
def test_what_python_3_parses_is_left_alone(text: str) -> None:
    assert modernize(text, "a.py") == Modernized(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = range(3)\nprint(x, map(str, x), x.keys()[0])\n",
        "def f(x):\n    return x.next(), input('?'), 3 / 2\n",
        "try:\n    xrange\nexcept NameError:\n    xrange = range\nx = xrange(3)\n",
        "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n",
        "import sys\nif sys.version_info[0] < 3:\n    text = unicode\nelse:\n    text = str\n",
        "text = unicode if six.PY2 else str\n",
        "from six.moves import xrange, reduce\nx = xrange(reduce(f, y))\n",
        "import six\nfor k, v in six.iteritems(d):\n    pass\n",
        "def f(long, file=None):\n    return long + file(3)\n",
        "class D:\n    def has_key(self, k):\n        return True\nD().has_key(3)\n",
        "x.unicode, f(long=3)\n",
        "match x:\n    case 1:\n        xrange(3)\n",  # newer than the last parser of Python 2
    ],
)
def test_code_for_both_versions_is_left_alone_by_all(text: str) -> None:
    assert modernize(text, "a.py", everything=True) == Modernized(text)


def test_all_changes_a_file_that_parses_and_cannot_run() -> None:
    text = "for i in xrange(3):\n    print(zip(a, b)[i])\n"
    assert new(text, everything=True) == "for i in range(3):\n    print(list(zip(a, b))[i])\n"


def test_a_file_that_only_says_async_was_python_3_and_keeps_all_else() -> None:
    text = "x = x.cuda(async=True)\nprint('a', zip(a, b), d.keys()[0], range(3))\n"
    assert new(text) == text.replace("async=", "non_blocking=")


def test_lists_stay_lists_only_where_it_shows() -> None:
    text = (
        "print 1\n"
        "for a in zip(b, c): pass\n"
        "a, b = map(int, c)\n"
        "x = {k: v for k, v in zip(a, b)}, f(*map(g, a)), set(d.keys()), a in d.values()\n"
        "y = [i for i in range(3) if i in range(2)], len(range(3)), dict(zip(a, b))\n"
    )
    assert new(text).splitlines()[1:] == text.splitlines()[1:]


@pytest.mark.parametrize(
    ("loop", "wrapped"),
    [
        ("for k in d.keys():\n    del d[k]\n", True),
        ("for k, v in self.d.items():\n    self.d.pop(k)\n", True),
        ("for k in d.keys():\n    d[k + 1] = 0\n", True),
        ("for k in d.keys():\n    d[k] = 0\n", False),
        ("for k in d.keys():\n    del e[k]\n", False),
    ],
)
def test_a_loop_that_resizes_its_dict_goes_over_a_list(loop: str, wrapped: bool) -> None:
    assert ("in list(" in new("print 1\n" + loop)) is wrapped


# async


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.to(d, async = True)", "x.to(d, non_blocking = True)"),
        ("x.cuda(0, async=async)", "x.cuda(0, non_blocking=async_)"),
        ("pool.run(async=True)", "pool.run(async_=True)"),
        ("def f(async=False): return async", "def f(async_=False): return async_"),
        (
            "def cuda(x, async=False): return x.cuda(async=async)",
            "def cuda(x, non_blocking=False): return x.cuda(non_blocking=non_blocking)",
        ),
        ("self.async = await", "self.async_ = await_"),
    ],
)
def test_async_is_a_name(before: str, after: str) -> None:
    assert new(before) == after


def test_real_async_code_is_left_alone() -> None:
    text = "async def f():\n    await g()\n"
    assert modernize(text + "print(xrange)\n", "a.py", everything=True).text == (
        text + "print(range)\n"
    )


# names and imports


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import Queue\nqueue = Queue.Queue()", "import queue as Queue\nqueue = Queue.Queue()"),
        ("import cPickle as p\np.load(f)", "import pickle as p\np.load(f)"),
        ("import itertools as it\nit.izip_longest(a)", "import itertools as it\nit.zip_longest(a)"),
        ("from itertools import izip as z\nz(a)", "zip(a)"),
        ("from sys import maxint\nmaxint", "from sys import maxsize\nmaxsize"),
        (
            "from urllib2 import urlopen, URLError",
            "from urllib.request import urlopen\nfrom urllib.error import URLError",
        ),
        ("import urllib2 as u", "import urllib2 as u"),
        ("'''doc'''\nreduce(f, x)", "'''doc'''\nfrom functools import reduce\nreduce(f, x)"),
        (
            "#!python\n# c\nreduce(f, x)",
            "#!python\n# c\nfrom functools import reduce\nreduce(f, x)",
        ),
        (
            "from __future__ import division\nimport os\nreduce(f, x)",
            "from __future__ import division\n"
            "from functools import reduce\nimport os\nreduce(f, x)",
        ),
        ("def f():\n    from itertools import imap\n    imap(a)", "def f():\n    pass\n    map(a)"),
        ("reload(sys); x = 1; sys.setdefaultencoding('a')", "x = 1"),
        ("reload(x)", "import importlib\nimportlib.reload(x)"),
        ("x = file('a').read()", "x = open('a').read()"),
        ("execfile('a')", "exec(compile(open('a', \"rb\").read(), 'a', 'exec'))"),
        ("apply(f, a, k)", "f(*a, **k)"),
        ("next(d.iteritems())", "next(iter(d.items()))"),
    ],
)
def test_names_and_imports(before: str, after: str) -> None:
    assert new(before + "\nprint 1\n") == after + "\nprint(1)\n"


def test_a_module_beside_the_file_is_not_the_old_one_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "commands.py").touch()
    text = "import commands, Queue\nprint commands.run()\n"
    assert new(text, str(tmp_path / "a.py")) == "import commands, queue\nprint(commands.run())\n"


def package(tmp_path: Path, user: str) -> Path:
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("__init__.py", "layers.py", "train.py"):
        (folder / name).touch()
    (tmp_path / "main.py").write_text(user)
    return folder / "net.py"


IMPORTS = "import os, layers as L\nfrom layers import Net\nimport numpy\nprint 1\n"


def test_imports_inside_of_a_package_are_relative(tmp_path: Path) -> None:
    path = package(tmp_path, "from lib.net import Net\n")
    assert new(IMPORTS, str(path)).splitlines()[:4] == [
        "import os",
        "from . import layers as L",
        "from .layers import Net",
        "import numpy",
    ]
    text = "from __future__ import absolute_import\n" + IMPORTS
    assert "from layers" in new(text, str(path))


def test_imports_between_scripts_are_not(tmp_path: Path) -> None:
    path = package(tmp_path, "import libs\n")
    assert new(IMPORTS, str(path)).splitlines()[:2] == IMPORTS.splitlines()[:2]


def test_an_init_file_that_parses_is_changed_by_all(tmp_path: Path) -> None:
    path = package(tmp_path, "").with_name("__init__.py")
    text = "from layers import Net\n"
    assert modernize(text, str(path)).text == text
    assert modernize(text, str(path), everything=True).text == "from .layers import Net\n"


# what is told


def test_every_change_is_told_with_its_line() -> None:
    text = "x = 0777\n\nif x <> 1:\n    print `x`\n"
    assert modernize(text, "a.py").changes == (
        (1, "an integer literal is written as in Python 3"),
        (3, "<> is !="),
        (4, "backticks are repr()"),
        (4, "print is a function"),
    )


@pytest.mark.parametrize(
    "code",
    [
        "n = len(x)\nhalf = n / 2\n",
        "def f(n=10):\n    return n / 2\n",
        "y = x[n / 2:]\n",
        "for i in range(n / 2): pass\n",
        "y = x.size(0) / x.shape[1]\n",
        "n = 3\nn /= 2\n",
    ],
)
def test_integer_division_is_told_and_not_changed(code: str) -> None:
    result = modernize("print 1\n" + code, "a.py")
    assert result.text.endswith(code)
    ((line, what),) = result.notes
    assert "/" in result.text.splitlines()[line - 1]
    assert "//" in what


@pytest.mark.parametrize(
    "code",
    [
        "y = x / 2\n",
        "n = len(x) / 2.\n",
        "n = 3.\nm = n / 2\n",
        "n = int(len(x) / 2)\n",
        "def f(n):\n    return n / 2\n",
        "y = x[int(n / 2.)]\n",
    ],
)
def test_other_division_is_not_told(code: str) -> None:
    assert modernize("print 1\n" + code, "a.py").notes == ()


def test_division_is_not_told_where_it_was_true_division() -> None:
    text = "from __future__ import division\nprint 1\nn = len(x) / 2\n"
    assert modernize(text, "a.py").notes == ()


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("x.sort(lambda a, b: cmp(a, b))\n", "key="),
        ("sorted(x, cmp=f)\n", "key="),
        ("import cPickle\ncPickle.load(open(f))\n", "binary"),
        ("import cPickle\ncPickle.load(f)\n", "latin1"),
        ("raise 'error'\n", "exception class"),
        ("class A:\n    def __cmp__(self, other): pass\n", "__eq__"),
        ("x.encode('hex')\n", "codec"),
        ("def f():\n    from os import *\n", "top"),
    ],
)
def test_other_things_to_look_at(code: str, word: str) -> None:
    assert any(word in what for _, what in modernize("print 1\n" + code, "a.py").notes)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("print 1\nx = (\n", 3, "neither Python 3 (line 1: "),
        ("print 1\n\nx = = 2\n", 3, "nor Python 2 (line 3: unexpected '=')"),
        ("print 1\nx = '''\n", 2, "nor Python 2 (line 2: EOF in multi-line string)"),
        ("if x:\n        y\n    z\n", 3, "neither"),
        ("print 1\nTrue = 3\n", 2, "still not Python 3"),
        ("from async import x\n", 1, "rename its file"),
        ("print " + "(" * 5000 + ")" * 5000, 1, "nested too deeply"),
    ],
)
def test_what_cannot_be_converted_keeps_its_text_and_says_why(
    text: str, line: int, word: str
) -> None:
    result = modernize(text, "a.py")
    assert result.text == text
    ((where, why),) = result.errors
    assert word in why
    assert where == line


# bytes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"print 1\r\nx = 2\r\n", b"print(1)\r\nx = 2\r\n"),
        (b"x = 2\r\nprint 1\ny = 3\r\n", b"x = 2\r\nprint(1)\ny = 3\r\n"),
        (b"\xef\xbb\xbfprint 1\n", b"\xef\xbb\xbfprint(1)\n"),
        (b"# coding: latin-1\nprint '\xe9'\n", b"# coding: latin-1\nprint('\xe9')\n"),
        (b"print 1", b"print(1)"),
        (b"print 1  # end", b"print(1)  # end"),
        (b"if 1:\n    print 1\n    # end\n", b"if 1:\n    print(1)\n    # end\n"),
        (b"x = 1\n\x0c\nprint 1\n", b"x = 1\n\x0c\nprint(1)\n"),
        (b"print '\xe2\x80\xa8'\n", b"print('\xe2\x80\xa8')\n"),
    ],
)
def test_encoding_and_newlines_stay(tmp_path: Path, before: bytes, after: bytes) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(before)
    ((change),) = plan([str(file)], Config()).outcome.changes
    assert (change.before, change.after) == (before, after)
    assert file.read_bytes() == before


def test_the_text_of_modernize_may_have_any_newline() -> None:
    assert new("print 1\r\nprint 2\r\n") == "print(1)\r\nprint(2)\r\n"


def test_a_notebook(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["print 1"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [],
            "source": ["%matplotlib inline\n", "import torch"],
        },
        {
            "cell_type": "code",
            "execution_count": 2,
            "metadata": {},
            "outputs": [],
            "source": ["!ls\n", "for i in xrange(2):\n", "    print i, reduce(f, x)"],
        },
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(notebook, indent=1))
    assert samedevice("modernize", "--yes", str(file)).exit_code == 0
    after = [cell["source"] for cell in json.loads(file.read_text())["cells"]]
    assert after == [
        ["print 1"],
        ["%matplotlib inline\n", "from functools import reduce\n", "import torch"],
        ["!ls\n", "for i in range(2):\n", "    print(i, reduce(f, x))"],
    ]


# the command


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("print 1\n")
    Path("b.py").write_text("x = xrange(3)\n")


@pytest.mark.usefixtures("_here")
def test_the_diff_writes_nothing() -> None:
    result = samedevice("modernize", "--diff")
    assert result.exit_code == 1
    assert result.stdout == "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-print 1\n+print(1)\n"
    assert "1 more file would change with --all" in result.stderr
    assert Path("a.py").read_text() == "print 1\n"


@pytest.mark.usefixtures("_here")
def test_a_yes_writes_and_the_next_run_is_clean() -> None:
    assert samedevice("modernize", input="y\n").exit_code == 0
    assert Path("a.py").read_text() == "print(1)\n"
    assert Path("b.py").read_text() == "x = xrange(3)\n"
    result = samedevice("modernize")
    assert (result.exit_code, result.stderr) == (0, "nothing to change in 2 files\n")


@pytest.mark.usefixtures("_here")
def test_a_no_writes_nothing() -> None:
    assert samedevice("modernize", input="n\n").exit_code == 1
    assert Path("a.py").read_text() == "print 1\n"


@pytest.mark.usefixtures("_here")
def test_a_bad_file_is_one_message_and_the_others_are_done() -> None:
    Path("c.py").write_text("x = = 1\n")
    Path("d.py").write_bytes(b"\0")
    result = samedevice("modernize", "--yes")
    assert result.exit_code == 2
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    reason = f"line 1: invalid syntax (samedevice runs on Python {python})"
    assert f"c.py:1: neither Python 3 ({reason}) nor Python 2" in result.stderr
    assert "d.py: this is a binary file" in result.stderr
    assert Path("a.py").read_text() == "print(1)\n"


@pytest.mark.usefixtures("_here")
def test_standard_input_goes_to_standard_output() -> None:
    result = samedevice("modernize", "-", input="print 1\n")
    assert (result.exit_code, result.stdout) == (0, "print(1)\n")


@pytest.mark.usefixtures("_here")
def test_notes_are_printed() -> None:
    Path("a.py").write_text("print len(x) / 2\n")
    assert "  a.py:1: len(x) / 2: both are integers" in samedevice("modernize", "--yes").stderr


@pytest.mark.usefixtures("_here")
def test_without_bowler_there_is_one_message() -> None:
    code = (
        "import sys; sys.modules['bowler'] = None\n"
        "from samedevice.cli import main\n"
        "sys.argv[1:] = ['modernize', '--yes']; main()"
    )
    done = run(sys.executable, "-c", code, cwd=Path.cwd())
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: a.py: this needs bowler, which is not installed: "
        "pip install 'samedevice[modernize]'"
    ]


@pytest.mark.usefixtures("_here")
def test_without_a_cache_there_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("a.py").absolute()))
    code = "import sys; from samedevice.cli import main; sys.argv[1:] = ['modernize']; main()"
    done = run(sys.executable, "-c", code, cwd=Path.cwd())
    assert done.returncode == 2
    assert "error: a.py: fissix cannot write its cache: Not a directory" in done.stderr


@pytest.mark.usefixtures("_here")
def test_two_outcomes_in_a_row_are_one() -> None:
    first = plan(["a.py", "b.py"], Config()).outcome
    assert {source.text for source in first.sources.values()} == {"print(1)\n", "x = xrange(3)\n"}
    second = plan(["b.py"], Config(), everything=True).outcome
    both = then(first, second)
    assert [(change.before, change.after) for change in both.changes] == [
        (b"print 1\n", b"print(1)\n"),
        (b"x = xrange(3)\n", b"x = range(3)\n"),
    ]
