from __future__ import annotations

import ast
import random
import re
from pathlib import Path

import pytest

from samedevice.verify.erase import DECLARED, equivalent, erase

FIXTURES = Path(__file__).parents[1] / "fixtures"


def difference(before: str, after: str, **given: list[str]) -> str | None:
    return equivalent(ast.parse(before), ast.parse(after), **given)


RESOLVER = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # arguments and moves
        ("x = torch.zeros(3)", "x = torch.zeros(3, device=device)"),
        ("x = f(y)", "x = f(y).to(device, non_blocking=True)"),
        ("x = f(y).cuda(async_=True)", "x = f(y).to(device)"),
        ("x = y.to(torch.float32)", "x = y.to(device, torch.float32)"),
        ("x = y.to(dtype=z)", "x = y.to(device=w.device, dtype=z)"),
        ("print(loss.numpy())", "print(loss.cpu().numpy())"),
        ("x = x.to(other.device)\nf(x)", "f(x)"),
        ("s = torch.load(p)", "s = torch.load(p, map_location=device)"),
        ("s = torch.load(p, lambda s, _: s)", "s = torch.load(p, map_location=device)"),
        ("f(x, device)", "f(x, device=device)"),
        ("l = Loader(d, pin_memory=True)", "l = Loader(d, pin_memory=device.type == 'cuda')"),
        ("g = torch.Generator()", "g = torch.Generator(device=device)"),
        ("g = torch.Generator('cuda')", "g = torch.Generator(device)"),
        # the resolver
        ("import torch\nf()", f"import torch\n\n{RESOLVER}f()"),
        ("f()", "import torch\nfrom device import device\nf()"),
        ("import a\nf()", "import a\nfrom .device import get_device\nd = get_device()\nf()"),
        ("from a import b", "from a import b, device"),
        ("f()", "def get_device():\n    return torch.device('cpu')\n\nf()"),
        ("self.device = 'cuda'\nf()", "f()"),
        ("device = 'cuda:0'", RESOLVER),
        ('device = f"cuda:{gpu}"', RESOLVER),
        ("device = 0\nf(device)", f"{RESOLVER}f(device)"),
        ("self.device = args.gpu", "self.device = device"),
        ("f(0, x)", "f(device, x)"),
        # batches
        ("for x, y in l:\n  f(x)", "for x, y in l:\n  x, y = x.to(d), y.to(d)\n  f(x)"),
        ("for b in l:\n  f(b)", "for b in l:\n  b = {k: v.to(d) for k, v in b.items()}\n  f(b)"),
        ("[f(b, b.x) for b in l]", "[f(b, b.x) for b in (b.to(d) for b in l)]"),
        ("for b in l:\n  f(b)", "for b in l:\n  b = [t.to(d) for t in b]\n  f(b)"),
        ("for b in l:\n  f(b)", "for b in l:\n  b = list(map(lambda t: t.to(d), b))\n  f(b)"),
        (
            "for b in l:\n  f(b)",
            "for b in l:\n  b = tuple(t.to(d) if torch.is_tensor(t) else t for t in b)\n  f(b)",
        ),
        ("for k, v in b.items():\n  b[k] = v.cuda()\nf(b)", "f(b)"),
        ("for net in nets:\n  net.cuda()\nf(b)", "f(b)"),
        ("[net.cuda() for net in nets]\nf(b)", "f(b)"),
        ("x = to_device(x, device)\nf(x)", "f(x.to(device))"),
        # modules
        ("self.pe = pe", "self.register_buffer('pe', pe, persistent=False)"),
        ("self.l = [a, b]", "self.l = nn.ModuleList([a, b])"),
        ("self.l = []", "self.l = nn.ModuleList()"),
        ("self.d = {}", "self.d = torch.nn.ModuleDict({})"),
        ("net = Net()\nnet.cuda()", "net = Net().to(device)"),
        # branches
        ("if cuda:\n  m = m.cuda()\nf(m)", "m = m.to(device)\nf(m)"),
        ("if cuda:\n  m = m.cuda()\nelse:\n  m = m.cpu()\nf(m)", "f(m)"),
        ("if cuda:\n  f(x.cuda())\nelse:\n  f(x)", "f(x.to(device))"),
        ("x = x.cuda() if cuda else x", "x = x.to(device)"),
        ("f(x.cuda() if cuda else x)", "f(x.to(device))"),
        (
            "def f(x):\n  if cuda:\n    return x.cuda()\n  return x",
            "def f(x):\n  return x.to(device)",
        ),
        ("if torch.cuda.is_available():\n  f()", "if device.type == 'cuda':\n  f()"),
        ("if device == 'cuda':\n  f()", "if device.type == 'cuda':\n  f()"),
        ("assert torch.cuda.is_available()\nf()", "f()"),
        ("with torch.cuda.device(0):\n  f()", "f()"),
        # names of CUDA
        (
            "cuda = torch.cuda.is_available()\n"
            "T = torch.cuda.FloatTensor if cuda else torch.FloatTensor",
            "T = torch.FloatTensor",
        ),
        ("cuda = True if torch.cuda.is_available() else False\nf()", "f()"),
        ("cuda = not args.no_cuda and torch.cuda.is_available()\nf()", RESOLVER + "f()"),
        ("torch.cuda.synchronize()\nf()", "f()"),
        ("torch.cuda.manual_seed_all(1)", "if device.type == 'cuda':\n  torch.cuda.empty_cache()"),
        ("m = torch.cuda.memory_allocated()", "m = torch.accelerator.memory_allocated()"),
        ("torch.set_default_tensor_type('torch.cuda.FloatTensor')\nf()", "f()"),
        # parameters
        ("def f(x): return g(x)", "def f(x, device=None): return g(x, device=device)"),
        ("def f(x, device='cuda'): return x", "def f(x, device=None): return x"),
        ("def f(x, *, a=1): pass", "def f(x, *, device=None, a=1): pass"),
        ("def f(x):\n  return x", "def f(x):\n  x = x.to(d)\n  return x"),
        ("def f(x):\n  global device\n  return x", "def f(x):\n  return x"),
    ],
)
def test_device_handling_is_no_difference(before: str, after: str) -> None:
    assert difference(before, after) is None
    assert difference(after, before) is None


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("x = torch.zeros(3)", "x = torch.zeros(4, device=device)", "line 1: `3` became `4`"),
        ("a()\nb()", "b()", "line 1: `a()` is gone"),
        ("a()\nb()", "a()\nb()\nc()", "line 3: `c()` is new"),
        ("a()\nb()", "a()\nc()\nb()", "line 2: `c()` is new"),
        ("a()\nb()", "b()\na()", "line 1: `a` became `b`"),
        (
            "x = y.to(torch.float32)",
            "x = y.to(torch.float64)",
            "`torch.float32` became `torch.float64`",
        ),
        ("x = x.to(torch.float32)", "pass", "is gone"),
        ("x = y", "x = z.to(device)", "line 1: `y` became `z`"),
        ("log('cuda barracuda')", "log('barracuda')", "became `'barracuda'`"),
        ("x = x.detach()", "x = x.detach().clone()", "became"),
        ("if f(x):\n  x.cuda()", "x.to(device)", "is gone"),
        ("if a:\n  f(x)\nelse:\n  g(x)", "f(x)", "became"),
        ("x = a if c else b", "x = a", "`a if c else b` became `a`"),
        ("import a", "import a\nimport b", "line 2: `import b` is new"),
        ("f(x, y)", "f(x)", "`y` is gone"),
        ("f(x, k=1)", "f(x)", "`k=1` is gone"),
        ("def f(x, y=1): pass", "def f(x): pass", "`y` is gone"),
        ("def f(x):\n  '''Doc.'''", "def f(x):\n  pass", "`'Doc.'` is gone"),
        ("for x in l:\n  f(x)", "for x in l:\n  x = g(x)\n  f(x)", "`x = g(x)` is new"),
        ("b = {k: v for k, v in b.items() if k}", "pass", "is gone"),
        ("[f(b) for b in l]", "[f(b) for b in (b.to(d) for b in l if b)]", "became"),
        ("self.pe = pe", "self.register_buffer('other', pe)", "`self.pe` became `self.other`"),
        ("self.l = [a, b]", "self.l = nn.ModuleList([b, a])", "`a` became `b`"),
        ("x = torch.FloatTensor(3)", "x = torch.empty(3)", "became"),
        ("@d\ndef f(): pass", "def f(): pass", "`d` is gone"),
        ("x += y", "x -= y", "became"),
        ("f(0, x)", "f(x)", "`0` is gone"),
        ("device = make()", "device = torch.device('cpu')", "is gone"),
        ("x: int = 1", "x: str = 1", "`int` became `str`"),
        ("return_ = lambda x, y: x", "return_ = lambda x: x", "`y` is gone"),
    ],
)
def test_anything_else_is(before: str, after: str, message: str) -> None:
    found = difference(before, after)
    assert found is not None
    assert message in found
    assert "\n" not in found


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        (
            "legacy-constructor",
            "x = torch.cuda.FloatTensor(3, 4)",
            "x = torch.empty(3, 4, dtype=torch.float32, device=device)",
        ),
        (
            "legacy-constructor",
            "x = torch.LongTensor([1])",
            "x = torch.tensor([1], dtype=torch.long, device=device)",
        ),
        ("legacy-constructor", "x = torch.Tensor(a)", "x = torch.tensor(a, device=device)"),
        ("legacy-constructor", "x = y.type(torch.cuda.FloatTensor)", "x = y.float().to(device)"),
        ("legacy-constructor", "x = y.type(torch.cuda.LongTensor)", "x = y.to(device, torch.long)"),
        (
            "amp",
            "with torch.cuda.amp.autocast():\n  f()",
            "with torch.autocast(device.type, enabled=device.type == 'cuda'):\n  f()",
        ),
        (
            "amp",
            "from torch.cuda.amp import GradScaler\ns = GradScaler()",
            "import torch\ns = torch.amp.GradScaler(device.type, enabled=cuda)",
        ),
        (
            "cuda-only-api",
            "backend = 'nccl'\nstart(backend, 'nccl', device_ids=[rank])",
            "backend = 'nccl' if torch.cuda.is_available() else 'gloo'\n"
            "start(backend, 'nccl' if device.type == 'cuda' else 'gloo',"
            " device_ids=[rank] if device.type == 'cuda' else None)",
        ),
        ("variable", "x = Variable(y.cuda(), volatile=True)", "x = y.to(device)"),
        ("variable", "print(loss.data[0])", "print(loss.item())"),
        ("variable", "f(x)", "with torch.no_grad():\n  f(x)"),
    ],
)
def test_declared_forms(form: str, before: str, after: str) -> None:
    assert form in DECLARED
    assert difference(before, after) is not None
    assert difference(before, after, declared=[form]) is None


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("legacy-constructor", "torch.FloatTensor(3)", "torch.empty(4)"),
        ("legacy-constructor", "torch.FloatTensor(3)", "torch.empty(3, dtype=torch.float64)"),
        ("legacy-constructor", "x.type(torch.FloatTensor)", "x.double()"),
        ("amp", "with autocast(dtype=a):\n  f()", "with torch.autocast('cpu', dtype=b):\n  f()"),
        ("cuda-only-api", "start('nccl')", "start('gloo' if device.type == 'cpu' else 'nccl')"),
        ("variable", "x = Variable(y)", "x = z"),
    ],
)
def test_declared_forms_are_no_blank_cheque(form: str, before: str, after: str) -> None:
    assert difference(before, after, declared=[form]) is not None


def test_an_unknown_form_is_an_error() -> None:
    with pytest.raises(ValueError, match="no such normal form: everything"):
        difference("x", "x", declared=["everything"])


def test_names_of_a_resolver_and_of_imports() -> None:
    after = "from central import here, pick\nx = f(here)\ny = torch.zeros(1, device=pick())"
    before = "x = f()\ny = torch.zeros(1)"
    assert difference(before, after) is not None
    assert difference(before, after, names=["here", "pick"]) is None
    assert difference("f()", "from torch import amp\nf()") is not None
    assert difference("f()", "from torch import amp\nf()", imports=["amp"]) is None


def test_the_tree_that_is_erased_stays() -> None:
    tree = ast.parse(f"{RESOLVER}x = y.to(device)\nif cuda:\n  x.cuda()\n")
    before = ast.dump(tree)
    assert ast.unparse(erase(tree)) == "x = y"
    assert ast.dump(tree) == before


def fixtures() -> list[Path]:
    return sorted(
        path
        for path in FIXTURES.glob("*/*/**/*.py")
        if ("after.py" in path.parts or "after" in path.parts) and "modernize" not in path.parts
    )


#: Functions about a device, whose arguments are device handling too.
ABOUT_DEVICES = ("device_count", "get_device_name", "set_device", "cuda.device(", "cuda(0)")

#: The rules whose fixes are meant to change more, and the normal form that each declares.
FORMS = {
    "tensor-type": "legacy-constructor",
    "tensor_types_module": "legacy-constructor",
    "amp-tied-to-cuda": "amp",
    "cuda-only-api": "cuda-only-api",
    "installed_helper": "cuda-only-api",
    "processes-tied-to-cuda": "cuda-only-api",
    "device_as_text": "amp",
    "generator-device": "generator",
    "legacy-autograd": "variable",
    "chosen_by_a_helper": "legacy-constructor",
    "switch_by_another_name": "legacy-constructor",
}


#: What fixtures call tensor types that other files or attributes hold.
TYPES = {
    "FloatTensor": "float32", "LongTensor": "int64", "Tensor": "float32", "dtype": "float32",
    "ltype": "int64",
}  # fmt: skip


@pytest.mark.parametrize("path", fixtures(), ids=lambda path: str(path.relative_to(FIXTURES)))
def test_what_the_fixtures_change_is_device_handling(path: Path) -> None:
    parts = [
        "before.py" if p == "after.py" else "before" if p == "after" else p for p in path.parts
    ]
    before = Path(*parts)
    if not before.exists():
        pytest.skip("a file that the fix adds")
    text = before.read_text(encoding="utf-8"), path.read_text(encoding="utf-8")
    # Of a rule's fixture only its own form; a project may need several rules.
    projects = "projects" in path.parts
    declared = [form for rule, form in FORMS.items() if projects or rule in path.parts]
    names = ["device", "get_device", "DEVICE"]
    imports = ["contextlib", "importlib.util", "Optional", "pick", "move_to"]
    difference = equivalent(
        *map(ast.parse, text), names=names, imports=imports, declared=declared, types=TYPES,
        movers=["move_to", "put"],
    )  # fmt: skip
    assert difference is None


def test_changed_numbers_and_lost_statements_are_seen() -> None:
    """Change every tenth number of the fixtures and drop some statements: the net sees it all."""
    chance = random.Random(0)
    seen = 0
    for path in fixtures():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        about_devices = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Attribute, ast.Compare))
            and re.search("device|gpu", ast.unparse(node).lower())
            or isinstance(node, ast.IfExp)
            and "is_available" in ast.unparse(node.test)
            or isinstance(node, ast.Call)
            and "cuda" in ast.unparse(node.func)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if id(node) in about_devices:
                continue
            if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                if chance.random() < 0.1:
                    old, node.value = node.value, node.value + 1
                    assert difference_of(text, tree), (path, node.lineno)
                    node.value = old
                    seen += 1
            elif isinstance(node, (ast.For, ast.FunctionDef)) and chance.random() < 0.3:
                for statement in [s for s in node.body if isinstance(s, ast.AugAssign)]:
                    at = node.body.index(statement)
                    node.body[at] = ast.copy_location(ast.Pass(), statement)
                    assert difference_of(text, tree), (path, statement.lineno)
                    node.body[at] = statement
                    seen += 1
    assert seen > 100


def difference_of(text: str, tree: ast.Module) -> str | None:
    return equivalent(ast.parse(text), tree)
