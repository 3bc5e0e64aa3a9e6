"""What meets a module behind the trainer of a library that took it to its device is told."""

from __future__ import annotations

import pytest

from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

TRAINED = """\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer

tokenizer = AutoTokenizer.from_pretrained("x")
model = AutoModelForSequenceClassification.from_pretrained("x")
{before}
trainer = Trainer(model=model)
trainer.train()
"""


def told(after: str, before: str = "") -> list[str]:
    text = TRAINED.format(before=before) + after
    findings = check(Project([source.from_text(text, "main.py")]), Config())
    assert all(each.left_to_callers and each.fix is None for each in findings)
    return [each.message for each in findings]


@pytest.mark.parametrize(
    "after",
    [
        'inputs = tokenizer("a", return_tensors="pt")\nmodel(**inputs)',
        'model(tokenizer.encode("a", return_tensors="pt"))',
        "model(torch.tensor([[1, 2]]))",
    ],
)
def test_what_meets_it_afterwards_is_told(after: str) -> None:
    [message] = told(after)
    assert message.endswith("is on the CPU, and meets a module that `Trainer` takes away")


@pytest.mark.parametrize(
    "after",
    [
        'model(**tokenizer("a", return_tensors="pt").to(model.device))',
        "model(torch.tensor([[1, 2]], device=model.device))",
        "def answer(ids):\n    return ids\nanswer(torch.tensor([[1, 2]]))",
    ],
)
def test_what_goes_with_it_is_right(after: str) -> None:
    assert told(after) == []


def test_what_meets_it_before_is_right() -> None:
    assert told("", "model(torch.tensor([[1, 2]]))") == []


PREPARED = """\
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
model = nn.Linear(4, 2)
data = DataLoader(TensorDataset(torch.ones(8, 4), torch.zeros(8, dtype=torch.long)))
model, data = accelerator.prepare(model, data)
weights = torch.ones(2)
factor = torch.tensor(2.0)
"""


def left(after: str) -> list[str]:
    findings = check(Project([source.from_text(PREPARED + after, "main.py")]), Config())
    return [each.message for each in findings if each.rule == "undecided"]


@pytest.mark.parametrize(
    "after",
    [
        "for x, y in data:\n    print(model(x) * weights)",
        "for x, y in data:\n    nn.functional.cross_entropy(model(x), y, weight=weights)",
        "for batch in data:\n    print(batch[0] * torch.ones(4))",
    ],
)
def test_what_meets_prepared_modules_and_batches_is_told(after: str) -> None:
    [message] = left(after)
    assert message.endswith("is on the CPU, and meets a module that `prepare` takes away")


@pytest.mark.parametrize(
    "after",
    [
        "there = weights.to(accelerator.device)\nfor x, y in data:\n    print(x * there)",
        "for step, (x, y) in enumerate(data):\n    print(model(x) * factor, y + 1)",
        "for x, y in data:\n    print(model(x) * torch.ones_like(y), y.cpu() * 2)",
        "for x, y in data:\n    print(model(x) * torch.ones(2, device=x.device))",
    ],
)
def test_what_is_put_beside_them_is_right(after: str) -> None:
    assert left(after) == []


def test_copies_that_meet_what_is_prepared_in_a_function_are_told() -> None:
    average = """
class Average:
    def __init__(self, net):
        self.kept = {k: v.detach().clone() for k, v in net.state_dict().items()}

    def update(self, net):
        for k, v in net.state_dict().items():
            self.kept[k].mul_(0.9).add_(v, alpha=0.1)
"""
    made = "average = Average(model)\n"
    behind, before = PREPARED.partition("model, data")[::2]
    text = "{}{}{}model, data{}average.update(accelerator.unwrap_model(model))\n"
    findings = check(
        Project([source.from_text(text.format(behind, average, made, before), "main.py")]), Config()
    )
    [message] = [each.message for each in findings if each.rule == "undecided"]
    assert message.endswith("is on the CPU, and meets a module that `prepare` takes away")
    assert left(average + made + "average.update(accelerator.unwrap_model(model))\n") == []


MADE_BY_OTHERS = """\
import torch
from torch import nn

MEAN = torch.ones(3)
HALF = torch.tensor(0.5)
ORDER = torch.tensor([2, 0, 1])


class Net(nn.Module):
    STD = torch.ones(3)

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.scales = [torch.ones(3), torch.zeros(3)]

    def forward(self, x):
        made = self.layer(x)
        return {given}
"""


@pytest.mark.parametrize("given", ["made - MEAN", "made / self.STD", "made + self.scales[1]"])
def test_what_callers_do_not_move_is_told(given: str) -> None:
    text = MADE_BY_OTHERS.format(given=given)
    findings = check(Project([source.from_text(text, "net.py")]), Config())
    assert findings and all(each.left_to_callers for each in findings)
    assert all("meets a module that callers move" in each.message for each in findings)


@pytest.mark.parametrize(
    "given",
    ["made * HALF", "made[:, ORDER]", "made - MEAN.to(x.device)", "made * self.STD.to(made)"],
)
def test_what_goes_with_its_input_is_right(given: str) -> None:
    text = MADE_BY_OTHERS.format(given=given)
    assert check(Project([source.from_text(text, "net.py")]), Config()) == []
