"""Comments do not decide which files are about torch."""

from __future__ import annotations

from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project


def _found(**files: str) -> list[str]:
    texts = [source.from_text(text, f"{name}.py") for name, text in files.items()]
    return [finding.rule for finding in check(Project(texts), Config())]


def test_a_file_that_mentions_torch_in_a_comment_is_not_about_it() -> None:
    main = "import torch\n\nmodel = torch.nn.Linear(2, 2)\n"
    batch = "def load(batch):\n    return batch.pin_memory()\n"
    assert _found(main=main, batch=batch) == _found(main=main, batch="# for torch\n" + batch)
