from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from samedevice.finding import Span
from samedevice.reading import source
from samedevice.reading.source import Source, SourceError
from samedevice.report.place import place


def cell(text: str | list[str], kind: str = "code") -> dict[str, Any]:
    lines = text if isinstance(text, list) else text.splitlines(keepends=True)
    made: dict[str, Any] = {"cell_type": kind, "metadata": {"b": 1, "a": 2}, "source": lines}
    return made | ({"execution_count": 1, "outputs": [{"text": "é"}]} if kind == "code" else {})


def notebook(*cells: str, indent: int | None = 1, ascii_only: bool = False, **metadata: Any) -> str:
    content = {
        "cells": [cell("# title\n", "markdown"), *map(cell, cells)],
        "nbformat": 4,
        "metadata": metadata,
    }
    return json.dumps(content, indent=indent, ensure_ascii=ascii_only) + "\n"


def read(text: str) -> Source:
    return source.from_bytes(text.encode(), "a.ipynb")


def test_cells_are_joined_and_found_again() -> None:
    file = read(notebook("import torch\nx = 1", "y = x\n"))
    assert file.is_notebook
    assert [type(node) for node in file.tree.body] == [ast.Import, ast.Assign, ast.Assign]
    places = [file.cell_of(node.lineno) for node in file.tree.body]
    assert places == [(1, 1), (1, 2), (2, 1)]  # cell 0 is the markdown
    assert file.cells(file.text) == {1: "import torch\nx = 1", 2: "y = x\n"}


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_unchanged_notebook_is_the_same_bytes(indent: int | None, ascii_only: bool) -> None:
    text = notebook("é = 1\nx", "%time y", "", indent=indent, ascii_only=ascii_only)
    assert read(text).encode(read(text).text) == text.encode()


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_changed_cell_is_laid_out_as_json_writes_it(indent: int | None) -> None:
    cells = ["é = 1\nx = f(é)", "z = 'é'\n", "one"]
    new = [cells[0].replace("f(é)", "f(é)\ny = 2"), cells[1], "one\ntwo"]
    file = read(notebook(*cells, indent=indent))
    text = file.text.replace("f(é)", "f(é)\ny = 2").replace("one", "one\ntwo")
    assert file.encode(text).decode() == notebook(*new, indent=indent)


def test_bytes_outside_of_the_changed_cell_stay() -> None:
    text = (
        '{ "nbformat":4,\r\n "cells" : [ {"source":\r\n\t["a = 1\\n" ,\r\n\t "b = \\u00e9"], '
        '"cell_type":"code", "source2": 1.50e3},\r\n {"cell_type":"code","source":"c = \\"d\\""}]}'
    )
    file = read(text)
    assert file.encode(file.text) == text.encode()
    changed = file.encode(file.text.replace("a = 1", "a = 2")).decode()
    assert changed == text.replace("a = 1", "a = 2")
    changed = file.encode(file.text.replace('c = "d"', 'c = "d"\nx')).decode()
    assert changed == text.replace('d\\""', 'd\\"\\nx"')


MAGICS = """\
import torch
%matplotlib inline
!pip install x && \\
  echo "done
files = !ls
t = %timeit -o f(x)
?torch
torch.nn?
if True:
    !ls {files}
    %cd ..
s = (3
  % 2)
text = '''
%not a magic
!nor this
'''
x = 5 \\
  % 3
!!ls
"""


def test_comments_above_a_cell_magic_belong_to_it() -> None:
    shell = "#@title Install  %%x\n\n# what it needs\n\n%%bash\nif [ 1 ]; then\n"
    text = notebook(shell, "#@title Run\n%%time\nz = 1", "# plain\nw = 2")
    file = read(text)
    assert file.cells(file.text) == {2: "#@title Run\n%%time\nz = 1", 3: "# plain\nw = 2"}
    assert [type(node).__name__ for node in file.tree.body] == ["Pass", "Assign", "Assign"]
    assert file.encode(file.text) == text.encode()


def test_magics_are_left_out_and_come_back() -> None:
    text = notebook(MAGICS, "%%bash\nif [ 1 ]; then", "%%time\nz = s", "%%html\n<b>")
    file = read(text)
    kinds = [type(node).__name__ for node in file.tree.body]
    assert kinds == (
        ["Import", "Pass", "Pass", "Assign", "Assign", "Pass", "Pass", "If"]
        + ["Assign", "Assign", "Assign", "Pass", "Pass", "Assign"]
    )
    assert file.cells(file.text) == {1: MAGICS, 3: "%%time\nz = s"}
    assert file.encode(file.text) == text.encode()
    last = file.tree.body[-1]
    assert file.cell_of(last.lineno) == (3, 2)
    changed = file.encode(file.text.replace("z = s", "z = s + 1")).decode()
    assert changed == text.replace("z = s", "z = s + 1")


def test_an_indented_cell_is_python_to_ipython() -> None:
    code = "    x = 1\n\n    if x:\n        %time y = 2\n    z"
    file = read(notebook("a", code, "b"))
    assert len(file.tree.body) == 5
    assert file.cell_of(file.tree.body[1].lineno) == (2, 1)
    assert file.cells(file.text)[2] == code
    changed = file.text.replace("x = 1", "x = 1\nw = x")
    assert file.cells(changed)[2] == code.replace("x = 1", "x = 1\n    w = x")
    assert file.encode(file.text).decode() == notebook("a", code, "b")


def test_magic_lines_keep_their_numbers() -> None:
    file = read(notebook(MAGICS))
    for number, line in enumerate(MAGICS.split("\n"), 1):
        shown = file.line(1 + number)
        assert file.cell_of(1 + number) == (1, number)
        assert line.strip() in shown


def test_question_marks_and_percents_of_python_are_no_magics() -> None:
    code = "a = b % c  # what?\nd = 'x?'\nassert a != b\n"
    assert read(notebook(code)).text.endswith(f"\n{code}\n")


@pytest.mark.parametrize(
    "line", ["pip install timm", "cd ../data", "ls", "ls -la", "  pwd  \n", "autoreload 2"]
)
def test_a_magic_alone_in_its_cell_needs_no_percent(line: str) -> None:
    text = notebook("x = 1", line, "y = 2")
    file = read(text)
    assert [type(node).__name__ for node in file.tree.body] == ["Assign", "Pass", "Assign"]
    assert file.cells(file.text)[2] == line
    assert file.encode(file.text.replace("y = 2", "y = 3")).decode() == text.replace(
        "y = 2", "y = 3"
    )


@pytest.mark.parametrize(
    "line, code",
    [
        ("%time y = f(x)", "y = f(x)"),
        ("%timeit -n 10 -r3 f(x)  # slow", "f(x)  # slow"),
        ("%prun f(x); g(x)", "f(x); g(x)"),
        ("    %time y = f(x)", "    y = f(x)"),
    ],
)
def test_a_magic_that_runs_python_is_read_as_python(line: str, code: str) -> None:
    text = notebook("if x:\n    pass\n" + line, "z = 1")
    file = read(text)
    assert file.line(4) == code
    assert file.cells(file.text)[1].endswith(line)
    changed = file.encode(file.text.replace("f(x)", "f(x.cpu())")).decode()
    assert changed == text.replace("f(x)", "f(x.cpu())")


@pytest.mark.parametrize("line", ["%time", "%timeit -h", "%time !ls", "%timeit f(", "%prun -l 3"])
def test_a_magic_without_python_is_kept_as_it_is(line: str) -> None:
    text = notebook(line, "z = 1")
    file = read(text)
    assert isinstance(file.tree.body[0], ast.Pass)
    assert file.encode(file.text.replace("z", "y")).decode() == text.replace("z", "y")


def test_a_time_magic_alone_in_its_cell_needs_no_percent() -> None:
    file = read(notebook("time f(x)"))
    assert file.line(2) == "f(x)"
    assert file.cells(file.text)[1] == "time f(x)"


def test_a_place_behind_such_a_magic_is_where_it_is_in_the_json() -> None:
    text = notebook("%time y = f(x)")
    file = read(text)
    at = file.in_file(Span(2, 4, 2, 8))
    assert at is not None
    assert text.split("\n")[at.line - 1][at.column : at.end_column] == "f(x)"
    assert place("n.ipynb", Span(2, 4, 2, 8), {"n.ipynb": file}) == "n.ipynb:cell 2:1:11"


@pytest.mark.parametrize(
    "cells",
    [
        ["ls = [1]", "ls"],  # a variable
        ["from tools import *", "history"],  # perhaps one
        ["import gym as env", "env"],
        ["x = 1", "time.sleep(1)"],
        ["x = 1", "run(x)"],
        ["x = 1", "ls = 3"],
    ],
)
def test_names_of_python_come_before_magics(cells: list[str]) -> None:
    assert not any(isinstance(node, ast.Pass) for node in read(notebook(*cells)).tree.body)


def test_a_magic_without_percent_among_other_lines_is_no_python() -> None:
    with pytest.raises(SourceError, match="invalid syntax"):
        read(notebook("cd data\nx = 1")).tree  # noqa: B018  # so says IPython, too


@pytest.mark.parametrize("line", ["%pylab inline", "pylab"])
def test_pylab_brings_its_names(line: str) -> None:
    file = read(notebook(line, "x = zeros(3)"))
    imported = {
        alias.name
        for node in ast.walk(file.tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert imported == {"numpy", "matplotlib.pyplot", "*"}
    assert file.cells(file.text)[1] == line


def test_the_lines_of_cells_are_found_both_ways() -> None:
    file = read(notebook("a = 1\nb = 2", "%%bash\nls", "c = 3"))
    for number in range(1, file.text.count("\n") + 1):
        cell = file.cell_of(number)
        assert cell is not None
        assert file.line_of(*cell) == (number if cell[1] else None)
    assert file.line_of(2, 1) is None  # bash
    assert file.line_of(1, 3) is None


def test_other_kernels_have_no_code() -> None:
    for metadata in (
        {"kernelspec": {"language": "julia", "name": "julia-1.9"}},
        {"language_info": {"name": "R"}},
    ):
        text = notebook("x <- 1", **metadata)
        assert read(text).tree.body == []
        assert read(text).encode(read(text).text) == text.encode()
    assert read(notebook("x = 1", language_info={"name": "python"})).tree.body


def test_format_3() -> None:
    old = {"cell_type": "code", "input": ["x = 1\n", "y"], "language": "python", "outputs": []}
    ruby = {"cell_type": "code", "input": ["1.times {"], "language": "ruby"}
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": [old, ruby]}]})
    file = read(text)
    assert len(file.tree.body) == 2
    changed = json.loads(file.encode(file.text.replace("x = 1", "x = 2")))
    assert changed["worksheets"][0]["cells"][0]["input"] == ["x = 2\n", "y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "a.ipynb: not valid JSON at line 1"),
        ('{"cells": []} x', "a.ipynb: not valid JSON: more follows"),
        ("[1]", "a.ipynb: not a Jupyter notebook"),
        ('{"cells": 3}', "a.ipynb: not a Jupyter notebook: its cells are no list"),
        ('{"cells": [3]}', "a.ipynb: not a Jupyter notebook: cell 1 is no object"),
        ('{"cells": [{"cell_type": "code"}]}', "a.ipynb: not a Jupyter notebook: cell 1 has no"),
        ("[" * 100_000, "a.ipynb: "),
        ("", "a.ipynb: not valid JSON"),
    ],
)
def test_bad_notebooks_are_one_message(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_syntax_error_names_the_cell() -> None:
    with pytest.raises(SourceError, match=r"^a\.ipynb:cell 3:2:1: Missing"):
        _ = read(notebook("x = 1", "y = 2\nprint y")).tree


def test_a_text_without_its_cells_is_refused() -> None:
    file = read(notebook("x = 1", "y = 2"))
    lost = "\n".join(line for line in file.text.split("\n") if "cell 2" not in line)
    with pytest.raises(SourceError, match="border of two cells"):
        file.encode(lost)


def ran(*cells: tuple[str, int | None]) -> str:
    code = [cell(text) | {"execution_count": count} for text, count in cells]
    return json.dumps({"cells": code, "nbformat": 4}, indent=1)


def test_cells_that_only_work_in_the_order_run_are_taken_in_it() -> None:
    text = ran(("y = net(x)", 3), ("import torch", 1), ("x = torch.ones(2)\nnet = f", 2))
    file = read(text)
    assert [file.cell_of(node.lineno) for node in file.tree.body] == [
        (1, 1), (2, 1), (2, 2), (0, 1),
    ]  # fmt: skip
    assert str(file.run_order).startswith("cell 1 was last run after cell 2, and the cells only")
    assert file.encode(file.text) == text.encode()
    changed = file.text.replace("net(x)", "net(z)").replace("ones(2)", "ones(3)")
    assert file.encode(changed).decode() == text.replace("net(x)", "net(z)").replace("s(2)", "s(3)")


@pytest.mark.parametrize(
    "cells",
    [
        [("x = 1", 2), ("y = 2", 1)],  # either order works
        [("y = x", 2), ("x = 1", None)],  # a cell that was never run
        [("y = x", 3), ("z = x +", 2), ("x = 1", 1)],  # not Python
        [("y = x", 2), ("x = 1", 2)],  # two kernels
        [("%run setup.py\ny = x", 2), ("x = 1", 1)],  # a magic may have made it
        [("from m import *\ny = x", 2), ("x = 1", 1)],
        [("def f():\n    return x", 2), ("x = 1", 1)],  # read when it is called
        [("z = y", 9), ("y = x", 8), ("x = z", 7)],  # no order works
    ],
)
def test_other_cells_stay_in_the_order_of_the_file(cells: list[tuple[str, int | None]]) -> None:
    order = read(ran(*cells)).run_order
    assert order is None or not order.taken


def test_an_order_that_was_not_taken_is_told() -> None:
    assert read(ran(("a", 1), ("b", 2), ("c", None), ("d", 4))).run_order is None
    order = read(ran(("a = 1", 1), ("b = 1", 7), ("c", None), ("d = 1", 4))).run_order
    assert (
        str(order)
        == "cell 2 was last run after cell 4; the cells are taken in the order of the file"
    )


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("joined", [True, False])
def test_places_in_the_json(indent: int | None, joined: bool) -> None:
    code = 'x = "é\\u00e9\\t😀" + y\n%time z\nlast'
    made = cell("".join(code)) if joined else cell(code)
    if joined:
        made["source"] = code
    text = json.dumps({"cells": [made], "nbformat": 4}, indent=indent)
    file = read(text)
    lines = text.split("\n")
    for name, line in (("y", 2), ("last", 4)):
        column = file.line(line).index(name)
        there = file.in_file(Span(line, column, line, column + len(name)))
        assert there is not None
        assert lines[there.line - 1][there.column : there.end_column] == name
    assert file.in_file(Span(1, 0, 1, 4)) is None  # between cells
    assert file.in_file(Span(3, 5, 3, 6)) is not None
