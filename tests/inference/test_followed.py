"""A function that is handed tensors computes where they are: no device of the program's own."""

from __future__ import annotations

import ast

import pytest

from samedevice.finding import DeviceExpression, Import, Resolver
from samedevice.inference import infer
from samedevice.inference.nodes import Location
from samedevice.reading.project import Project
from samedevice.reading.source import from_text
from samedevice.repair import device_names
from samedevice.rules import _create, module_not_moved, numpy_boundary

HANDED = """import torch


def stepped(a, b):
    half = torch.ones(2) / 2
    return a + half * b


def made():
    half = torch.ones(2) / 2
    return half * 2


stepped(torch.ones(2), torch.ones(2))
made()
"""


def test_who_hands_tensors_in_decides_where_a_function_computes() -> None:
    project = Project([from_text(HANDED, "a.py")])
    solution = infer(project, project.programs["a.py"])
    names = device_names(solution)
    uses = [
        node
        for node in ast.walk(project.sources["a.py"].tree)
        if isinstance(node, ast.Name) and node.id == "half" and isinstance(node.ctx, ast.Load)
    ]
    uses.sort(key=lambda node: node.lineno)
    handed, alone = (names.name_at(Location("a.py", node)) for node in uses)
    assert handed is None
    assert alone is not None
    assert alone.resolvers


@pytest.mark.parametrize(
    ("name", "follows"),
    [
        (None, False),
        (DeviceExpression("x.device"), True),
        (DeviceExpression("device", resolvers=(Resolver("a.py", "device"),)), False),
        (DeviceExpression("device", imports=(Import("a.py", "b", "device"),)), False),
    ],
)
def test_a_programs_device_is_none_that_follows(
    name: DeviceExpression | None, follows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Names:
        def device_for(self, group: object) -> DeviceExpression | None:
            return name

    monkeypatch.setattr(_create, "device_names", lambda solution: Names())
    assert _create._can_follow(None, None) is follows  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("user", "brought"),
    [
        ("data.label = data.label.to(device)", True),
        ("self.label = self.label.type_as(x)", True),
        ("data.label = data.other.to(device)", False),
        ("label = data.label.to(device)", False),
    ],
)
def test_what_its_user_moves_needs_no_device_where_it_is_made(user: str, brought: bool) -> None:
    assert ("label" in _create._bringing(ast.parse(user))) is brought


def test_an_attribute_of_a_library_model_is_a_part_of_it() -> None:
    text = (
        "import torch\nfrom torchvision import models\n\n"
        "device = torch.device('cuda')\nmodel = models.vgg19()\n"
        "seen = model.features(torch.ones(1, 3, 32, 32, device=device))\n"
    )
    project = Project([from_text(text, "a.py")])
    solution = infer(project, project.programs["a.py"])
    assert [found.rule for found in module_not_moved.find(solution)] == ["module-not-moved"]


def test_a_chain_of_transforms_that_makes_a_tensor_makes_one_of_whatever_it_is_given() -> None:
    text = (
        "import torch\nfrom torchvision import transforms\n\n"
        "model = torch.nn.Linear(3, 3).cuda()\n"
        "prepare = transforms.Compose([transforms.Resize(3), transforms.ToTensor()])\n\n\n"
        "def predict(image):\n    return model(prepare(image).unsqueeze(0))\n"
    )
    project = Project([from_text(text, "a.py")])
    solution = infer(project, project.programs["a.py"])
    assert [found.span.line for found in numpy_boundary.find(solution)] == [9]
