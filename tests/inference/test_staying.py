"""A script that stays on the CPU is told, with the reason."""

from __future__ import annotations

from textwrap import dedent

import pytest

from samedevice.migration.migrate import migrate
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

HEAD = "import torch\nfrom torch import nn\n"
TRAINED = """
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.rand(4, 3)).sum()
        loss.backward()
        optimizer.step()
"""


def staying(**files: str) -> dict[str, str]:
    """Return the scripts that stay on the CPU after all fixes, each with the reason."""
    texts = [(f"{name}.py", HEAD + dedent(text)) for name, text in files.items()]
    project = Project(source.from_text(text, path) for path, text in texts)
    return {each.path: each.reason for each in migrate(project, Config()).staying}


def test_what_is_converted_does_not_stay() -> None:
    assert not staying(main=TRAINED)


def test_what_computes_nothing_is_no_matter() -> None:
    assert not staying(main="x = torch.ones(3)\ntorch.save(x, 'x.pt')\n")


def test_what_chooses_a_device_itself_does_not_stay() -> None:
    moved = 'x = torch.ones(3, 3, device="cuda" if torch.cuda.is_available() else "cpu")\n'
    assert not staying(main=f"{moved}print(x @ x)\n")


def test_gradients_by_hand() -> None:
    told = staying(
        main="""
        class Adaline:
            def __init__(self):
                self.weights = torch.zeros(2, 1)
            def forward(self, x):
                return torch.mm(x, self.weights)
        model, x = Adaline(), torch.rand(4, 2)
        model.weights += 0.1 * x.t().mm(model.forward(x))
    """
    )
    assert told == {"main.py": "it calls no module and takes no gradient with autograd"}


def test_a_module_without_parameters() -> None:
    told = staying(
        main="""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = torch.zeros(2, 1)
            def forward(self, x):
                return torch.mm(x, self.weights)
        print(Net()(torch.rand(4, 2)))
    """
    )
    reason = "it calls no module that has parameters and takes no gradient with autograd"
    assert told == {"main.py": reason}


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("model.share_memory()\n", 11),
        ("mp.Process(target=print, args=(model,)).start()\n", 11),
        ("mp.Process(target=print, kwargs={'model': model}).start()\n", 11),
        ("class Job:\n    def __init__(self): self.model = model\n    def run(self): pass\n"
         "mp.Process(target=Job().run).start()\n", 14),
        ("def work(x):\n    return model(x)\n"
         "with mp.Pool(2) as pool: print(pool.map(work, [torch.ones(3)]))\n", 13),
        ("from concurrent.futures import ProcessPoolExecutor\ndef work(x):\n    return model(x)\n"
         "print(ProcessPoolExecutor().submit(work, torch.ones(3)).result())\n", 14),
        ("def begin():\n    print(model(torch.ones(3)))\nmp.Pool(2, initializer=begin)\n", 13),
    ],
    ids=["shared", "handed over", "by its name", "held by the object of a method", "in a pool",
         "in an executor", "as a pool begins"],
)  # fmt: skip
def test_a_model_that_other_processes_compute_with(how: str, line: int) -> None:
    told = staying(main=f"import torch.multiprocessing as mp\n{dedent(TRAINED)}{how}")
    assert told == {"main.py": f"other processes compute with its model (main.py:{line})"}


def test_a_library_that_is_given_the_model() -> None:
    told = staying(main=f"from strange import plot\n{dedent(TRAINED)}plot(model)\n")
    assert told == {
        "main.py": "its model goes to a library that could not be followed (main.py:11)"
    }


def test_one_of_several_processes() -> None:
    told = staying(main=f"torch.distributed.init_process_group('gloo')\n{dedent(TRAINED)}")
    assert told == {"main.py": "main.py makes it one of several processes, without a device"}


def test_all_gpus_hidden() -> None:
    told = staying(main=f"import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n{dedent(TRAINED)}")
    assert told == {"main.py": "main.py hides every GPU from it"}


def test_the_cpu_is_asked_for() -> None:
    told = staying(
        main="""
        def pick():
            return torch.device("cpu")
        print(nn.Linear(3, 2).to(pick())(torch.ones(3, device=pick())))
    """
    )
    assert told == {"main.py": "it asks for the CPU itself (main.py:6)"}


def test_each_script_is_told_by_itself() -> None:
    told = staying(
        parts="class Net(nn.Linear):\n    pass\n",
        first=f"from parts import Net\n{dedent(TRAINED)}".replace("nn.Linear", "Net"),
        second=f"from parts import Net\n{dedent(TRAINED)}model.share_memory()\n",
    )
    assert list(told) == ["second.py"]


def test_what_a_finding_says_is_not_said_again() -> None:
    assert not staying(
        main="""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(3, 3) for _ in range(2)]
            def forward(self, x):
                return self.layers[1](self.layers[0](x))
        print(Net()(torch.ones(3)))
    """
    )


def test_what_is_shared_builds_something_and_nothing_else_keeps_a_script_back() -> None:
    names = "def path(name):\n    return name + '.pt'\n"
    makes = "from torch import nn\n\ndef make():\n    return nn.Linear(3, 2)\n"
    uses = "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    moved = "model = make().to(device)\nmodel(torch.ones(3).to(device))\n"
    moved = f"from makes import make\n{uses}{moved}"
    by_hand = "x = torch.ones(3, 3)\nfor _ in range(3):\n    x = x - 0.1 * x.mm(x)\n"
    found = staying(
        names=names,
        makes=makes,
        moved=f"from names import path\n{moved}",
        other=f"from names import path\n{by_hand}",
    )
    assert found == {"other.py": "it calls no module and takes no gradient with autograd"}
