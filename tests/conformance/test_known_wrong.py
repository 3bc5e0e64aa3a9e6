"""Programs of several files, or larger ones, that were judged wrongly: what has to be said of them.

What is one way of the language in one small program is in `language/`.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from samedevice.migration.check import check, is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = """\
import sys
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
"""
CPU_ONLY = """\
import torch
from torch import nn
from helper import scale
model = nn.Linear(3, 2)
print(scale(model(torch.ones(1, 3))))
"""


def found(files: dict[str, str]) -> list[tuple[str, int, str]]:
    """Return the path, line and rule of what is wrong in a project."""
    project = Project([source.from_text(dedent(text), path) for path, text in files.items()])
    findings = check(project, Config())
    assert not project.errors, project.errors
    return [(one.path, one.span.line, one.rule) for one in findings if is_wrong(one)]


def pending(cause: str) -> pytest.MarkDecorator:
    """Mark what is judged wrongly still."""
    return pytest.mark.xfail(strict=True, reason=cause)


@pytest.mark.parametrize(
    "text",
    [
        "from library import object as make\nmake(1, 2)\n",
        "import func\nfunc(1)\n",
        "from elsewhere import call as eval\neval(eval)\n",
        "import visit\nvisit.visit(visit(1))\n",
    ],
)
def test_no_name_of_a_program_is_one_of_ours(text: str) -> None:
    """Whatever a program's names are, the check says what it says of others."""
    files = {"main.py": HEAD + text + "model(torch.ones(1, 3))\n"}
    other = {"main.py": HEAD + "pass\n" * text.count("\n") + "model(torch.ones(1, 3))\n"}
    assert found(files) == found(other) == [("main.py", 8, "tensor-without-device")]


def test_every_caller_of_many_is_judged() -> None:
    """Of 250 callers of a function, those that hand in a tensor on the host are found."""
    calls = "".join(f"run(torch.ones({n}, 3))\n" for n in range(1, 251))
    text = f"{HEAD}def run(x):\n    return model(x)\n{calls}"
    assert len(found({"main.py": text})) == 250


def test_a_clash_far_behind_is_found() -> None:
    """A clash at the 40th call of a long function is found as at the first."""
    body = "".join(f"    y = y * {n}\n" for n in range(30))
    helper = f"def run(x):\n    y = x + 0\n{body}    return model(y)\n"
    calls = "".join(f"run(torch.ones({n}, 3, device=device))\n" for n in range(1, 40))
    text = f"{HEAD}{helper}{calls}run(torch.ones(1, 3))\n"
    expected = [("main.py", text.count("\n"), "tensor-without-device")]
    assert found({"main.py": text}) == expected


def test_what_owns_a_device_is_left_alone() -> None:
    """A model that a library moves is not moved, as the documentation says."""
    text = """
        import torch
        import skorch
        from torch import nn
        model = nn.Linear(3, 2)
        net = skorch.NeuralNetClassifier(model, device="cuda")
        net.fit(torch.ones(4, 3), torch.zeros(4, dtype=torch.long))
    """
    assert "module-not-moved" not in {rule for _, _, rule in found({"main.py": text})}


def test_a_graph_is_a_batch() -> None:
    """What a library's container holds is where the container is."""
    head = HEAD + "from torch_geometric.data import Data\n"
    moved = "data = Data(x=torch.ones(1, 3)).to(device)\nmodel(data.x)\n"
    left = "data = Data(x=torch.ones(1, 3))\nmodel(data.x)\n"
    assert not found({"main.py": head + moved})
    assert found({"main.py": head + left})


def test_a_dtype_as_a_default_says_nothing_of_devices() -> None:
    """It neither switches rules off nor leaks into files that import the same package."""
    files = {
        "shared.py": "SIZE = 3\n",
        "double.py": """
            import torch
            from shared import SIZE
            torch.set_default_tensor_type("torch.DoubleTensor")
            print(torch.ones(SIZE))
        """,
        "main.py": HEAD + "from shared import SIZE\nmodel(torch.ones(1, SIZE))\n",
    }
    alone = {path: text for path, text in files.items() if path != "double.py"}
    assert found(files) == found(alone) == [("main.py", 7, "tensor-without-device")]


def test_a_sibling_that_uses_cuda_does_not_speak_for_another_script() -> None:
    """A script for the CPU is judged by what it reaches, not by who imports the same helper."""
    helper = "def scale(x):\n    return x * 2\n"
    cuda = """
        import torch
        from helper import scale
        print(scale(torch.ones(3, device="cuda")))
    """
    trains = CPU_ONLY + (
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for _ in range(9):\n"
        "    scale(model(torch.ones(1, 3))).sum().backward()\n"
        "    optimizer.step()\n"
    )
    alone = found({"helper.py": helper, "cpu.py": trains})
    beside = found({"helper.py": helper, "cpu.py": trains, "gpu.py": cuda})
    assert alone
    assert [one for one in beside if one[0] == "cpu.py"] == alone


@pending("edits of sys.path are not read")
def test_a_folder_that_a_program_adds_to_its_path_is_searched() -> None:
    """An empty package of the same name beside it does not hide the module that is meant."""
    files = {
        "mdn/mdn.py": "import torch\ndef make():\n    return torch.ones(1, 3)\n",
        "mdn/__init__.py": "",
        "examples/main.py": f"""{HEAD}sys.path.append("../mdn")
import mdn
model(mdn.make())
""",
    }
    assert [(path, line) for path, line, _ in found(files)] == [("mdn/mdn.py", 3)]


def test_lines_without_torch_change_nothing() -> None:
    """Three files about torch beside 120,000 lines of something else."""
    files = {
        "net.py": "from torch import nn\ndef build():\n    return nn.Linear(3, 2)\n",
        "data/make.py": "import torch\ndef make():\n    return torch.ones(1, 3)\n",
        "data/__init__.py": "",
        "main.py": HEAD + "from net import build\nfrom data.make import make\n"
        "build().to(device)(make())\n",
    }
    more = {f"lines_{n}/all.py": "x = 1\n" * 30_000 for n in range(4)}
    assert found(files)
    assert found({**files, **more}) == found(files)
