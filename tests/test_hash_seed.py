"""What is found and edited does not depend on the seed of hashes (the order of sets)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.fixtures.cases import cases

#: Of so many fixtures one is asked.
_SAMPLE = 24
_TELL = """
import sys
from samedevice.migration import migrate
from samedevice.reading.config import Config

for folder in sys.argv[1:]:
    config = Config(unsafe=True)
    project = migrate.read([folder], config)
    outcome = migrate.migrate(project, config)
    for finding in (*outcome.found, *outcome.remaining):
        print(finding)
    for change in outcome.changes:
        print(change.path, change.after)
    print(sorted(outcome.refused.items()), outcome.staying)
"""


def test_two_seeds_give_the_same_findings_and_edits(tmp_path: Path) -> None:
    folders = []
    several = [case for case in cases() if case.rule is None]
    for number, case in enumerate([*several[::3], *cases()[::_SAMPLE]]):
        folder = tmp_path / f"case{number}"
        for path, text in case.files(case.versions[0]).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        folders.append(str(folder))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _TELL, *folders],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "4711")
    ]
    one, other = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert one.count("Finding(") > 50
    assert one == other
