"""One case for each way in which an edit of a statement can look."""

from __future__ import annotations

import pytest

from .spelled import changed, edit, fix, one, run

MOVE = "x = x.to(d)"


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("a\nb\n", "b", "a\nx = x.to(d)\nb\n"),
        ("b\n", "b", "x = x.to(d)\nb\n"),
        ("# top\n\nb\n", "b", "# top\n\nx = x.to(d)\nb\n"),
        ("a\n\nb\n", "b", "a\n\nx = x.to(d)\nb\n"),
        ("a\n\n# of b\nb\n", "b", "a\n\nx = x.to(d)\n# of b\nb\n"),
        ("a\n# far\n\n# of b\nb\n", "b", "a\n# far\n\nx = x.to(d)\n# of b\nb\n"),
        ("if a:\n\tb\n", "b", "if a:\n\tx = x.to(d)\n\tb\n"),
        ("if a:\n  b\nelse:\n    c\n", "c", "if a:\n  b\nelse:\n    x = x.to(d)\n    c\n"),
        ("a; b; c\n", "b", "a; x = x.to(d); b; c\n"),
        ("a;b;\n", "b", "a;x = x.to(d); b\n"),
        ("if a: b\n", "b", "if a: x = x.to(d); b\n"),
        ("if a: b  # c\n", "b", "if a: x = x.to(d); b  # c\n"),
        (
            "for a in b:\n    pass\n",
            "for a in b:\n    pass",
            "x = x.to(d)\nfor a in b:\n    pass\n",
        ),
        ("a\n\n\ndef f(): pass\n", "def f(): pass", "a\n\n\nx = x.to(d)\n\n\ndef f(): pass\n"),
        ("a\n\n@b\ndef f(): pass\n", "def f(): pass", "a\n\nx = x.to(d)\n\n@b\ndef f(): pass\n"),
        (
            "try:\n    a\nexcept E:\n    b\n",
            "b",
            "try:\n    a\nexcept E:\n    x = x.to(d)\n    b\n",
        ),
        ("é = 1; b\n", "b", "é = 1; x = x.to(d); b\n"),
    ],
)
def test_before(text: str, code: str, after: str) -> None:
    assert one(text, code, "before", code=MOVE) == after


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("a\nb\n", "a", "a\nx = x.to(d)\nb\n"),
        ("a  # of a\n\nb\n", "a", "a  # of a\nx = x.to(d)\n\nb\n"),
        ("a", "a", "a\nx = x.to(d)"),
        ("a; b\n", "a", "a; x = x.to(d); b\n"),
        ("if a: b\nc\n", "b", "if a: b; x = x.to(d)\nc\n"),
        ("if a: b\nc\n", "if a: b", "if a: b\nx = x.to(d)\nc\n"),
        ("if a:\n    b\n    # end\nc\n", "b", "if a:\n    b\n    x = x.to(d)\n    # end\nc\n"),
        ("with a:\n    b\n\nc\n", "with a:\n    b", "with a:\n    b\nx = x.to(d)\n\nc\n"),
    ],
)
def test_after(text: str, code: str, after: str) -> None:
    assert one(text, code, "after", code=MOVE) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("for x in y:\n    f(x)\n", "for x in y:\n    x = x.to(d)\n    f(x)\n"),
        ("for x in y:  # c\n\n    f(x)\n", "for x in y:  # c\n\n    x = x.to(d)\n    f(x)\n"),
        ("for x in y:\n    # c\n    f(x)\n", "for x in y:\n    x = x.to(d)\n    # c\n    f(x)\n"),
        ("for x in y: f(x)\n", "for x in y: x = x.to(d); f(x)\n"),
        ("for x in y: f(x); g(x)\n", "for x in y: x = x.to(d); f(x); g(x)\n"),
        ("def f(x):\n    return x\n", "def f(x):\n    x = x.to(d)\n    return x\n"),
        (
            'def f(x):\n    """Doc."""\n\n    return x\n',
            'def f(x):\n    """Doc."""\n    x = x.to(d)\n\n    return x\n',
        ),
        ('def f(x):\n    "doc"\n', 'def f(x):\n    "doc"\n    x = x.to(d)\n'),
        ("def f(x): 'doc'\n", "def f(x): 'doc'; x = x.to(d)\n"),
        ("async def f(x):\n\tx\n", "async def f(x):\n\tx = x.to(d)\n\tx\n"),
        ("while x:\n    if y:\n        z\n", "while x:\n    x = x.to(d)\n    if y:\n        z\n"),
        ("with x as y:\n  z; w\n", "with x as y:\n  x = x.to(d); z; w\n"),
        (
            "class X:\n    '''Doc.'''\n    y = 1\n",
            "class X:\n    '''Doc.'''\n    x = x.to(d)\n    y = 1\n",
        ),
    ],
)
def test_head(text: str, after: str) -> None:
    assert one(text, text.strip(), "head", code=MOVE) == after


def test_head_of_elif_and_of_no_body() -> None:
    text = "if a:\n    b\nelif c:\n    e\n"
    assert one(text, "elif c:\n    e", "head", code=MOVE) == (
        "if a:\n    b\nelif c:\n    x = x.to(d)\n    e\n"
    )
    result = run("a = 1\n", fix(edit("a = 1\n", "a = 1", "head", code=MOVE)))
    assert result.refused[0][1] == "this statement has no body"


def test_one_liners_open_up_when_too_long() -> None:
    loop = "for x in loader: train(x)  # c\n"
    assert one(loop, loop.split("  #")[0], "head", code=MOVE, line_length=44) == (
        "for x in loader: x = x.to(d); train(x)  # c\n"
    )
    assert one(loop, loop.split("  #")[0], "head", code=MOVE, line_length=42) == (
        "for x in loader:\n    x = x.to(d)\n    train(x)  # c\n"
    )
    assert one(
        "if a:\n\tfor x in y: f(x)\n", "for x in y: f(x)", "head", code=MOVE, line_length=9
    ) == ("if a:\n\tfor x in y:\n\t\tx = x.to(d)\n\t\tf(x)\n")
    assert one("a; b; c\n", "b", "before", code=MOVE, line_length=9) == "a\nx = x.to(d)\nb; c\n"


def test_compound_statements_do_not_fit_in_a_line() -> None:
    code = "for t in x:\n    t.to(d)"
    assert one("if a: b\n", "b", "before", code=code) == (
        "if a:\n    for t in x:\n        t.to(d)\n    b\n"
    )
    assert one("a; b\n", "b", "before", code=code) == "a\nfor t in x:\n    t.to(d)\nb\n"
    assert one("if a:\n\tb\n", "b", "after", code=code) == (
        "if a:\n\tb\n\tfor t in x:\n\t\tt.to(d)\n"
    )


def test_order_and_doubles() -> None:
    text = "for x, y in z:\n    f(x)\n"
    loop = text.strip()
    edits = [
        edit(text, loop, "head", code="x = x.to(d)"),
        edit(text, loop, "head", code="y = y.to(d)"),
        edit(text, "f(x)", "before", code="w = 1"),
        edit(text, loop, "after", code="v = 1"),
        edit(text, loop, "after", code="u = 1"),
    ]
    expected = (
        "for x, y in z:\n    x = x.to(d)\n    y = y.to(d)\n    w = 1\n    f(x)\nv = 1\nu = 1\n"
    )
    assert changed(text, *edits) == expected
    same = run(text, fix(edits[0]), fix(edits[0], edits[1]))
    assert same.text == "for x, y in z:\n    x = x.to(d)\n    y = y.to(d)\n    f(x)\n"
    assert len(same.applied) == 2


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("a\nb\nc\n", "b", "a\nc\n"),
        ("a\nb  # of b\nc\n", "b", "a\nc\n"),
        ("a\n# above b\nb\nc\n", "b", "a\n# above b\nc\n"),
        ("a\n\nb\n\nc\n", "b", "a\n\nc\n"),
        ("a\n\n\nb\nc\n", "b", "a\n\n\nc\n"),
        ("a\nb\n\n\nc\n", "b", "a\n\n\nc\n"),
        ("a; b; c\n", "b", "a; c\n"),
        ("a; b\n", "b", "a\n"),
        ("a; b\n", "a", "b\n"),
        ("if a:\n    b\n", "b", "if a:\n    pass\n"),
        ("if a:\n    # above b\n    b\nc\n", "b", "if a:\n    pass\n    # above b\nc\n"),
        ("if a:\n\n    b\n\n    c\n", "b", "if a:\n    c\n"),
        ("if a: b\n", "b", "if a: pass\n"),
        ("if a: b; c\n", "b", "if a: c\n"),
        ("a\nif b:\n    c\nelse:\n    e\ng\n", "if b:\n    c\nelse:\n    e", "a\ng\n"),
        ("a\n# last\nb\n", "b", "a\n# last\n"),
        ("b\n", "b", "\n"),
    ],
)
def test_delete(text: str, code: str, after: str) -> None:
    assert one(text, code, "delete") == after


@pytest.mark.parametrize(
    ("text", "code", "new", "after"),
    [
        ("a\n\n# of b\nb  # at b\nc\n", "b", "d\ne", "a\n\n# of b\nd\ne  # at b\nc\n"),
        ("a; b; c\n", "b", "d; e", "a; d; e; c\n"),
        ("if a: b\n", "b", "d", "if a: d\n"),
        ("if a:\n    b\n", "b", "# why\nif d:\n    e", "if a:\n    # why\n    if d:\n        e\n"),
        ("if a:\n\tb\nelse:\n\tc\n", "if a:\n\tb\nelse:\n\tc", "e", "e\n"),
    ],
)
def test_replace_statement(text: str, code: str, new: str, after: str) -> None:
    assert one(text, code, "replace_statement", code=new) == after


IF = "if c:\n    a1\n    a2\nelif e:\n    b1\nelse:\n    g1\n"


@pytest.mark.parametrize(
    ("text", "body", "orelse"),
    [
        ("if c:\n    a\nelse:\n    b\n", "a\n", "b\n"),
        ("if c: a\nelse: b\n", "a\n", "b\n"),
        ("if c:\n    a\n", "a\n", "\n"),
        ("if c:\n    pass\n", "\n", "\n"),
        (IF, "a1\na2\n", "if e:\n    b1\nelse:\n    g1\n"),
        (
            "# top\nif c:  # why\n    # one\n    a  # two\n    # three\n\nelse:  # not\n    b\n",
            "# top\n# why\n# one\na  # two\n# three\n",
            "# top\n# not\nb\n",
        ),
        ("if c:\n    if e:\n        a\n    b\n", "if e:\n    a\nb\n", "\n"),
        (
            "if c:\n    x = '''\n  text\n'''\n    y = (1,\n      2)\n",
            "x = '''\n  text\n'''\ny = (1,\n  2)\n",
            "\n",
        ),
    ],
)
def test_branches_of_if(text: str, body: str, orelse: str) -> None:
    assert one(text, text.split("# top\n")[-1].strip(), "body") == body
    assert one(text, text.split("# top\n")[-1].strip(), "orelse") == orelse


def test_branches_in_a_body() -> None:
    text = "for x in y:\n    if c:\n        x = 1\n\n    # of z\n    z\n"
    code = "if c:\n        x = 1"
    assert one(text, code, "body") == "for x in y:\n    x = 1\n\n    # of z\n    z\n"
    assert one(text, code, "orelse") == "for x in y:\n    # of z\n    z\n"
    alone = "for x in y:\n    if c:\n        x = 1\n"
    assert one(alone, code, "orelse") == "for x in y:\n    pass\n"


def test_branches_of_elif() -> None:
    code = "elif e:\n    b1\nelse:\n    g1"
    assert one(IF, code, "body") == "if c:\n    a1\n    a2\nelse:\n    b1\n"
    assert one(IF, code, "orelse") == "if c:\n    a1\n    a2\nelse:\n    g1\n"
    short = "if c:\n    a\nelif e:\n    b\n"
    assert one(short, "elif e:\n    b", "orelse") == "if c:\n    a\n"
    both = [edit(IF, IF.strip(), "orelse"), edit(IF, code, "body")]
    assert changed(IF, *both) == "b1\n"


@pytest.mark.parametrize("verb", ["before", "after", "delete", "replace_statement"])
def test_nothing_goes_around_elif(verb: str) -> None:
    code = "elif e:\n    b1\nelse:\n    g1"
    result = run(IF, fix(edit(IF, code, verb, code="x")))  # type: ignore[arg-type]
    assert result.text == IF
    assert "elif" in result.refused[0][1]


def test_expressions_and_statements_together() -> None:
    text = "if cuda:\n    net = net.cuda()\n    net = P(net)\nfor x in f(y): g(x)\n"
    edits = [
        edit(text, "if cuda:\n    net = net.cuda()\n    net = P(net)", "body"),
        edit(text, "net.cuda()", "unwrap"),
        edit(text, "net.cuda()", "method", code=".to(d)"),
        edit(text, "P(net)", "keyword", name="device", value="d"),
        edit(text, "net = P(net)", "after", code="k = 1"),
        edit(text, "for x in f(y): g(x)", "head", code=MOVE),
        edit(text, "f(y)", "method", code=".z"),
        edit(text, "g(x)", "keyword", name="w", value="1"),
    ]
    assert changed(text, *edits) == (
        "net = net.to(d)\nnet = P(net, device=d)\nk = 1\nfor x in f(y).z: x = x.to(d); g(x, w=1)\n"
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("if d:\n    a\nb\n", "if d:\n    a\n    b\n"),
        ("b\nif d:\n    a\n", "if d:\n    b\n    a\n"),
        ("if d:\n    a\nb\nif d:\n    c\n", "if d:\n    a\n    b\n    c\n"),
        ("if d:\n    a\n\nb\n", "if d:\n    a\n\nif d:\n    b\n"),
        ("if d:\n    a\nelse:\n    c\nb\n", "if d:\n    a\nelse:\n    c\nif d:\n    b\n"),
        ("if e:\n    a\nb\n", "if e:\n    a\nif d:\n    b\n"),
        ("if d: a\nb\n", "if d: a\nif d:\n    b\n"),
        ("if d:\n    a\n    # end\nb\n", "if d:\n    a\n    # end\nif d:\n    b\n"),
        ("if d:\n    raise a\nb\n", "if d:\n    raise a\nif d:\n    b\n"),
        ("b\nif d:  # why\n    a\n", "if d:\n    b\nif d:  # why\n    a\n"),
        ("b\n# why\nif d:\n    a\n", "if d:\n    b\n# why\nif d:\n    a\n"),
    ],
)
def test_guard_beside_one(text: str, after: str) -> None:
    """What is guarded goes into the block beside it that asks the same."""
    assert one(text, "b", "replace_statement", code="if d:\n    b") == after
