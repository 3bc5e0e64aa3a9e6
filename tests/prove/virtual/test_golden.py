"""What strict modes say, beside what people posted from machines with a GPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest.importorskip("torch")
HERE = Path(__file__).parent
GOLDEN = tomllib.loads((HERE / "golden.toml").read_text("utf-8"))["message"]
RUN = [one for one in GOLDEN if "tested" not in one]
START = 'from samedevice.prove.virtual import install\ninstall("cuda", {devices})\nimport torch\n'
END = "\nexcept Exception as error:\n    print(error, end='')\nelse:\n    print('it ended')\n"
SIZE = re.compile(r"\d+(?:\.\d+)? (?:[KMG]iB|bytes)")


@pytest.mark.parametrize("golden", RUN, ids=[one["mode"] for one in RUN])
def test_the_same_words(golden: dict[str, Any]) -> None:
    body = "".join(f"    {line}\n" for line in golden["code"].strip().splitlines())
    start = START.format(devices=golden.get("devices", 1))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{start}try:\n{body.rstrip()}{END}"],
        env={
            **os.environ,
            "PYTHONPATH": str(HERE.parents[2] / "codemods"),
            "SAMEDEVICE_VIRTUAL_MEMORY": golden.get("memory", ""),
            "SAMEDEVICE_VIRTUAL_ASSERTS": golden.get("asserts", ""),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = SIZE.sub("#", done.stdout.strip())
    posted = SIZE.sub("#", golden["message"].strip())
    assert said.startswith(posted) if golden.get("begins") else said == posted, done


def test_every_message_names_where_it_was_posted() -> None:
    assert all(one["source"].startswith("https://github.com/") for one in GOLDEN)


def test_what_is_tested_elsewhere_is() -> None:
    for one in GOLDEN:
        if "tested" in one:
            assert one["mode"] in (HERE / one["tested"]).read_text("utf-8")
