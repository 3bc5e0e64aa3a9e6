"""Where imports and the resolver go."""

from __future__ import annotations

import ast

import pytest

from samedevice.finding import Fix, Import, Resolver
from samedevice.reading import source
from samedevice.rewrite import Rewritten, Style, rewrite

from .spelled import PATH, edit

CUDA = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
NET = "net = Net()\n"
TYPING = "from typing import Optional\n"
OPTIONAL = "Optional\nimport torch\n"
MOVED = "net = Net().to(device)\n"


def resolve(text: str, *, style: Style = "cuda", **where: str) -> Rewritten:
    """Give `Net()` in `text` the device that a resolver decides."""
    moved = edit(text, "Net()", "method", code=f".to({where.get('name', 'device')})")
    name = where.pop("name", "device")
    fix = Fix((moved,), resolvers=(Resolver(PATH, name, **where),))
    result = rewrite(source.from_text(text, PATH), [fix], style=style)
    ast.parse(result.text)
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"import torch\n\n{NET}", f"import torch\n\n{CUDA}\n{MOVED}"),
        (f"import torch\n{NET}", f"import torch\n{CUDA}{MOVED}"),
        (f"import torch\n\n\n{NET}", f"import torch\n\n{CUDA}\n\n{MOVED}"),
        (
            f'"""Doc."""\nimport os\nimport torch  # t\n\n# of net\n{NET}',
            f'"""Doc."""\nimport os\nimport torch  # t\n\n{CUDA}\n# of net\n{MOVED}',
        ),
        (
            f"from torch import nn\n\n{NET}",
            f"import torch\nfrom torch import nn\n\n{CUDA}\n{MOVED}",
        ),
        (
            f"import torch.nn as nn\n\n{NET}",
            f"import torch\nimport torch.nn as nn\n\n{CUDA}\n{MOVED}",
        ),
        (f"import torch.nn\n\n{NET}", f"import torch.nn\n\n{CUDA}\n{MOVED}"),
        (
            f"#!/bin/python\n# top\n\n{NET}",
            f"#!/bin/python\n# top\n\nimport torch\n\n{CUDA}\n{MOVED}",
        ),
        (f'"""Doc."""\n\n{NET}', f'"""Doc."""\n\nimport torch\n\n{CUDA}\n{MOVED}'),
        (f'"""Doc."""\n{NET}', f'"""Doc."""\n\nimport torch\n\n{CUDA}\n{MOVED}'),
        (
            f"from __future__ import annotations\n\n{NET}",
            f"from __future__ import annotations\n\nimport torch\n\n{CUDA}\n{MOVED}",
        ),
        (
            f'import os\nos.environ["A"] = "1"\nimport torch\nfrom a import *\n\n{NET}',
            f'import os\nos.environ["A"] = "1"\nimport torch\nfrom a import *\n\n{CUDA}\n{MOVED}',
        ),
        (
            f"import torch\ntry:\n    import a\nexcept Error:\n    a = 1\n\n{NET}",
            f"import torch\ntry:\n    import a\nexcept Error:\n    a = 1\n\n{CUDA}\n{MOVED}",
        ),
        (
            f"import torch\n\ndef f():\n    import late\n\nimport later\n{NET}",
            f"import torch\n\n{CUDA}\ndef f():\n    import late\n\nimport later\n{MOVED}",
        ),
        (f"import torch\n{NET}import later\n", f"import torch\n{CUDA}{MOVED}import later\n"),
        (f"import torch; import os\n\n{NET}", f"import torch; import os\n\n{CUDA}\n{MOVED}"),
        (f"import torch\n\n{CUDA}{NET}", f"import torch\n\n{CUDA}{MOVED}"),
        (
            f"import torch as th\n\n{NET}",
            f"import torch as th\n\n{CUDA.replace('torch', 'th')}\n{MOVED}",
        ),
    ],
)
def test_resolver_in_a_script(before: str, after: str) -> None:
    result = resolve(before)
    assert not result.refused
    assert result.text == after


def test_accelerator_is_broken_where_it_is_long() -> None:
    result = resolve(f"import torch\n\n{NET}", style="accelerator")
    assert result.text == (
        "import torch\n\ndevice = (\n"
        "    torch.accelerator.current_accelerator()\n"
        "    if torch.accelerator.is_available()\n"
        '    else torch.device("cpu")\n'
        f")\n\n{MOVED}"
    )
    again = resolve(result.text.replace(MOVED, NET), style="accelerator")
    assert again.text == result.text


@pytest.mark.parametrize("taken", ["device = 1", "def device(): pass", "from a import device"])
def test_a_taken_name_is_refused(taken: str) -> None:
    text = f"import torch\n{taken}\n{NET}"
    result = resolve(text)
    assert result.text == text
    assert result.refused[0][1] == "the name 'device' is taken in this file"
    assert not resolve(text, name="central").refused


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\n\n", "import torch\n\nfrom device import device\n\n"),
        ("from device import a\n\n", "from device import a, device\n\n"),
        ("from device import (a, b)\n\n", "from device import (a, b, device)\n\n"),
        (
            "from device import (\n    a,\n    b,  # c\n)\n\n",
            "from device import (\n    a,\n    b,  # c\n    device,\n)\n\n",
        ),
        (
            "from device import (\n    a\n)\n\n",
            "from device import (\n    a,\n    device\n)\n\n",
        ),
        ("from device import *\n\n", "from device import *\nfrom device import device\n\n"),
        ("from device import device\n\n", "from device import device\n\n"),
        (
            f"from device import {'a' * 80}\n\n",
            f"from device import {'a' * 80}\nfrom device import device\n\n",
        ),
        (
            "if x:\n    from device import a\n\n",
            "if x:\n    from device import a\n\nfrom device import device\n\n",
        ),
    ],
)
def test_resolver_from_a_module(before: str, after: str) -> None:
    result = resolve(before + NET, module="device", module_path="device.py")
    assert result.text == after + MOVED
    assert [path for path, _ in result.new_files] == ["device.py"]


def test_resolver_from_a_package() -> None:
    result = resolve(f"from .data import a\n\n{NET}", module=".device", module_path="p/device.py")
    assert result.text == f"from .data import a\nfrom .device import device\n\n{MOVED}"
    existing = resolve(f"from .data import a\n\n{NET}", module=".device")
    assert existing.text == result.text
    assert existing.new_files == ()


@pytest.mark.parametrize("style", ["cuda", "accelerator"])
@pytest.mark.parametrize("name", ["device", "torch_device"])
def test_resolver_module_runs(style: Style, name: str) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    result = resolve(NET, style=style, name=name, module="m", module_path="m.py")
    ((_, text),) = result.new_files
    module: dict[str, object] = {}
    exec(text, module)
    expected = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if style == "accelerator" and torch.accelerator.is_available():
        expected = torch.accelerator.current_accelerator()
    assert module["get_device"]() == expected  # type: ignore[operator]
    assert module["device"] == expected


def test_resolver_module_has_one_name_for_all() -> None:
    result = resolve(NET, name="torch_device", module="m", module_path="m.py")
    assert result.text.startswith("from m import device as torch_device\n")
    again = resolve(result.text, name="torch_device", module="m")
    assert again.text.count("import") == result.text.count("import")


def test_imports_are_added_once() -> None:
    text = "import os\nfrom torch import nn\n\nx = 1\n"
    wanted = [
        Import(PATH, "torch"),
        Import(PATH, "torch", "nn"),
        Import(PATH, "torch", "amp"),
        Import(PATH, "torch", "amp"),
        Import(PATH, "os"),
        Import("other.py", "sys"),
    ]
    result = rewrite(source.from_text(text, PATH), [Fix((), imports=tuple(wanted))])
    assert result.text == "import os\nimport torch\nfrom torch import amp, nn\n\nx = 1\n"


def test_two_fixes_share_a_resolver() -> None:
    text = "import torch\n\na = Net()\nb = Gen()\n"
    fixes = [
        Fix(
            (edit(text, code, "method", code=".to(device)"),),
            resolvers=(Resolver(PATH, "device"),),
        )
        for code in ("Net()", "Gen()")
    ]
    result = rewrite(source.from_text(text, PATH), fixes)
    assert len(result.applied) == 2
    assert result.text == (f"import torch\n\n{CUDA}\na = Net().to(device)\nb = Gen().to(device)\n")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("import os\n\nimport torch\n", f"import os\n{TYPING}\nimport torch\n"),
        (
            "import sys\nfrom os import path\nimport torch\n\nfrom a import b\n",
            f"import sys\nfrom os import path\n{TYPING}import torch\n\nfrom a import b\n",
        ),
        ("from zlib import a\n\nimport torch\n", f"{TYPING}from zlib import a\n\nimport torch\n"),
        ("from typing import Any\nimport torch\n", f"from typing import Any, {OPTIONAL}"),
        ("import torch\n", f"import torch\n{TYPING}"),
    ],
)
def test_standard_library_among_its_kind(text: str, after: str) -> None:
    body = "\n\ndef f(device: str = None):\n    return device\n"
    optional = edit(text + body, "str", "replace", code="Optional[{}]")
    taken = Fix((optional,), imports=(Import(PATH, "typing", "Optional"),))
    result = rewrite(source.from_text(text + body, PATH), [taken])
    assert result.text == after + body.replace("str", "Optional[str]")


def test_resolver_below_the_first_import_of_torch() -> None:
    text = (
        "import sys\nwith open(sys.argv[0]) as f:\n    code = f.read()\nimport os\nimport torch\n"
    )
    after = f"{text}\n{CUDA}\n{MOVED}"
    assert resolve(f"{text}\n{NET}").text == after


@pytest.mark.parametrize("head", ['if __name__ == "__main__":', "if len(__file__) > 1:", "try:"])
def test_resolver_above_the_block_that_needs_it(head: str) -> None:
    above, block = "import torch\n", f"{head}\n    {NET}    import math\n"
    block += "except ValueError:\n    pass\n" if head == "try:" else ""
    after = f"{above}\n{CUDA}\n{block.replace(NET, MOVED)}"
    assert resolve(f"{above}\n{block}").text == after


def test_resolver_above_a_main_block_that_imports() -> None:
    above, block = "import torch\n", f'if __name__ == "__main__":\n    import math\n    {MOVED}'
    missing = Fix((), resolvers=(Resolver(PATH, "device"),))
    result = rewrite(source.from_text(f"{above}\n{block}", PATH), [missing])
    assert result.text == f"{above}\n{CUDA}\n{block}"


@pytest.mark.parametrize(
    "before, after",
    [
        ("EPOCHS, RATE", "DEVICE, EPOCHS, RATE"),
        ("BATCH, Net", "BATCH, DEVICE, Net"),
        ("BATCH, Net, train", "BATCH, DEVICE, Net, train"),
        ("ALPHA, beta, EPOCHS", "ALPHA, beta, DEVICE, EPOCHS"),
        ("RATE, EPOCHS", "RATE, EPOCHS, DEVICE"),
        ("ALPHA", "ALPHA, DEVICE"),
        ("(\n    EPOCHS,  # all\n    RATE,\n)", "(\n    DEVICE,\n    EPOCHS,  # all\n    RATE,\n)"),
    ],
)
def test_a_name_goes_to_its_place_among_sorted_ones(before: str, after: str) -> None:
    text = f"from config import {before}\n\nx = 1\n"
    fix = Fix((), imports=(Import(PATH, "config", "DEVICE"),))
    result = rewrite(source.from_text(text, PATH), [fix])
    assert result.text == f"from config import {after}\n\nx = 1\n"
