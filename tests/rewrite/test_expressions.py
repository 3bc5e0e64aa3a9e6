"""One case for each way in which an edit of an expression can look."""

from __future__ import annotations

import pytest

from .spelled import changed, edit, one


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(device=d)"),
        ("f(a)", "f(a, device=d)"),
        ("f(a,b)", "f(a,b,device=d)"),
        ("f( a )", "f( a, device=d )"),
        ("f(a,)", "f(a, device=d,)"),
        ("f(a, )", "f(a, device=d, )"),
        ("f(*a)", "f(*a, device=d)"),
        ("f(**k)", "f(device=d, **k)"),
        ("f(a, b=1, **k)", "f(a, b=1, device=d, **k)"),
        ("f(a, b = 1)", "f(a, b = 1, device = d)"),
        ("f(a, device='cpu', b=1)", "f(a, device=d, b=1)"),
        ("f(a, device = 'cpu')", "f(a, device = d)"),
        ("f(y for y in z)", "f((y for y in z), device=d)"),
        ("f(  # why\n)", "f(  # why\ndevice=d)"),
        ("f(\n    a\n)", "f(\n    a,\n    device=d\n)"),
        ("f(\n    a,\n)", "f(\n    a,\n    device=d,\n)"),
        ("f(\n    a,\n    b,  # two\n)", "f(\n    a,\n    b,  # two\n    device=d,\n)"),
        ("f(\n    a,\n    b  # two\n)", "f(\n    a,\n    b,  # two\n    device=d\n)"),
        (
            "f(\n    a,  # one\n    b,\n    # end\n)",
            "f(\n    a,  # one\n    b,\n    # end\n    device=d,\n)",
        ),
        ("f(\n    a, b\n)", "f(\n    a, b, device=d\n)"),
        ("f(\n    a, b,\n)", "f(\n    a, b, device=d,\n)"),
        ("f(a,\n  b)", "f(a,\n  b,\n  device=d)"),
        ("f(a, b,\n  c)", "f(a, b,\n  c, device=d)"),
        ("f(a  # one\n  )", "f(a,  # one\n  device=d\n  )"),
        ("f(\n\ta,\n\tb\n)", "f(\n\ta,\n\tb,\n\tdevice=d\n)"),
        ("f(a)(b)", "f(a)(b, device=d)"),
        ("f('é', a)", "f('é', a, device=d)"),
    ],
)
def test_keyword(before: str, after: str) -> None:
    assert one(f"é = {before}\n", before, "keyword", name="device", value="d") == f"é = {after}\n"


def test_keyword_breaks_a_line_only_when_it_grows_too_long() -> None:
    line = "x = function(first_argument, second)\n"
    call = line[4:-1]
    arguments = {"name": "device", "value": "device"}
    assert one(line, call, "keyword", line_length=51, **arguments) == (
        "x = function(first_argument, second, device=device)\n"
    )
    assert one(line, call, "keyword", line_length=50, **arguments) == (
        "x = function(first_argument, second,\n             device=device)\n"
    )
    inside = f"if x:\n\t{line}"
    assert one(inside, call, "keyword", line_length=40, **arguments) == (
        "if x:\n\tx = function(first_argument, second,\n\t             device=device)\n"
    )


def test_a_comment_does_not_count_and_code_that_follows_keeps_the_line() -> None:
    arguments = {"name": "device", "value": "device"}
    line = "x = f(first, second)  # the first and the second\n"
    assert one(line, "f(first, second)", "keyword", line_length=35, **arguments) == (
        "x = f(first, second, device=device)  # the first and the second\n"
    )
    assert one(line, "f(first, second)", "keyword", line_length=34, **arguments) == (
        "x = f(first, second,\n      device=device)  # the first and the second\n"
    )
    more = "x = f(first, second) + g(third)\n"
    assert one(more, "f(first, second)", "keyword", line_length=34, **arguments) == (
        "x = f(first, second, device=device) + g(third)\n"
    )
    right = "a_name_that_is_long = f(first, second)\n"
    assert one(right, "f(first, second)", "keyword", line_length=44, **arguments) == (
        "a_name_that_is_long = f(first, second, device=device)\n"
    )


def test_two_keywords_in_one_line_share_the_room() -> None:
    line = "x = add(one(1), two(2))\n"
    edits = [edit(line, code, "keyword", name="device", value="d") for code in ("one(1)", "two(2)")]
    assert changed(line, *edits, line_length=43) == "x = add(one(1, device=d), two(2, device=d))\n"
    assert changed(line, *edits, line_length=42) == (
        "x = add(one(1, device=d), two(2,\n" + " " * 20 + "device=d))\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(device=d)", "f()"),
        ("f( device=d )", "f()"),
        ("f(a, device=d)", "f(a)"),
        ("f(a, device=d, b=1)", "f(a, b=1)"),
        ("f(device=d, b=1)", "f(b=1)"),
        ("f(a, device=d,)", "f(a,)"),
        ("f(\n    a,\n    device=d,  # gone\n)", "f(\n    a,\n)"),
        ("f(\n    a,\n    device=d\n)", "f(\n    a\n)"),
        ("f(\n    a,  # one\n    device=d,\n)", "f(\n    a,  # one\n)"),
        ("f(\n    a,  # one\n    device=d  # d\n)", "f(\n    a  # one\n)"),
        ("f(a,  # one\n  device=d)", "f(a  # one\n  )"),
        ("f(a,\n  device=d)", "f(a)"),
        ("f(a,  # one\n  device=d,  # d\n  b=1)", "f(a,  # one\n  b=1)"),
        (
            "f(\n    a,\n    device=d,\n    # of b\n    b=1,\n)",
            "f(\n    a,\n    # of b\n    b=1,\n)",
        ),
        ("f(a, device=d, **k)", "f(a, **k)"),
    ],
)
def test_drop_keyword(before: str, after: str) -> None:
    assert one(f"x = {before}\n", before, "drop_keyword", name="device") == f"x = {after}\n"


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("a", "a.to(d)"),
        ("a.b", "a.b.to(d)"),
        ("f(x)", "f(x).to(d)"),
        ("a[0]", "a[0].to(d)"),
        ("[a]", "[a].to(d)"),
        ("{a}", "{a}.to(d)"),
        ("'a' 'b'", "'a' 'b'.to(d)"),
        ("1", "(1).to(d)"),
        ("1.5", "1.5.to(d)"),
        ("a + b", "(a + b).to(d)"),
        ("-a", "(-a).to(d)"),
        ("not a", "(not a).to(d)"),
        ("a or b", "(a or b).to(d)"),
        ("a < b", "(a < b).to(d)"),
        ("a if b else c", "(a if b else c).to(d)"),
        ("lambda: a", "(lambda: a).to(d)"),
        ("a, b", "(a, b).to(d)"),
        ("(a, b)", "(a, b).to(d)"),
        ("(a for a in b)", "(a for a in b).to(d)"),
        ("f(\n    a,  # one\n)", "f(\n    a,  # one\n).to(d)"),
    ],
)
def test_method(code: str, after: str) -> None:
    assert one(f"x = {code}\n", code, "method", code=".to(d)") == f"x = {after}\n"


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("f(*a)", "a", "f(*a.to(d))"),
        ("f(*a or b)", "a or b", "f(*(a or b).to(d))"),
        ("f(a for a in b)", "(a for a in b)", "f((a for a in b).to(d))"),
        ("(a + b) * c", "a + b", "(a + b).to(d) * c"),
        ("a * b + c", "a * b", "(a * b).to(d) + c"),
        ("-b", "b", "-b.to(d)"),
        ("b ** c", "b", "b.to(d) ** c"),
        ("(f(a)\n .g())", "f(a)\n .g()", "(f(a)\n .g()).to(d)"),
        ("[f(a)\n .g()]", "f(a)\n .g()", "[f(a)\n .g()\n .to(d)]"),
        ("f(a)(b)", "f(a)", "f(a).to(d)(b)"),
        ("f'{b}'", "b", "f'{b.to(d)}'"),
    ],
)
def test_method_in_its_surroundings(text: str, code: str, after: str) -> None:
    assert one(f"{text}\n", code, "method", code=".to(d)") == f"{after}\n"


def test_method_on_await_and_yield() -> None:
    text = "async def f():\n    x = await g()\n"
    assert "x = (await g()).to(d)" in one(text, "await g()", "method", code=".to(d)")
    text = "def f():\n    x = yield g\n"
    assert "x = (yield g).to(d)" in one(text, "yield g", "method", code=".to(d)")


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("x = a.cuda()", "a.cuda()", "x = a"),
        ("x = a.cuda().b", "a.cuda()", "x = a.b"),
        ("x = (a + b).cuda()", "(a + b).cuda()", "x = a + b"),
        ("x = (a + b).cuda() * c", "(a + b).cuda()", "x = (a + b) * c"),
        ("f((a, b).cuda())", "(a, b).cuda()", "f((a, b))"),
        ("x = (a +\n  b).cuda()", "(a +\n  b).cuda()", "x = (a +\n  b)"),
        ("x = f(a)[0].cuda(  # gpu\n)", "f(a)[0].cuda(  # gpu\n)", "x = f(a)[0]"),
        ("x = (\n    f(a)\n    .cuda()\n)", "f(a)\n    .cuda()", "x = (\n    f(a)\n)"),
    ],
)
def test_unwrap(text: str, code: str, after: str) -> None:
    assert one(f"{text}\n", code, "unwrap") == f"{after}\n"


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("x = V(a)", "V(a)", "x = a"),
        ("x = V(a, volatile=True)", "V(a, volatile=True)", "x = a"),
        ("x = V(a + b).c", "V(a + b)", "x = (a + b).c"),
        ("x = V(a + b)", "V(a + b)", "x = a + b"),
        ("x = c * V(a + b)", "V(a + b)", "x = c * (a + b)"),
        ("f(V(a if b else c))", "V(a if b else c)", "f(a if b else c)"),
        ("f(V(y for y in z), 1)", "V(y for y in z)", "f((y for y in z), 1)"),
        ("x = V(\n    a +\n    b\n)", "V(\n    a +\n    b\n)", "x = (a +\n    b)"),
        ("x = V(\n    f(a,\n      b)\n)", "V(\n    f(a,\n      b)\n)", "x = f(a,\n      b)"),
        ("x = V(lambda: a)()", "V(lambda: a)", "x = (lambda: a)()"),
        ("x = [V(b) for b in V(c)]", "V(c)", "x = [V(b) for b in c]"),
        ("del V(a)[0]", "V(a)", "del a[0]"),
    ],
)
def test_unwrap_argument(text: str, code: str, after: str) -> None:
    assert one(f"{text}\n", code, "unwrap_argument") == f"{after}\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("x = 'cuda'", "'cuda'", "device", "x = device"),
        ("x = ('cuda')", "'cuda'", "device", "x = (device)"),
        ("x = (a if b else c)", "a if b else c", "d.e", "x = d.e"),
        ("x = (a if b  # why\n     else c)", "a if b  # why\n     else c", "d", "x = (d)"),
        ("x = y + (a if b else c)", "a if b else c", "d", "x = y + (d)"),
        ("x = a.b", "a", "c + d", "x = (c + d).b"),
        ("x = a * 2", "a", "c + d", "x = (c + d) * 2"),
        ("f(a)", "a", "c if d else e", "f(c if d else e)"),
        ("x = a", "a", "as_tensor({}, device=d)", "x = as_tensor(a, device=d)"),
        ("x = a + b", "a + b", "f({})", "x = f(a + b)"),
        ("x = (a + b) * c", "a + b", "f({})", "x = f(a + b) * c"),
        ("x = a + b", "a + b", "{}.to(d)", "x = (a + b).to(d)"),
        ("x = a", "a", "{} if {} else c", "x = a if a else c"),
        ("for i in a: pass", "a", "f({})", "for i in f(a): pass"),
    ],
)
def test_replace(text: str, old: str, new: str, after: str) -> None:
    assert one(f"{text}\n", old, "replace", code=new) == f"{after}\n"


def test_callee() -> None:
    assert (
        one("x = T(a, b)\n", "T(a, b)", "callee", code="torch.tensor") == "x = torch.tensor(a, b)\n"
    )
    assert one("x = T(a)\n", "T(a)", "callee", code="wrap({})") == "x = wrap(T)(a)\n"


@pytest.mark.parametrize(
    ("text", "code", "body", "orelse"),
    [
        ("x = a if c else b", "a if c else b", "x = a", "x = b"),
        ("x = (a if c else b)", "a if c else b", "x = a", "x = b"),
        ("x = (a\n     if c\n     else b)", "a\n     if c\n     else b", "x = a", "x = b"),
        ("x = (a + 1 if c else b).d", "a + 1 if c else b", "x = (a + 1).d", "x = b.d"),
        ("x = ((a, 1) if c else b)", "(a, 1) if c else b", "x = (a, 1)", "x = b"),
    ],
)
def test_conditional_expression(text: str, code: str, body: str, orelse: str) -> None:
    assert one(f"{text}\n", code, "body") == f"{body}\n"
    assert one(f"{text}\n", code, "orelse") == f"{orelse}\n"


def test_edits_in_edits() -> None:
    text = "y = f(g(x), h=1).cuda()\n"
    edits = [
        edit(text, "x", "method", code=".to(d)"),
        edit(text, "g(x)", "method", code=".cpu()"),
        edit(text, "g(x)", "keyword", name="device", value="d"),
        edit(text, "g(x)", "callee", code="gg"),
        edit(text, "f(g(x), h=1)", "drop_keyword", name="h"),
        edit(text, "f(g(x), h=1).cuda()", "unwrap"),
        edit(text, "f(g(x), h=1).cuda()", "method", code=".to(e)"),
    ]
    expected = "y = f(gg(x.to(d), device=d).cpu()).to(e)\n"
    assert changed(text, *edits) == expected
    assert changed(text, *reversed(edits)) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): pass", "def f(device=None): pass"),
        ("def f(a): pass", "def f(a, device=None): pass"),
        ("def f(a, b=1): pass", "def f(a, b=1, device=None): pass"),
        ("def f(a, *, b): pass", "def f(a, *, b, device=None): pass"),
        ("def f(*a): pass", "def f(*a, device=None): pass"),
        ("def f(a, *b): pass", "def f(a, *b, device=None): pass"),
        ("def f(**k): pass", "def f(device=None, **k): pass"),
        ("def f(a, **k): pass", "def f(a, device=None, **k): pass"),
        ("def f(*a, **k): pass", "def f(*a, device=None, **k): pass"),
        ("def f(a, /): pass", "def f(a, /, device=None): pass"),
        ("def f(a, b = 1): pass", "def f(a, b = 1, device = None): pass"),
        (
            "def f(\n    a,\n    b=1,  # one\n):\n    pass",
            "def f(\n    a,\n    b=1,  # one\n    device=None,\n):\n    pass",
        ),
        ("def f(a,\n      b): pass", "def f(a,\n      b,\n      device=None): pass"),
        (
            "def f(\n    a, **k\n): pass",
            "def f(\n    a, device=None, **k\n): pass",
        ),
        (
            "def f(\n    a,\n    **k,\n): pass",
            "def f(\n    a,\n    device=None,\n    **k,\n): pass",
        ),
    ],
)
def test_parameter(before: str, after: str) -> None:
    text = one(f"{before}\n", before, "parameter", name="device", default="None")
    assert text == f"{after}\n"


def test_parameter_with_an_annotation() -> None:
    text = "def f(a: int = 1): pass\n"
    after = one(text, text.strip(), "parameter", name="d", default="None", annotation="str | None")
    assert after == "def f(a: int = 1, d: str | None = None): pass\n"
