"""Programs of every kind of misbehaviour: each ends, with one clear message and an exit code."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from samedevice.prove.process import Limits
from samedevice.prove.run import Program, ProgramError, RunResult, Settings, run_program

pytest.importorskip("torch")
posix = pytest.mark.skipif(os.name != "posix", reason="needs sessions and signals")

QUICK = Settings(on="cpu", limits=Limits(seconds=120), record=False)


@pytest.fixture
def run(tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(source: str, *arguments: str, settings: Settings = QUICK) -> RunResult:
        Path(tmp_path, "main.py").write_text(textwrap.dedent(source), "utf-8")
        return run_program(["main.py", *arguments], cwd=tmp_path, settings=settings)

    return run


# Naming a program


@pytest.mark.parametrize(
    ("command", "target", "arguments", "is_module"),
    [
        ("main.py", "main.py", (), False),
        ("main.py --epochs 1 --name 'a b'", "main.py", ("--epochs", "1", "--name", "a b"), False),
        ("python main.py -x", "main.py", ("-x",), False),
        ("python3 -u -m pkg.train --x", "pkg.train", ("--x",), True),
        ("-m pkg.train", "pkg.train", (), True),
        ("pytest -q tests", "pytest", ("-q", "tests"), True),
        (["a b.py", "c d"], "a b.py", ("c d",), False),
    ],
)
def test_parse(command: str, target: str, arguments: tuple[str, ...], is_module: bool) -> None:
    program = Program.parse(command)
    assert program == Program(target, arguments, is_module)
    assert Program.parse(str(program)) == program


@pytest.mark.parametrize("command", ["", "-m", "python", "--epochs 1", "main.py 'open"])
def test_parse_refuses(command: str) -> None:
    with pytest.raises(ProgramError):
        Program.parse(command)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="nowhere.py: no such file"):
        run_program("nowhere.py", cwd=tmp_path, settings=QUICK)


def test_folder_without_main(tmp_path: Path) -> None:
    Path(tmp_path, "folder").mkdir()
    with pytest.raises(ProgramError, match="folder"):
        run_program("folder", cwd=tmp_path, settings=QUICK)


def test_missing_interpreter(tmp_path: Path) -> None:
    Path(tmp_path, "main.py").write_text("", "utf-8")
    with pytest.raises(ProgramError, match="no-python"):
        run_program("main.py", cwd=tmp_path, settings=Settings(on="cpu", python="/no-python"))


def test_an_interpreter_by_a_relative_path(tmp_path: Path) -> None:
    Path(tmp_path, "main.py").write_text("print('here')", "utf-8")
    near = os.path.relpath(sys.executable)  # from here, and the program runs elsewhere
    settings = Settings(on="cpu", python=near, record=False)
    assert run_program("main.py", cwd=tmp_path, settings=settings).stdout.text == "here\n"


# Programs run as `python` would run them


ECHO = """
    import json, os, sys
    class Thing:
        pass
    import pickle
    print(json.dumps([sys.argv, __name__, __file__, sys.path[0], __spec__ is None,
                      type(pickle.loads(pickle.dumps(Thing()))) is Thing]))
"""


def python(*words: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True)
    return done.stdout


def test_script_as_python_runs_it(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result = run(ECHO, "--x", "1")
    assert result.status == "passed" and result.passed and result.exit_code == 0
    assert result.stdout.text == python("main.py", "--x", "1", cwd=tmp_path)


def test_module_as_python_runs_it(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")
    (package / "__main__.py").write_text("from .train import *\n", "utf-8")
    (package / "train.py").write_text(
        "import json, sys\nprint(json.dumps([sys.argv, __name__, __package__, sys.path[0]]))\n",
        "utf-8",
    )
    for command in ("-m package.train a", "-m package a"):
        result = run_program(command, cwd=tmp_path, settings=QUICK)
        assert result.passed, result
        assert result.stdout.text == python(*command.split(), cwd=tmp_path)


def test_folder_as_python_runs_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "__main__.py").write_text("import other\nprint(other.x, __name__)\n", "utf-8")
    (folder / "other.py").write_text("x = 5\n", "utf-8")
    result = run_program("folder", cwd=tmp_path, settings=QUICK)
    assert result.stdout.text == "5 __main__\n"


def test_our_own_modules_are_not_in_the_way(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "process.py").write_text("mine = 1\n", "utf-8")
    result = run("import process, record_of_mine\n")
    assert "No module named 'record_of_mine'" in result.message
    result = run("import process; print(process.mine)\n")
    assert result.stdout.text == "1\n"


def test_spawned_workers_find_main(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import multiprocessing
        def work(x):
            return x * x
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [1, 2, 3]))
        """
    )
    assert result.stdout.text == "[1, 4, 9]\n", result.stderr.text
    assert result.left_behind == 0


def test_notebook(tmp_path: Path) -> None:
    def cell(source: str, kind: str = "code") -> dict[str, object]:
        return {"cell_type": kind, "source": source.splitlines(True), "metadata": {}}

    cells = [
        cell("# A title", "markdown"),
        cell("%matplotlib inline\nx = 2\n!ls"),
        cell("%%bash\nexit 1"),
        cell("y = x + 1\ny * 10"),
        cell("x;"),
        cell("files = !ls\nprint(files)"),
        cell("z = 1\nraise ValueError(y)"),
    ]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path(tmp_path, "a.ipynb").write_text(json.dumps(content), "utf-8")
    result = run_program("a.ipynb", cwd=tmp_path, settings=QUICK)
    assert result.stdout.text == "30\nNone\n"
    assert result.status == "raised" and result.message == "ValueError: 3"
    assert result.frames[-1].text == "raise ValueError(y)"
    assert "    raise ValueError(y)\n" in result.stderr.text
    # lines count through the code cells, one more before each
    assert result.frames[-1].line == 4 + 3 + 2 + 3 + 3
    assert 'a.ipynb:cell 7", line 2, in <module>\n' in result.stderr.text


def test_a_notebooks_traceback_and_warnings_name_cells(tmp_path: Path) -> None:
    def cell(source: str) -> dict[str, object]:
        return {"cell_type": "code", "source": source.splitlines(True), "metadata": {}}

    cells = [
        cell("pip install nothing"),
        cell("import warnings\nwarnings.warn('hello')"),
        cell("def f(x):\n    return 1 / x\n\n\ntry:\n    f(0)\nexcept ZeroDivisionError as e:\n"
             "    raise ValueError('no') from e"),
    ]  # fmt: skip
    Path(tmp_path, "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}), "utf-8")
    told = run_program("a.ipynb", cwd=tmp_path, settings=QUICK).stderr.text
    assert "a.ipynb:cell 2:2: UserWarning: hello\n  warnings.warn('hello')\n" in told
    assert 'a.ipynb:cell 3", line 2, in f\n    return 1 / x\n' in told  # of the cause
    assert 'a.ipynb:cell 3", line 8, in <module>\n    raise ValueError' in told
    Path(tmp_path, "b.ipynb").write_text(json.dumps({"cells": [cell("x = 1\ny = (")]}), "utf-8")
    refused = run_program("b.ipynb", cwd=tmp_path, settings=QUICK)
    assert refused.message.partition("b.ipynb:")[2].startswith("cell 1:2: ")


def test_broken_notebook(tmp_path: Path) -> None:
    Path(tmp_path, "a.ipynb").write_text("{}", "utf-8")
    result = run_program("a.ipynb", cwd=tmp_path, settings=QUICK)
    assert (result.status, result.exit_code) == ("refused", 2)
    assert "not a Jupyter notebook" in result.message


# Programs that end badly


@pytest.mark.parametrize(
    ("statement", "code"),
    [("sys.exit(3)", 3), ("sys.exit('no')", 1), ("raise SystemExit(0)", 0), ("exit()", 0)],
)
def test_exit_codes_are_the_programs(run, statement: str, code: int) -> None:  # type: ignore[no-untyped-def]
    result = run(f"import sys\nprint('before')\n{statement}\n")
    assert result.exit_code == code
    assert result.status == ("passed" if code == 0 else "exited")
    assert result.stdout.text == "before\n"


def test_syntax_error(run) -> None:  # type: ignore[no-untyped-def]
    result = run("x = 1\ndef f(:\n")
    assert (result.status, result.exit_code) == ("refused", 2)
    assert "main.py:2" in result.message and "invalid syntax" in result.message


def test_null_bytes(tmp_path: Path) -> None:
    Path(tmp_path, "main.py").write_bytes(b"x = 1\0\n")
    result = run_program("main.py", cwd=tmp_path, settings=QUICK)
    assert (result.status, result.exit_code) == ("refused", 2)


def test_missing_module(tmp_path: Path) -> None:
    result = run_program("-m no_such_module", cwd=tmp_path, settings=QUICK)
    assert (result.status, result.exit_code) == ("refused", 2)
    assert "no_such_module" in result.message


def test_uncaught_exception_reads_as_pythons(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result = run("def f():\n    raise KeyError('k')\nf()\n")
    assert (result.status, result.exit_code) == ("raised", 1)
    assert result.message == "KeyError: 'k'"
    assert [(frame.line, frame.function) for frame in result.frames] == [(3, "<module>"), (2, "f")]
    plain = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.stderr.text == plain.stderr


def test_keyboard_interrupt_of_the_program(run) -> None:  # type: ignore[no-untyped-def]
    result = run("raise KeyboardInterrupt\n")
    assert (result.status, result.exit_code) == ("interrupted", 130)


@posix
def test_endless_loop_says_where(run) -> None:  # type: ignore[no-untyped-def]
    settings = Settings(on="cpu", limits=Limits(seconds=6), record=False)
    result = run("print('in')\nx = 0\nwhile True:\n    x += 1\n", settings=settings)
    assert (result.status, result.exit_code) == ("time", 124)
    assert "main.py:" in result.message and result.frames[-1].line in (3, 4)
    assert result.stdout.text == "in\n"


@posix
def test_stuck_in_c_code_says_where(run) -> None:  # type: ignore[no-untyped-def]
    settings = Settings(on="cpu", limits=Limits(seconds=6), record=False)
    result = run(
        """
        import signal, re
        signal.pthread_sigmask  # the pattern below never returns to the interpreter
        re.match("(a+)+$", "a" * 60 + "b")
        """,
        settings=settings,
    )
    assert result.status == "time"
    assert result.frames[-1].line == 4, result


def test_endless_output(run) -> None:  # type: ignore[no-untyped-def]
    settings = Settings(on="cpu", limits=Limits(seconds=60, output=1 << 20), record=False)
    result = run("while True:\n    print('flood' * 1000)\n", settings=settings)
    assert (result.status, result.exit_code) == ("output", 125)
    assert "1 MiB" in result.message


@posix
@pytest.mark.parametrize(
    "statement",
    ["x = []\nwhile True: x.append(bytearray(1 << 24))", "import torch; torch.ones(1 << 32)"],
)
def test_memory_eater(run, statement: str) -> None:  # type: ignore[no-untyped-def]
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux limits a process's data")
    settings = Settings(on="cpu", limits=Limits(seconds=60, memory=2 << 30), record=False)
    result = run(statement, settings=settings)
    assert (result.status, result.exit_code) == ("memory", 137)
    assert "2048 MiB" in result.message


@posix
def test_crash(run) -> None:  # type: ignore[no-untyped-def]
    result = run("import ctypes\nprint('in', flush=True)\nctypes.string_at(0)\n")
    assert (result.status, result.exit_code) == ("crashed", 139)
    assert "SIGSEGV" in result.message
    assert result.frames[-1].line == 3


@pytest.mark.parametrize("code", [0, 3])
def test_os_exit(run, code: int) -> None:  # type: ignore[no-untyped-def]
    result = run(f"import os\nos._exit({code})\n")
    assert result.status == "crashed"
    assert "os._exit" in result.message
    assert not result.passed


@posix
def test_a_forked_child_does_not_report_for_its_parent(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import os
        if os.fork() == 0:
            raise ValueError("the child's")
        os.wait()
        print("parent")
        """
    )
    assert result.passed, result
    assert result.stdout.text == "parent\n"


def test_exit_handlers_and_threads_run(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import atexit, threading, time
        value = "still here"
        atexit.register(lambda: print("exit", value))
        threading.Thread(target=lambda: (time.sleep(0.3), print("thread", value))).start()
        """
    )
    assert result.passed
    assert result.stdout.text == "thread still here\nexit still here\n"


@posix
def test_ctrl_c_reaches_the_program(tmp_path: Path) -> None:
    Path(tmp_path, "main.py").write_text(
        "import time\nprint('ready', flush=True)\ntry:\n    time.sleep(600)\n"
        "except KeyboardInterrupt:\n    print('saved', flush=True)\n    raise\n",
        "utf-8",
    )
    code = (
        "from samedevice.prove.run import Settings, run_program\n"
        "r = run_program('main.py', settings=Settings(on='cpu', record=False), interactive=True)\n"
        "print(r.status, r.exit_code, flush=True)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"
    time.sleep(0.2)
    parent.send_signal(signal.SIGINT)
    assert parent.stdout.read() == "saved\ninterrupted 130\n"
    assert parent.wait() == 0


# Seeds


def test_seeds_only_when_asked(run) -> None:  # type: ignore[no-untyped-def]
    source = """
        import os, random, torch
        print(torch.initial_seed(), random.random(), torch.rand(1).item(), hash("a"))
    """
    seeded = Settings(on="cpu", limits=Limits(seconds=60), record=False, seed=3)
    one, two = run(source, settings=seeded), run(source, settings=seeded)
    assert one.passed and one.stdout.text == two.stdout.text
    assert one.stdout.text.startswith("3 ")
    three = run(source)
    assert three.stdout.text != run(source).stdout.text
