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
