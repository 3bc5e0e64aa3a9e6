"""Inserted expressions of the wrong type, each with its twin that is right."""

from __future__ import annotations

import textwrap

import pytest

from samedevice.reading.project import Project
from samedevice.reading.source import from_text
from samedevice.verify import objections

#: The program, what is edited in it, and what is said: "" for nothing.
EDITS: dict[str, tuple[str, str, str, str]] = {
    "a device with an index": (
        "import torch\nd = torch.device('cuda')\ne = torch.device('cuda', 0)\n",
        "torch.device('cuda', 0)",
        "torch.device(d, 0)",
        "`d` may be a device, which takes no index",
    ),
    "a device with an index by name": (
        "import torch\nd = torch.device('cuda')\ne = torch.device(type='cuda', index=0)\n",
        "type='cuda'",
        "type=d",
        "`d` may be a device, which takes no index",
    ),
    "a move of what was put on the CPU": (
        "def f(x, y):\n    return x.cpu() + y\n",
        "x.cpu()",
        "x.cpu().to(y.device)",
        "`x.cpu()` was put on the CPU on purpose",
    ),
    "a move of what is computed": (
        "def f(x, y):\n    return x.exp() + y\n",
        "x.exp()",
        "x.exp().to(y.device)",
        "",
    ),
    "the device of a packed sequence": (
        "from torch.nn.utils.rnn import pack_padded_sequence\n"
        "def f(x, n):\n    x = pack_padded_sequence(x, n)\n    return n.cuda(), x\n",
        "n.cuda()",
        "n.to(x.device)",
        "`x` is a packed sequence there, which has no device",
    ),
    "the device of what is packed below": (
        "from torch.nn.utils.rnn import pack_padded_sequence\n"
        "def f(x, n):\n    h = n.cuda()\n    x = pack_padded_sequence(x, n)\n    return h, x\n",
        "n.cuda()",
        "n.to(x.device)",
        "",
    ),
    "parameters that some objects have": (
        "from torch import nn\nclass A(nn.Module):\n    def __init__(self, on):\n"
        "        super().__init__()\n        if on:\n            self.a = nn.Linear(3, 3)\n"
        "    def f(self, x):\n        return x.cuda()\n",
        "x.cuda()",
        "x.to(next(self.parameters()).device)",
        "A has no parameters that could tell its device",
    ),
    "parameters that a helper of the constructor makes": (
        "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.make()\n    def make(self):\n"
        "        self.a = nn.Linear(3, 3)\n    def f(self, x):\n        return x.cuda()\n",
        "x.cuda()",
        "x.to(next(self.parameters()).device)",
        "",
    ),
    "a buffer above the base's constructor": (
        "import torch\nfrom torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
        "        self.a = torch.ones(3)\n        super().__init__()\n",
        "self.a = torch.ones(3)",
        "self.register_buffer('a', torch.ones(3))",
        "a module takes buffers only after `super().__init__()`",
    ),
    "a buffer below the base's constructor": (
        "import torch\nfrom torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.a = torch.ones(3)\n",
        "self.a = torch.ones(3)",
        "self.register_buffer('a', torch.ones(3))",
        "",
    ),
    "a string with an index": (
        "import torch\nd = 'cuda'\ne = torch.device('cuda', 0)\n",
        "torch.device('cuda', 0)",
        "torch.device(d, 0)",
        "",
    ),
    "the type of what a caller spells": (
        "def f(d):\n    return d == 'cuda'\nf('cpu')\n",
        "d == 'cuda'",
        "d.type == 'cuda'",
        "`d` may be a string, which has no type",
    ),
    "the device of what a method gets, beside a function of its name": (
        "def f(x):\n    print(x)\nclass A:\n    def f(self, x):\n        return x.to('cuda')\n"
        "f(1)\n",
        "'cuda'",
        "x.device",
        "",
    ),
    "the device of what a function gets, beside a method of its name": (
        "def f(x):\n    return x.to('cuda')\nclass A:\n    def f(self, x):\n        print(x)\n"
        "A().f(1)\n",
        "'cuda'",
        "x.device",
        "",
    ),
    "the device of what a method gets, which is a number": (
        "class A:\n    def f(self, x):\n        return x.to('cuda')\nA().f(1)\n",
        "'cuda'",
        "x.device",
        "`x` may be a number, which has no device",
    ),
    "an argument of one of two functions": (
        "try:\n    from torch.amp import autocast\nexcept ImportError:\n"
        "    from torch.cuda.amp import autocast\nwith autocast('cuda'):\n    pass\n",
        "autocast('cuda')",
        "autocast('cuda', enabled=False)",
        "`autocast` may be `torch.amp.autocast` or `torch.cuda.amp.autocast`, "
        "which may take other arguments",
    ),
    "an argument of a function that is imported in one way or another": (
        "try:\n    from helper import f\nexcept ImportError:\n    from .helper import f\nf(1)\n",
        "f(1)",
        "f(1, device=None)",
        "",
    ),
    "the type of a default": (
        "def f(d='cuda'):\n    return d == 'cuda'\n",
        "d == 'cuda'",
        "d.type == 'cuda'",
        "`d` may be a string, which has no type",
    ),
    "the type of one of two": (
        "import torch\nd = torch.device('cpu')\nif x:\n    d = 'cuda'\nprint(d == 'cuda')\n",
        "d == 'cuda'",
        "d.type == 'cuda'",
        "`d` may be a string, which has no type",
    ),
    "the type of a device": (
        "import torch\ndef f(d):\n    return d == 'cuda'\nf(torch.device('cpu'))\n",
        "d == 'cuda'",
        "d.type == 'cuda'",
        "",
    ),
    "the type of an attribute that is a string": (
        "class C:\n    def __init__(self):\n        self.d = 'cuda'\n"
        "    def f(self):\n        return self.d == 'cuda'\n",
        "self.d == 'cuda'",
        "self.d.type == 'cuda'",
        "`self.d` may be a string, which has no type",
    ),
    "the device of a flag": (
        "def f(x, flag: bool = False):\n    return x.to('cuda')\n",
        "'cuda'",
        "flag.device",
        "`flag` may be a flag, which has no device",
    ),
    "the device of what another call gives as a flag": (
        "def f(x, flag):\n    return x.to('cuda')\nf(g(), True)\n",
        "'cuda'",
        "flag.device",
        "`flag` may be a flag, which has no device",
    ),
    "the device of a tensor": (
        "def f(x, y: torch.Tensor):\n    return x.to('cuda')\n",
        "'cuda'",
        "y.device",
        "",
    ),
    "the device of a module": (
        "from torch import nn\nnet = nn.Linear(1, 1)\nx = x.to('cuda')\n",
        "'cuda'",
        "net.device",
        "`net` is a module, which has no device of its own",
    ),
    "the device of what is used as a module": (
        "def f(net, x):\n    net.eval()\n    return net(x.to('cuda'))\n",
        "'cuda'",
        "net.device",
        "`net` is a module, which has no device of its own",
    ),
    "the device of a module that has one": (
        "from torch import nn\nclass N(nn.Module):\n    def __init__(self, d):\n"
        "        self.device = d\nnet = N(1)\nx = x.to('cuda')\n",
        "'cuda'",
        "net.device",
        "",
    ),
    "a tensor for a device": (
        "import torch\ny = torch.ones(1)\nx = torch.zeros(1)\n",
        "torch.zeros(1)",
        "torch.zeros(1, device=y)",
        "`y` may be a tensor rather than a device",
    ),
    "a function for what it makes": (
        "y = data.labels[:3]\n",
        "data.labels",
        "(lambda x: data.labels(x))",
        "the function itself would stand where its result is needed",
    ),
    "a function that is handed on": ("y = map(f, x)\n", "f,", "lambda x: f(x),", ""),
    "a copy of what is changed in place": (
        "for t in ts:\n    t['a'] = 1\n",
        "    t['a']",
        "    t = {k: v.to(d) for k, v in t.items()}\n    t['a']",
        "`t` is changed in place, which would only change a copy",
    ),
    "a copy of what is only read": (
        "for t in ts:\n    f(t['a'])\n",
        "    f(",
        "    t = {k: v.to(0) for k, v in t.items()}\n    f(",
        "",
    ),
}


def _said(before: str, after: str) -> list[str]:
    sides = (Project([from_text(text, "a.py")]) for text in (before, after))
    return [each.reason for each in objections(*sides)]


@pytest.mark.parametrize("name", EDITS)
def test_types(name: str) -> None:
    program, old, new, reason = EDITS[name]
    assert program.count(old) >= 1
    after = new.join(program.rsplit(old, 1))
    expected = {reason} if reason else set()
    assert set(_said(program, after)) - {"`d` may not be bound here"} == expected


MODULE = """
    import torch
    from torch import nn

    class M({base}):
        def __init__(self, part=None):
            super().__init__()
            {made}

        def forward(self, x):
            return x.to({device})
"""
NONE = "M has no parameters that could tell its device"
PARTS = {
    "a buffer": ('self.register_buffer("b", torch.ones(1))', "nn.Module", NONE),
    "a tensor": ("self.b = torch.ones(1)", "nn.Module", NONE),
    "a number": ("self.n = 3", "nn.Module", NONE),
    "an activation": ("self.f = nn.LeakyReLU()", "nn.Module", NONE),
    "pooling": ("self.f = nn.MaxPool2d(2)", "nn.Module", NONE),
    "a layer": ("self.f = nn.Linear(1, 1)", "nn.Module", ""),
    "a parameter": ("self.p = nn.Parameter(torch.ones(1))", "nn.Module", ""),
    "what it is given": ("self.p = part", "nn.Module", ""),
    "a part by name": ('self.add_module("p", part)', "nn.Module", ""),
    "a registered parameter": ('self.register_parameter("p", part)', "nn.Module", ""),
    "another's class": ("self.n = 3", "Backbone", ""),
}


@pytest.mark.parametrize("name", PARTS)
def test_parameters(name: str) -> None:
    made, base, reason = PARTS[name]
    text = textwrap.dedent(MODULE)
    before = text.format(made=made, base=base, device="'cuda'")
    after = text.format(made=made, base=base, device="next(self.parameters()).device")
    assert _said(before, after) == ([reason] if reason else [])
