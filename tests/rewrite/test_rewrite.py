"""Whole rewrites: which fixes are made, which are refused, and the proofs behind that."""

from __future__ import annotations

import ast
import json
import random
import sysconfig
from pathlib import Path

import pytest

from samedevice.finding import Edit, Fix, Resolver, Span
from samedevice.reading import source
from samedevice.rewrite import line_limit, rewrite

from .spelled import PATH, edit, fix, run, span_of

TEXT = "import torch\n\na = torch.zeros(1)\nb = torch.ones(2)\nc = f(a, b)\n"


def keyword(text: str, code: str) -> Edit:
    return edit(text, code, "keyword", name="device", value="device")


def test_all_fixes_are_made() -> None:
    fixes = [fix(keyword(TEXT, code)) for code in ("torch.zeros(1)", "torch.ones(2)")]
    result = run(TEXT, *fixes)
    assert result.applied == tuple(fixes)
    assert result.refused == ()
    assert result.text == TEXT.replace("(1)", "(1, device=device)").replace(
        "(2)", "(2, device=device)"
    )


def test_nothing_to_do_is_nothing_done() -> None:
    assert run(TEXT).text == TEXT
    other = Fix((Edit("other.py", Span(1, 0, 1, 5), "delete"),))
    assert run(TEXT, other) == run(TEXT)


def test_a_fix_is_made_as_a_whole() -> None:
    nowhere = Edit(PATH, Span(3, 0, 3, 77), "method", (("code", ".to(d)"),))
    broken = fix(keyword(TEXT, "torch.zeros(1)"), nowhere)
    good = fix(keyword(TEXT, "torch.ones(2)"))
    result = run(TEXT, broken, good)
    assert result.applied == (good,)
    assert result.text == TEXT.replace("(2)", "(2, device=device)")
    assert result.refused == ((broken, "no expression is found at 3:1-3:78"),)


@pytest.mark.parametrize(
    ("code", "verb", "args", "reason"),
    [
        ("a", "keyword", {"name": "device", "value": "d"}, "there is no call here"),
        ("f(a, b)", "drop_keyword", {"name": "device"}, "the call has no keyword 'device'"),
        ("f(a, b)", "keyword", {"name": "device", "value": "d +"}, "is no expression"),
        ("f(a, b)", "keyword", {"name": "device"}, "the edit lacks its argument 'value'"),
        ("f(a, b)", "unwrap", {}, "the call is not of a method"),
        ("f(a, b)", "body", {}, "no condition is found"),
        ("f(a, b)", "parameter", {"name": "device"}, "no function is found"),
        ("c = f(a, b)", "before", {"code": "if"}, "is no statement"),
        ("c = f(a, b)", "method", {"code": ".to(d)"}, "no expression is found"),
        ("f(a, b)", "delete", {}, "no statement is found"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(
    code: str, verb: str, args: dict[str, str], reason: str
) -> None:
    text = "c = f(a, b)\n"
    result = run(text, fix(edit(text, code, verb, **args)))  # type: ignore[arg-type]
    assert result.text == text
    assert reason in result.refused[0][1]


def test_in_an_f_string() -> None:
    text = 'print(f"{net(x)} {function(first_argument)}")\n'
    quoted = fix(edit(text, "x", "method", code='.to("cpu")'))
    other = fix(edit(text, "x", "method", code=".to('cpu')"))
    both = fix(edit(text, "x", "method", code=".to('cpu', key=\"\")"))
    assert run(text, both).refused[0][1].startswith("before Python 3.12")
    for fixed in (quoted, other):
        assert run(text, fixed).text == text.replace("net(x)", "net(x.to('cpu'))")
    long = fix(keyword(text, "function(first_argument)"))
    assert run(text, long, line_length=50).text == text.replace(
        "argument)", "argument, device=device)"
    )


def test_a_parameter_that_is_there_is_refused() -> None:
    text = "def f(a, device=None): pass\n"
    result = run(text, fix(edit(text, text.strip(), "parameter", name="device", default="None")))
    assert result.refused[0][1] == "the function has a parameter 'device' already"


def test_a_value_is_moved_once_and_to_one_place() -> None:
    where = [fix(edit(TEXT, "f(a, b)", "method", code=f".to({name})")) for name in ("d", "d", "e")]
    assert run(TEXT, *where[:2]).text == TEXT.replace("f(a, b)", "f(a, b).to(d)")
    assert run(TEXT, *where).text == TEXT
    assert all("two places" in reason for _, reason in run(TEXT, *where).refused)


def test_the_second_of_two_that_conflict_is_refused() -> None:
    text = "x = f(a).cuda()\n"
    first = fix(edit(text, "f(a)", "keyword", name="device", value="d"))
    second = fix(edit(text, "f(a)", "keyword", name="device", value="e"))
    same = fix(
        edit(text, "f(a)", "keyword", name="device", value="d"),
        edit(text, "a", "method", code=".cpu()"),
    )
    result = run(text, first, second, same)
    assert result.applied == (first, same)
    assert result.text == "x = f(a.cpu(), device=d).cuda()\n"
    assert result.refused[0] == (second, "it conflicts with another fix at the same place")


def test_a_fix_in_code_that_another_removes_is_refused() -> None:
    text = "x = f(torch.device('cuda'))\nif cuda:\n    x.cuda()\n"
    outer = fix(edit(text, "torch.device('cuda')", "replace", code="device"))
    inner = fix(edit(text, "'cuda'", "replace", code="'cpu'"))
    result = run(text, inner, outer)
    assert result.applied == (outer,)
    assert "removes the code" in result.refused[0][1]
    gone = fix(edit(text, "if cuda:\n    x.cuda()", "delete"))
    inside = fix(Edit(PATH, Span(3, 4, 3, 12), "unwrap"))
    assert run(text, gone, inside).applied == (gone,)


@pytest.mark.parametrize(
    ("text", "code", "verb"),
    [
        ("a = f()\na = a.to(d)\nb\n", "a = f()", "after"),
        ("é; a  =  a.to( d )\nb\n", "b", "before"),
        (
            "for a in b:\n    a = a.to(d)\n    f(a)\n",
            "for a in b:\n    a = a.to(d)\n    f(a)",
            "head",
        ),
        (
            "def f(a):\n    'Doc.'\n    a = a.to(d)\n",
            "def f(a):\n    'Doc.'\n    a = a.to(d)",
            "head",
        ),
        ("try:\n    b\nexcept E:\n    c\n    a = a.to(d)\n", "c", "after"),
    ],
)
def test_what_is_there_is_not_put_in_again(text: str, code: str, verb: str) -> None:
    result = run(text, fix(edit(text, code, verb, code="a = a.to(d)")))  # type: ignore[arg-type]
    assert result.text == text
    assert result.refused[0][1] == "what it would add stands there already, and does not help"
    other = fix(edit(text, code, verb, code="c = c.to(d)"))  # type: ignore[arg-type]
    assert run(text, other).applied == (other,)


def test_only_the_fix_that_changes_more_is_refused() -> None:
    text = "".join(f"x{i} = torch.zeros({i})\n" for i in range(9))
    good = [fix(keyword(text, f"torch.zeros({i})")) for i in range(9)]
    bad = fix(edit(text, "x5 = torch.zeros(5)", "after", code="x5.add_(1)"))
    worse = fix(edit(text, "2", "replace", code="3"))
    result = run(text, *good[:4], worse, *good[4:], bad)
    assert list(result.applied) == good
    assert [refused for refused, _ in result.refused] == [worse, bad]
    reasons = dict(result.refused)
    assert reasons[bad].startswith("more than device handling would change: line 7: `x5.add_(1)`")
    assert "`2` became `3`" in reasons[worse]


def test_fixes_that_are_safe_only_apart() -> None:
    text = "if a:\n    f(x)\nelse:\n    f(x.cpu())\n"
    one = fix(edit(text, "if a:\n    f(x)\nelse:\n    f(x.cpu())", "body"))
    two = fix(edit(text, "x.cpu()", "unwrap"))
    result = run(text, one, two)
    assert result.applied == (one, two)
    assert result.text == "f(x)\n"


def test_a_result_that_does_not_parse_is_refused() -> None:
    text = "def f(x):\n    return x\nf(1)\n"
    result = run(text, fix(edit(text, "f(1)", "replace", code="(yield)")))
    assert result.text == text
    text = "x = f(device='cpu', **k)\n"
    broken = Edit(PATH, span_of(text, "'cpu'"), "replace", (("code", "(a := d)"),))
    assert run(text, fix(broken)).text in (text, "x = f(device=(a := d), **k)\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfx = torch.zeros(1)\r\ny = 2\r\n",
        b"# coding: latin-1\nx = '\xe9', torch.zeros(1)\n",
        b"x = 1\r\nz = torch.zeros(1)\ny = 2\r\n",
        "s = '\u2028é\x0c'; x = torch.zeros(1)  # ü\n".encode(),
        b"\x0cx = torch.zeros(1)\n",
        b"a = 1\n\x0c\ny = 1\n\x0c\x0cdef f():\n    x = torch.zeros(1)\n\x0cb\n",
        b"a = '''\n\x0cb'''; x = torch.zeros(1)\n",
        b"if a:\n\tx = torch.zeros(1)\n",
        b"if a:\n x = torch.zeros(1)",
        b"\x0c# only\n\x0c\nclass A:\n\n  def f(self): return torch.zeros(1) # c\n",
    ],
)
def test_everything_but_the_edit_stays(data: bytes) -> None:
    file = source.from_bytes(data, PATH)
    call = next(node for node in ast.walk(file.tree) if isinstance(node, ast.Call))
    one = Edit(PATH, file.span(call), "keyword", (("name", "device"), ("value", "d")))
    result = rewrite(file, [fix(one)])
    assert not result.refused
    assert file.encode(result.text) == data.replace(b"(1)", b"(1, device=d)")


def test_what_libcst_cannot_read_is_refused() -> None:
    text = "x = torch.zeros(1) + \\\n\x0c2\n"
    result = run(text, fix(keyword(text, "torch.zeros(1)")))
    assert result.text == text
    assert result.refused[0][1].startswith("libcst cannot parse this file")
    text = "x = torch.zeros(1)\ny = not(a if b else c)\n"  # libcst 1.8 does not allow this
    result = run(text, fix(keyword(text, "torch.zeros(1)")))
    assert result.text == text.replace("(1)", "(1, device=device)") or result.refused


def test_deep_code_is_done_or_refused() -> None:
    for depth in (100, 240):
        text = f"x = torch.zeros(1)\ny = {' + '.join(['a'] * depth)}\n"
        result = run(text, fix(keyword(text, "torch.zeros(1)")))
        if result.refused:
            assert "nested too deeply" in result.refused[0][1]
            assert result.text == text
        else:
            assert result.text == text.replace("(1)", "(1, device=device)")


@pytest.mark.parametrize(
    ("lengths", "limit"),
    [
        ([10], 100),
        ([79, 20], 100),
        ([79, 75, 78], 79),
        ([79, 75, 80], 100),
        ([88, 85, 84, 3], 88),
        ([79, 75, 78, 130], 130),
        ([99, 97, 98], 100),
    ],
)
def test_line_limit_is_read_off_the_file(lengths: list[int], limit: int) -> None:
    assert line_limit("\n".join("x" * length for length in lengths)) == limit


def test_encoding_that_cannot_write_the_edit_is_refused() -> None:
    file = source.from_bytes(b"# coding: latin-1\nx = f(1)\n", PATH)
    one = Edit(PATH, Span(2, 4, 2, 8), "keyword", (("name", "device"), ("value", "π")))
    result = rewrite(file, [fix(one)])
    assert "cannot write 'π'" in result.refused[0][1]
    assert result.text == file.text


def test_notebook() -> None:
    cells = [
        ("markdown", "# Title"),
        ("code", "%matplotlib inline\nimport torch"),
        ("code", "!nvidia-smi"),
        ("code", "net = Net()\nfor x in y:\n    net(x)"),
        ("code", "# last\nif cuda:\n    net.cuda()"),
        ("code", "z"),
    ]
    made = [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in cells]
    text = json.dumps({"cells": made, "nbformat": 4}, indent=1)
    file = source.from_text(text, "a.ipynb")
    net, loop, condition = file.tree.body[2:][1:4]
    assert isinstance(net, ast.Assign)
    fixes = [
        Fix(
            (
                Edit("a.ipynb", file.span(net.value), "method", (("code", ".to(device)"),)),
                Edit("a.ipynb", file.span(loop), "head", (("code", "x = x.to(device)"),)),
                Edit("a.ipynb", file.span(condition), "delete"),
            ),
            resolvers=(Resolver("a.ipynb", "device"),),
        )
    ]
    result = rewrite(file, fixes)
    assert not result.refused
    sources = ["".join(cell["source"]) for cell in json.loads(file.encode(result.text))["cells"]]
    assert sources == [
        "# Title",
        "%matplotlib inline\nimport torch\n"
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        "!nvidia-smi",
        "net = Net().to(device)\nfor x in y:\n    x = x.to(device)\n    net(x)",
        "# last",
        "z",
    ]


FOLDER = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize("name", ["typing.py", "ast.py", "heapq.py", "smtplib.py"])
def test_random_edits_of_real_code_can_be_undone(name: str) -> None:
    """Put a move around random expressions and a statement before random ones, then undo it all."""
    chance = random.Random(0)
    file = source.read(FOLDER / name)
    expressions = [
        node
        for node in ast.walk(file.tree)
        if isinstance(node, (ast.Call, ast.BinOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Tuple))
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    ]
    in_strings = {
        id(inner)
        for node in ast.walk(file.tree)
        if isinstance(node, ast.JoinedStr)
        for inner in ast.walk(node)
    } | {id(node.slice) for node in ast.walk(file.tree) if isinstance(node, ast.Subscript)}
    chosen = [node for node in chance.sample(expressions, 60) if id(node) not in in_strings]
    edits = [
        Edit(file.path, file.span(node), "method", (("code", ".to(device)"),)) for node in chosen
    ]
    result = rewrite(file, [fix(one) for one in edits])
    refused = {reason for _, reason in result.refused}
    assert not refused
    assert result.text.count(".to(device)") - file.text.count(".to(device)") == len(edits)
    after = source.from_text(result.text, file.path)
    moved = [
        Edit(file.path, after.span(node), "unwrap")
        for node in ast.walk(after.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "to"
        and after.segment(node).endswith(".to(device)")
    ]
    undone = rewrite(after, [fix(one) for one in moved])
    assert not undone.refused
    assert ast.dump(ast.parse(undone.text)) == ast.dump(file.tree)
